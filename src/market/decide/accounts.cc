#include <fmt/format.h>

#include <algorithm>

#include "market/decide/decider.h"
#include "market/decide/words.h"
#include "mechanism/mechanism.h"

namespace souk::market {
namespace {

using base::Code;
using base::fail;

Result<> check_name(std::string_view name, std::string_view what) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789._-";
  const bool sized = name.size() >= kNameMin && name.size() <= kNameMax;
  if (sized && name.find_first_not_of(allowed) == std::string_view::npos && name[0] != '-' &&
      name[0] != '.')
    return {};
  return fail(
      Code::invalid, fmt::format("'{}' cannot be the name of {}", name.substr(0, 80), what),
      fmt::format("use {} to {} of a-z, 0-9, '.', '_' and '-', not starting with '.' or '-'",
                  kNameMin, kNameMax),
      "name");
}

Result<> check_amount(Credits amount) {
  if (amount > Credits() && amount <= base::kMostCredits) return {};
  return fail(Code::invalid,
              fmt::format("{} is not an amount that can be granted", to_string(amount)),
              "use more than 0 and at most 1000000000 credits", "amount");
}

Result<> between(Duration d, Duration low, Duration high, std::string_view field) {
  if (low <= d && d <= high) return {};
  return fail(Code::invalid, fmt::format("{} is {}", field, to_string(d)),
              fmt::format("use {} to {}", to_string(low), to_string(high)), std::string(field));
}

}  // namespace

Result<> Decider::operator()(const ChangeSettings& c) {
  SOUK_TRY(need_operator("change the settings"));
  const auto& v = c.settings;
  if (v.fee_ppm < 0 || v.fee_ppm > 500'000)
    return fail(Code::invalid, fmt::format("the fee cannot be {} millionths", v.fee_ppm),
                "use 0 to 0.5 of what a borrower pays", "fee");
  if (v.probes_ppm < 0 || v.probes_ppm > 500'000)
    return fail(Code::invalid, fmt::format("{} millionths of probes", v.probes_ppm),
                "use 0 to 0.5 of the leases", "probes");
  if (v.signup_bonus < Credits() || v.signup_bonus > base::kMostCredits)
    return fail(Code::invalid,
                fmt::format("the sign-up bonus cannot be {} credits", to_string(v.signup_bonus)),
                "use 0 or more", "signup_bonus");
  using base::days, base::hours, base::minutes, base::seconds;
  SOUK_TRY(between(v.shortest_term, seconds(1), hours(1), "shortest_term"));
  SOUK_TRY(between(v.term, v.shortest_term, days(7), "term"));
  SOUK_TRY(between(v.drain, seconds(1), hours(1), "drain"));
  SOUK_TRY(between(v.settle_every, seconds(1), hours(1), "settle_every"));
  SOUK_TRY(between(v.silence, seconds(1), hours(1), "silence"));
  SOUK_TRY(between(v.setup, seconds(1), days(1), "setup"));
  SOUK_TRY(between(v.low_escrow, seconds(0), days(7), "low_escrow"));
  SOUK_TRY(between(v.history, days(1), days(400), "history"));
  SOUK_TRY(between(v.retention, hours(1), days(3650), "retention"));
  SOUK_TRY(between(v.pickup, seconds(1), hours(1), "pickup"));
  if (v == s.settings) return {};
  out.push_back(SettingsChanged{v});
  audit("settings", "market");
  return {};
}

Result<> Decider::operator()(const SetClass& c) {
  SOUK_TRY(need_operator("edit the slot classes"));
  auto v = c.slot_class;
  SOUK_TRY(check_name(v.name, "a slot class"));
  const auto bad = [](std::string message, std::string field) {
    return fail(Code::invalid, std::move(message), "", std::move(field));
  };
  if (v.cores < 1 || v.cores > 4096) return bad("cores must be 1 to 4096", "cores");
  if (v.memory_mib < 1 || v.memory_mib > 1 << 26)
    return bad("memory must be 1 MiB to 64 TiB", "memory_mib");
  if (v.gpus < 0 || v.gpus > 1024) return bad("gpus must be 0 to 1024", "gpus");
  if (v.gpu_memory_mib < 0 || v.gpu_memory_mib > 1 << 26)
    return bad("gpu memory must be 0 to 64 TiB", "gpu_memory_mib");
  if (v.price <= Credits() || v.price > kMostPrice)
    return bad(
        fmt::format("the default price must be more than 0 and at most {}", to_string(kMostPrice)),
        "price");
  SOUK_TRY(rule_of(v.mechanism, v.params));
  if (v.trial) {
    SOUK_TRY(rule_of(v.trial->mechanism, v.trial->params));
    if (v.trial->slice < base::minutes(1) || v.trial->slice > base::hours(24 * 366))
      return bad("a slice of a trial must be 1 minute to 366 days", "trial.slice");
  }
  if (const auto* old = s.find_class(v.name)) {
    const bool resized = old->cores != v.cores || old->memory_mib != v.memory_mib ||
                         old->gpus != v.gpus || old->gpu_memory_mib != v.gpu_memory_mib;
    const bool used = std::ranges::any_of(s.index.classes[old->id.value - 1].supply,
                                          [](const SupplyRow& r) { return bool(r.offer); });
    if (resized && used)
      return fail(Code::conflict,
                  fmt::format("class '{}' has offers, so its size is fixed", v.name),
                  "retire it and add a class with another name", "name");
    v.id = old->id;
  } else {
    if (s.classes.size() >= kClasses)
      return fail(
          Code::exhausted,
          fmt::format("there are already {} slot classes, and more are not allowed", kClasses));
    v.id = ClassId(s.classes.size() + 1);
  }
  audit("class", v.name,
        v.trial ? fmt::format("mechanism {} and {} in turn", v.mechanism, v.trial->mechanism)
                : fmt::format("mechanism {}", v.mechanism));
  out.push_back(ClassSet{std::move(v)});
  return {};
}

Result<> Decider::operator()(const CreateAccount& c) {
  if (c.is_operator) SOUK_TRY(need_operator("create an operator"));
  if (!s.settings.signup_open) SOUK_TRY(need_operator("create accounts in this market"));
  SOUK_TRY(check_name(c.name, "an account"));
  if (c.name == "platform" || c.name == "mint")
    return fail(Code::invalid, fmt::format("'{}' is the market's own", c.name),
                "choose another name", "name");
  if (s.find_account(c.name) != nullptr)
    return fail(Code::conflict, fmt::format("there is an account '{}' already", c.name),
                "choose another name, or log in to it", "name");
  // Paid from the platform's own account, so a flood of sign-ups can take only what the operator
  // set aside.
  const bool funded = s.ledger.balance(ledger::kPlatform).available >= s.settings.signup_bonus;
  out.push_back(AccountCreated{{.id = s.accounts.next(),
                                .name = c.name,
                                .password = c.password,
                                .is_operator = c.is_operator,
                                .created = now},
                               funded ? s.settings.signup_bonus : Credits()});
  if (is_operator()) audit("create account", c.name, c.is_operator ? "operator" : "");
  return {};
}

Result<> Decider::operator()(const ChangePassword& c) {
  SOUK_ASSIGN(const auto* account, find(s.accounts, c.account));
  SOUK_TRY(need_owner(c.account, fmt::format("account '{}'", account->name)));
  out.push_back(PasswordChanged{c.account, c.password});
  audit_other(c.account, "change password", account->name);
  return {};
}

Result<> Decider::operator()(const FreezeAccount& c) {
  SOUK_TRY(need_operator("freeze accounts"));
  SOUK_ASSIGN(const auto* account, find(s.accounts, c.account));
  if (c.reason.size() > kTextMax)
    return fail(Code::too_large, "the reason is too long",
                fmt::format("{} characters at most", kTextMax), "reason");
  if (!c.reason.empty() && actor_.account == c.account)
    return fail(Code::conflict, "operators cannot freeze themselves");
  if (account->frozen == c.reason) return {};
  out.push_back(AccountFrozen{c.account, c.reason});
  audit(c.reason.empty() ? "thaw" : "freeze", account->name, c.reason);
  if (c.reason.empty()) return {};
  const auto runs = [](const Job& j) { return !is_final(j.state) && j.state != JobState::paused; };
  s.jobs.for_each([&](const Job& j) {
    const bool with_its_sweep = j.sweep && runs(s.jobs.at(j.sweep));  // Which pauses its trials.
    if (j.owner == c.account && runs(j) && !with_its_sweep) pause_job(j, "account frozen");
  });
  return {};
}

// Expired ones go first. Then the oldest login ends for a new one, so that nobody is locked out;
// but a token that somebody made, perhaps for an agent, ends only when they say so.
Result<> Decider::make_room_for_token(const IssueToken& c) {
  const auto& count = s.index.counts[c.account.value];
  auto excess = (is_system() ? count.sessions : count.tokens) + 1 -
                static_cast<std::int32_t>(kTokensPerAccount);
  if (excess <= 0) return {};
  TokenId oldest;
  s.tokens.for_each([&](const Token& t) {
    if (t.account != c.account || t.session != is_system()) return;
    if (!oldest && t.expires > now) oldest = t.id;
    if (t.expires <= now) {
      out.push_back(TokenRevoked{t.id});
      --excess;
    }
  });
  if (excess <= 0) return {};
  if (!is_system())
    return fail(Code::exhausted,
                fmt::format("you have {} tokens, and more are not allowed", kTokensPerAccount),
                "end one that is not needed: souk token list, souk token revoke ID");
  out.push_back(TokenRevoked{oldest});
  return {};
}

Result<> Decider::check_limit(const IssueToken& c) const {
  if ((c.scope == Scope::spend) != c.limit.has_value())
    return fail(Code::invalid, "a limit of credits and scope spend belong together",
                "give both, or neither", "limit");
  if (c.scope != Scope::spend) return {};
  if (*c.limit <= Credits() || *c.limit > base::kMostCredits)
    return fail(Code::invalid, fmt::format("the limit cannot be {} credits", to_string(*c.limit)),
                "use more than 0 and at most 1000000000", "limit");
  if (c.expires == base::kNever)
    return fail(Code::invalid, "a token that can spend needs an end", "say how long: 24h",
                "expires_in");
  return {};
}

Result<> Decider::operator()(const IssueToken& c) {
  SOUK_ASSIGN(const auto* account, find(s.accounts, c.account));
  SOUK_TRY(need_owner(c.account, fmt::format("account '{}'", account->name)));
  if (c.scope == Scope::operator_ && !account->is_operator)
    return fail(Code::forbidden, fmt::format("account '{}' is not an operator's", account->name),
                "ask for a user token", "scope");
  // No token makes a stronger one: an operator's is issued at login, by the system.
  if (c.scope == Scope::operator_) SOUK_TRY(need_operator("issue an operator's token"));
  if (c.scope == Scope::machine) {
    SOUK_ASSIGN(const auto* machine, find(s.machines, c.machine));
    SOUK_TRY(need_owner(machine->owner, c.machine));
  }
  SOUK_TRY(check_limit(c));
  if (c.expires <= now)
    return fail(Code::invalid, "the token would have expired already", "use a time in the future",
                "expires");
  SOUK_TRY(check_line(c.label, kNameMax, "the label", "label"));
  if (s.index.token_by_digest.contains(c.digest))
    return fail(Code::conflict, "there is already a token with this digest", "draw another",
                "digest");
  SOUK_TRY(make_room_for_token(c));
  out.push_back(TokenIssued{{.id = s.tokens.next(),
                             .account = c.account,
                             .scope = c.scope,
                             .machine = c.machine,
                             .digest = c.digest,
                             .label = c.label,
                             .created = now,
                             .expires = c.expires,
                             .session = is_system(),
                             .limit = c.limit}});
  // The system issues tokens when people log in; anyone else's doing is on record.
  if (!is_system())
    audit_other(c.account, "issue token", account->name, std::string(to_string(c.scope)));
  return {};
}

Result<> Decider::operator()(const RevokeToken& c) {
  SOUK_ASSIGN(const auto* token, find(s.tokens, c.token));
  // Somebody else's token is none of the asker's business, not even that it exists.
  if (!need_owner(token->account, ""))
    return fail(Code::not_found, fmt::format("there is no token {}", to_string(c.token)));
  out.push_back(TokenRevoked{c.token});
  audit_other(token->account, "revoke token", s.accounts.at(token->account).name,
              to_string(c.token));
  return {};
}

Result<> Decider::operator()(const RevokeTokens& c) {
  SOUK_ASSIGN(const auto* account, find(s.accounts, c.account));
  SOUK_TRY(need_owner(c.account, fmt::format("account '{}'", account->name)));
  s.tokens.for_each([&](const Token& t) {
    if (t.account == c.account) out.push_back(TokenRevoked{t.id});
  });
  audit_other(c.account, "revoke tokens", account->name);
  return {};
}

Result<> Decider::operator()(const GrantCredits& c) {
  SOUK_TRY(need_operator("grant credits"));
  SOUK_TRY(check_amount(c.amount));
  if (c.memo.size() > kTextMax)
    return fail(Code::too_large, "the memo is too long",
                fmt::format("{} characters at most", kTextMax), "memo");
  std::string name = "platform";
  if (c.account != ledger::kPlatform) {
    SOUK_ASSIGN(const auto* account, find(s.accounts, c.account));
    name = account->name;
  }
  SOUK_TRY(s.ledger.check({.kind = ledger::Kind::grant, .to = c.account, .amount = c.amount}));
  out.push_back(CreditsGranted{c.account, c.amount, c.memo});
  audit("grant", name,
        fmt::format("{} credits{}{}", to_string(c.amount), c.memo.empty() ? "" : ": ", c.memo));
  return {};
}

Result<> Decider::operator()(const RequestCredits& c) {
  const auto* account = s.accounts.find(actor_.account);
  if (account == nullptr)
    return fail(Code::forbidden, "only people may ask for credits", "use your own token");
  if (is_operator())
    return fail(
        Code::conflict, "you operate this market: nobody else could answer",
        fmt::format("grant them: souk account grant {} {}", account->name, to_string(c.amount)));
  SOUK_TRY(check_amount(c.amount));
  if (c.why.empty() || c.why.size() > kTextMax)
    return fail(Code::invalid, fmt::format("a reason of {} characters", c.why.size()),
                fmt::format("say in 1 to {} characters what they are for", kTextMax), "why");
  const auto last = s.requests.find(actor_.account);
  if (last != s.requests.end() && last->second.times >= kRequestsPerDay &&
      now - last->second.day < base::days(1))
    return fail(Code::exhausted, fmt::format("you asked {} times in a day", kRequestsPerDay),
                fmt::format("ask again from {}", to_string(last->second.day + base::days(1))));
  out.push_back(CreditsRequested{actor_.account, c.amount, c.why});
  return {};
}

Result<> Decider::operator()(const AnswerRequest& c) {
  SOUK_TRY(need_operator("answer requests for credits"));
  SOUK_ASSIGN(const auto* account, find(s.accounts, c.account));
  const auto request = s.requests.find(c.account);
  if (request == s.requests.end() || !request->second.open())
    return fail(Code::conflict, fmt::format("'{}' has no open request for credits", account->name),
                "souk account requests shows those that are open");
  if (c.word.size() > kTextMax)
    return fail(Code::too_large, "the word is too long",
                fmt::format("{} characters at most", kTextMax), "word");
  if (c.amount != Credits())
    SOUK_TRY((*this)(GrantCredits{c.account, c.amount, c.word.empty() ? "as asked" : c.word}));
  else
    audit("decline credits", account->name, c.word);
  out.push_back(RequestAnswered{c.account, c.amount, c.word});
  return {};
}

Result<> Decider::operator()(const GiveFeedback& c) {
  if (s.accounts.find(actor_.account) == nullptr)
    return fail(Code::forbidden, "only people may give feedback", "use your own token");
  if (c.text.empty() || c.text.size() > kTextMax)
    return fail(Code::invalid, fmt::format("the comment has {} characters", c.text.size()),
                fmt::format("write 1 to {} characters", kTextMax), "text");
  out.push_back(FeedbackGiven{{.id = s.feedback.next(),
                               .account = actor_.account,
                               .category = c.category,
                               .text = c.text,
                               .at = now}});
  return {};
}

}  // namespace souk::market
