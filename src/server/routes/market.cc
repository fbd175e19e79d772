#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "server/http/router.h"
#include "server/routes/book_view.h"
#include "server/routes/faq.h"
#include "server/routes/views.h"
#include "wire/spellings.h"

// Prices, the ledger, what operators see and set, and help.

namespace souk::server {
namespace {

using base::Code;
using base::fail;

// The class of ?class=, the one with the most on offer by default.
Result<const market::SlotClass*> class_of(const Context& c) {
  const auto& s = c.state();
  const auto name = c.query("class");
  if (name.empty()) return classes_by_supply(s).front();
  auto id = class_named(s, name);
  if (id) return &s.slot_class(*id);
  id.error().code = base::Code::not_found;
  return std::unexpected(std::move(id).error());
}

Result<wire::Prices> prices(Context& c) {
  SOUK_ASSIGN(const auto* slot_class, class_of(c));
  SOUK_ASSIGN(const auto days, c.number("days", 7, 1, 400));
  auto by = wire::BucketLength::hour;
  if (const auto text = c.query("by"); !text.empty()) {
    SOUK_ASSIGN(by, wire::parse_name<wire::BucketLength>(text, "by"));
  }
  return prices_view(c.state(), *slot_class, c.now(), base::days(days),
                     by == wire::BucketLength::day ? base::days(1) : base::hours(1));
}

Result<wire::Statement> statement(Context& c) {
  const auto& s = c.state();
  auto account = c.actor.account;
  if (const std::string name(c.query("account")); !name.empty()) {
    const auto* other = s.find_account(name);
    if (other == nullptr || !(other->id == account || c.is_operator()))
      return Context::no_such("account", name);
    account = other->id;
  }
  wire::Statement out{.account = account_name(s, account)};
  const auto& lines = s.statements[account.value - 1];
  for (auto it = lines.rbegin(); it != lines.rend(); ++it) out.lines.push_back(view(*it));
  return out;
}

Result<wire::Settings> edit_settings(Context& c, const wire::SettingsEdit& e) {
  auto v = c.state().settings;
  const auto set = [](auto& field, const auto& value) {
    if (value) field = *value;
  };
  if (e.fee) {
    if (!(*e.fee >= 0 && *e.fee <= 0.5))
      return fail(Code::invalid, fmt::format("the fee cannot be {}", *e.fee), "use 0 to 0.5",
                  "fee");
    v.fee_ppm = static_cast<std::int32_t>(std::lround(*e.fee * 1e6));
  }
  if (e.probes) {
    if (!(*e.probes >= 0 && *e.probes <= 0.5))
      return fail(Code::invalid, fmt::format("a share of probes of {}", *e.probes), "use 0 to 0.5",
                  "probes");
    v.probes_ppm = static_cast<std::int32_t>(std::lround(*e.probes * 1e6));
  }
  set(v.signup_bonus, e.signup_bonus);
  set(v.signup_open, e.signup_open);
  set(v.term, e.term);
  set(v.shortest_term, e.shortest_term);
  set(v.drain, e.drain);
  set(v.settle_every, e.settle_every);
  set(v.silence, e.silence);
  set(v.setup, e.setup);
  set(v.low_escrow, e.low_escrow);
  set(v.history, e.history);
  set(v.retention, e.retention);
  set(v.pickup, e.pickup);
  SOUK_TRY(c.execute(market::ChangeSettings{v}));
  return view(c.state().settings);
}

// The audit log has no ids: a cursor is how many entries have been shown.
Result<wire::Page<wire::AuditEntry>> audit(Context& c) {
  SOUK_ASSIGN(const auto limit, c.number("limit", 50, 1, 500));
  SOUK_ASSIGN(const auto shown, c.number("after", 0, 0, 1'000'000));
  const auto& log = c.state().audit;
  wire::Page<wire::AuditEntry> out;
  auto at = std::ssize(log) - shown;
  while (at > 0 && std::ssize(out.items) < limit) out.items.push_back(view(c.state(), log[--at]));
  if (at > 0) out.next = std::to_string(shown + limit);
  return out;
}

Result<wire::Feedback> give_feedback(Context& c, const wire::NewFeedback& body) {
  SOUK_ASSIGN(const auto events, c.execute(market::GiveFeedback{body.category, body.text}));
  return view(c.state(), std::get<market::FeedbackGiven>(events.front()).feedback);
}

void add_operator_routes(Routes& routes) {
  routes.get("/v1/settings", "getSettings", "The market's settings", Access::user,
             [](Context& c) -> Result<wire::Settings> { return view(c.state().settings); });
  routes.change<wire::SettingsEdit>("PATCH", "/v1/settings", "editSettings", "Change settings",
                                    Access::operator_, 200, &edit_settings);
  paged(routes.get("/v1/audit", "listAudit", "What operators did, newest first", Access::operator_,
                   &audit));
  paged(routes.get(
      "/v1/feedback", "listFeedback", "Comments: one's own, for an operator everybody's",
      Access::user, [](Context& c) -> Result<wire::Page<wire::Feedback>> {
        return page<wire::Feedback>(
            c, c.state().feedback,
            [&](const auto& f) { return c.is_operator() || f.account == c.actor.account; },
            [&](const auto& f) { return view(c.state(), f); });
      }));
  routes.change<wire::NewFeedback>("POST", "/v1/feedback", "giveFeedback",
                                   "Tell the operator something", Access::user, 201,
                                   &give_feedback);
}

}  // namespace

void add_market_routes(Routes& routes) {
  auto& history = routes.get("/v1/prices", "getPrices",
                             "Prices paid for a class, and suggested ones", Access::user, &prices);
  history.doc.query = {
      {"class", "string", "The slot class; the one with the most on offer by default.", false},
      {"days", "integer", "How far back: 7 by default.", false, {}, 1, 400},
      {"by", "string", "Buckets: hour (default) or day.", false,
       wire::names_list<wire::BucketLength>()}};
  auto& book = routes.get("/v1/book", "getBook",
                          "What is asked and bid for a class now, by price and without names",
                          Access::user, [](Context& c) -> Result<wire::Book> {
                            SOUK_ASSIGN(const auto* slot_class, class_of(c));
                            return book_view(c.state(), *slot_class, c.now());
                          });
  book.doc.query = {
      {"class", "string", "The slot class; the one with the most on offer by default.", false}};
  routes.get("/v1/ledger", "getLedger",
             "Balances, the platform's and the mint's too; they sum to 0", Access::user,
             [](Context& c) -> Result<wire::Ledger> {
               return ledger_view(c.state(), c.actor.account, c.is_operator());
             });
  auto& lines = routes.get("/v1/ledger/statement", "getStatement",
                           "Movements of an account with their reasons, newest first", Access::user,
                           &statement);
  lines.doc.query = {{"account", "string", "Operators: whose.", false}};
  add_operator_routes(routes);
  routes.get("/v1/faq", "getFaq", "Frequently asked questions", Access::everybody,
             [](Context&) -> Result<wire::Faq> { return faq(); });
}

}  // namespace souk::server
