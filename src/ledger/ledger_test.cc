#include "ledger/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "base/random.h"

namespace souk::ledger {
namespace {

using base::Code;
using base::kMostCredits;
using base::seconds;
using ::testing::HasSubstr;
using namespace base::literals;

constexpr AccountId kAnn{1}, kBob{2}, kEve{3};
constexpr HoldId kJob{1}, kOther{2};
constexpr Time kNoon{1'000'000'000'000};

Transfer grant(AccountId to, Credits amount) {
  return {.kind = Kind::grant, .to = to, .amount = amount};
}
Transfer bonus(AccountId to, Credits amount) {
  return {.kind = Kind::bonus, .to = to, .amount = amount};
}
Transfer reserve(AccountId from, HoldId hold, Credits amount, Time expires = base::kNever) {
  return {.kind = Kind::reserve, .from = from, .hold = hold, .amount = amount, .expires = expires};
}
Transfer post(HoldId hold, AccountId to, Credits amount, Credits fee = {}) {
  return {.kind = Kind::post, .to = to, .hold = hold, .amount = amount, .fee = fee};
}
Transfer release(HoldId hold, Credits amount) {
  return {.kind = Kind::release, .hold = hold, .amount = amount};
}
Transfer close(HoldId hold) { return {.kind = Kind::close, .hold = hold}; }
Transfer expire(HoldId hold, Time now) { return {.kind = Kind::expire, .hold = hold, .now = now}; }

// Three accounts; Ann has 100 credits, the platform 50.
Ledger opened() {
  Ledger ledger;
  for (const auto id : {kAnn, kBob, kEve}) ledger.open(id);
  ledger.apply(grant(kAnn, 100_cr));
  ledger.apply(grant(kPlatform, 50_cr));
  return ledger;
}

Ledger after(Ledger ledger, const std::vector<Transfer>& transfers) {
  for (const auto& t : transfers) ledger.apply(t);
  EXPECT_EQ(ledger.sum(), Credits());
  return ledger;
}

// The refusal of `t`, or a default Error (code internal) when it was wrongly accepted.
base::Error refusal(const Ledger& ledger, const Transfer& t) {
  const auto result = ledger.check(t);
  return result ? base::Error{} : result.error();
}

struct Case {
  const char* name;
  std::vector<Transfer> transfers;
  Balance platform, ann, bob;
  std::optional<Hold> hold = {};  // kJob at the end.
};

void expect_each(const std::vector<Case>& cases) {
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto ledger = after(opened(), c.transfers);
    EXPECT_EQ(ledger.balance(kPlatform), c.platform);
    EXPECT_EQ(ledger.balance(kAnn), c.ann);
    EXPECT_EQ(ledger.balance(kBob), c.bob);
    EXPECT_EQ(ledger.hold(kJob) ? std::optional(*ledger.hold(kJob)) : std::nullopt, c.hold);
    EXPECT_EQ(ledger.minted(), 150_cr);
  }
}

TEST(Ledger, GrantsBonusesAndReservationsMoveExactlyTheirAmount) {
  expect_each({
      {"grant", {}, {50_cr}, {100_cr}, {}},
      {"bonus", {bonus(kAnn, 10_cr)}, {40_cr}, {100_cr, 10_cr}, {}},
      {"reserve opens",
       {reserve(kAnn, kJob, 30_cr, kNoon)},
       {50_cr},
       {70_cr, {}, 30_cr},
       {},
       Hold{kAnn, 30_cr, {}, kNoon}},
      {"reserve adds, and the later expiry counts",
       {reserve(kAnn, kJob, 30_cr, kNoon), reserve(kAnn, kJob, 5_cr, Time(1))},
       {50_cr},
       {65_cr, {}, 35_cr},
       {},
       Hold{kAnn, 35_cr, {}, kNoon}},
      {"reserve takes bonus first",
       {bonus(kAnn, 10_cr), reserve(kAnn, kJob, 30_cr)},
       {40_cr},
       {80_cr, {}, 30_cr},
       {},
       Hold{kAnn, 30_cr, 10_cr}},
      {"reserve of no more than the bonus touches nothing else",
       {bonus(kAnn, 10_cr), reserve(kAnn, kJob, 4_cr)},
       {40_cr},
       {100_cr, 6_cr, 4_cr},
       {},
       Hold{kAnn, 4_cr, 4_cr}},
  });
}

TEST(Ledger, PaymentsAndRefundsMoveExactlyTheirAmount) {
  const auto start = {bonus(kAnn, 10_cr), reserve(kAnn, kJob, 30_cr, kNoon)};
  const auto then = [&](std::initializer_list<Transfer> more) {
    std::vector<Transfer> all(start);
    all.insert(all.end(), more);
    return all;
  };
  const auto hold = [](Credits left, Credits bonus_left) {
    return Hold{kAnn, left, bonus_left, kNoon};
  };
  expect_each({
      {"post pays payee and fee, bonus first",
       then({post(kJob, kBob, 8_cr, 1_cr)}),
       {41_cr},
       {80_cr, {}, 22_cr},
       {7_cr},
       hold(22_cr, 2_cr)},
      {"post may be all fee",
       then({post(kJob, kBob, 8_cr, 8_cr)}),
       {48_cr},
       {80_cr, {}, 22_cr},
       {},
       hold(22_cr, 2_cr)},
      {"post of everything leaves an empty hold, still to be closed",
       then({post(kJob, kBob, 30_cr)}),
       {40_cr},
       {80_cr},
       {30_cr},
       hold({}, {})},
      {"release gives back ordinary credits first",
       then({release(kJob, 25_cr)}),
       {40_cr},
       {100_cr, 5_cr, 5_cr},
       {},
       hold(5_cr, 5_cr)},
      {"close gives back the rest, each credit as what it was",
       then({post(kJob, kBob, 4_cr), close(kJob)}),
       {40_cr},
       {100_cr, 6_cr},
       {4_cr}},
      {"expire does the same, from its time on",
       then({post(kJob, kBob, 4_cr), expire(kJob, kNoon)}),
       {40_cr},
       {100_cr, 6_cr},
       {4_cr}},
  });
}

TEST(Ledger, RefusalsNameTheThingTheAmountAndWhatIsThere) {
  const auto ledger = after(opened(), {reserve(kAnn, kJob, 30_cr, kNoon)});
  const AccountId nobody{9};
  const struct {
    Transfer transfer;
    Code code;
    const char* field;
    std::vector<const char*> says;
  } cases[] = {
      {grant(nobody, 1_cr), Code::not_found, "to", {"a9"}},
      {grant(kAnn, kMostCredits), Code::conflict, "amount", {"1000000000", "150"}},
      {bonus(kAnn, 51_cr), Code::conflict, "amount", {"platform", "51", "50"}},
      {bonus(kPlatform, 1_cr), Code::not_found, "to", {"a0"}},
      {bonus(nobody, 1_cr), Code::not_found, "to", {"a9"}},
      {reserve(nobody, kOther, 1_cr), Code::not_found, "from", {"a9"}},
      {reserve(kAnn, kOther, 70.000001_cr),
       Code::conflict,
       "amount",
       {"a1", "70.000001", "70", "30"}},
      {reserve(kAnn, HoldId{}, 1_cr), Code::invalid, "hold", {"h0"}},
      {reserve(kBob, kJob, 1_cr), Code::forbidden, "hold", {"a2", "h1", "a1"}},
      {post(kOther, kBob, 1_cr), Code::not_found, "hold", {"h2"}},
      {post(kJob, nobody, 1_cr), Code::not_found, "to", {"a9"}},
      {post(kJob, kBob, 30.5_cr), Code::conflict, "amount", {"h1", "a1", "30.5", "30"}},
      {post(kJob, kBob, 2_cr, 3_cr), Code::invalid, "fee", {"3", "2"}},
      {post(kJob, kBob, 2_cr, -1_cr), Code::invalid, "fee", {"-1"}},
      {release(kOther, 1_cr), Code::not_found, "hold", {"h2"}},
      {release(kJob, 31_cr), Code::conflict, "amount", {"h1", "31", "30"}},
      {close(kOther), Code::not_found, "hold", {"h2"}},
      {expire(kOther, kNoon), Code::not_found, "hold", {"h2"}},
      {expire(kJob, Time(kNoon.us - 1)), Code::conflict, "hold", {"h1", "30", "1970-01-12"}},
  };
  for (const auto& c : cases) {
    const auto error = refusal(ledger, c.transfer);
    SCOPED_TRACE(error.message);
    EXPECT_EQ(error.code, c.code);
    EXPECT_EQ(error.field, c.field);
    EXPECT_FALSE(error.hint.empty());
    for (const auto* word : c.says) EXPECT_THAT(error.message, HasSubstr(word));
  }
  EXPECT_EQ(ledger, after(opened(), {reserve(kAnn, kJob, 30_cr, kNoon)})) << "check() changed it";
}

TEST(Ledger, ANegativeZeroOrHugeAmountNeverMintsCredits) {
  const auto ledger = after(opened(), {reserve(kAnn, kJob, 30_cr)});
  const Credits bad[] = {Credits(),
                         Credits(-1),
                         -30_cr,
                         Credits(kMostCredits.micro + 1),
                         Credits(std::numeric_limits<std::int64_t>::min()),
                         Credits(std::numeric_limits<std::int64_t>::max())};
  for (const auto amount : bad) {
    for (const auto& t : {grant(kAnn, amount), bonus(kBob, amount), reserve(kAnn, kJob, amount),
                          post(kJob, kBob, amount), release(kJob, amount)}) {
      const auto error = refusal(ledger, t);
      EXPECT_EQ(error.code, Code::invalid) << to_string(amount);
      EXPECT_THAT(error.message, HasSubstr(to_string(amount)));
    }
    if (amount.micro != 0) EXPECT_FALSE(ledger.check(post(kJob, kBob, 1_cr, amount)));
  }
}

TEST(Ledger, AllThatIsEverMintedStaysBelowTheLimit) {
  auto ledger = opened();
  ledger.apply(grant(kBob, kMostCredits - 150_cr));
  EXPECT_EQ(ledger.minted(), kMostCredits);
  EXPECT_THAT(refusal(ledger, grant(kEve, Credits(1))).hint, HasSubstr("0 more"));
  EXPECT_EQ(ledger.sum(), Credits());
}

// economics.md, known answer 17: credits 100, debits 70, pending 50.
TEST(Ledger, PromisedCreditsCannotBePromisedTwice) {
  auto ledger = opened();
  ledger.apply(reserve(kAnn, kJob, 70_cr));
  ledger.apply(post(kJob, kBob, 70_cr));
  EXPECT_EQ(refusal(ledger, reserve(kAnn, kOther, 50_cr)).code, Code::conflict);
  EXPECT_TRUE(ledger.check(reserve(kAnn, kOther, 30_cr)));
}

TEST(Ledger, ASignUpBonusCannotBeWashedByRentingOnesOwnMachine) {
  const auto start = after(opened(), {bonus(kBob, 10_cr), reserve(kBob, kJob, 10_cr)});
  EXPECT_EQ(after(start, {post(kJob, kBob, 6_cr)}).balance(kBob), (Balance{{}, 6_cr, 4_cr}));
  EXPECT_EQ(after(start, {post(kJob, kBob, 6_cr, 1_cr)}).balance(kBob), (Balance{{}, 5_cr, 4_cr}));
  // Mixed: 10 bonus and 5 ordinary pay 12 to oneself; the fee of 11 uses up the bonus and one.
  const auto mixed = after(
      opened(), {bonus(kAnn, 10_cr), reserve(kAnn, kJob, 15_cr), post(kJob, kAnn, 12_cr, 11_cr)});
  EXPECT_EQ(mixed.balance(kAnn), (Balance{96_cr, {}, 3_cr}));
}

TEST(Ledger, ARepeatedCloseHasOneEffect) {
  auto ledger = after(opened(), {reserve(kAnn, kJob, 30_cr), post(kJob, kBob, 10_cr)});
  int effects = 0;
  for (int i = 0; i < 1000; ++i) {
    if (!ledger.check(close(kJob))) continue;
    ledger.apply(close(kJob));
    ++effects;
  }
  EXPECT_EQ(effects, 1);
  EXPECT_EQ(ledger.balance(kAnn), Balance{90_cr});
}

TEST(Ledger, AHoldResolvesOnceWhicheverWayComesFirst) {
  const auto ledger = after(opened(), {reserve(kAnn, kJob, 30_cr, kNoon)});
  for (const auto& first : {close(kJob), expire(kJob, kNoon)}) {
    const auto done = after(ledger, {first});
    for (const auto& second : {close(kJob), expire(kJob, kNoon + seconds(1)),
                               post(kJob, kBob, 1_cr), release(kJob, 1_cr)})
      EXPECT_EQ(refusal(done, second).code, Code::not_found);
  }
}

TEST(Ledger, AHoldWithoutAnExpiryNeverExpires) {
  const auto ledger = after(opened(), {reserve(kAnn, kJob, 30_cr)});
  EXPECT_THAT(refusal(ledger, expire(kJob, Time(base::kNever.us - 1))).hint, HasSubstr("close"));
}

TEST(LedgerDeathTest, ApplyingWhatCheckRefusesStopsTheServer) {
  auto ledger = opened();
  EXPECT_DEATH(ledger.apply(reserve(kAnn, kJob, 101_cr)), "CHECK");
  EXPECT_DEATH(ledger.apply(close(kJob)), "CHECK");
  EXPECT_DEATH(ledger.open(AccountId(7)), "CHECK");
}

// The same rules, told one micro-credit at a time and with nothing stored that can be added up.
class Model {
 public:
  explicit Model(std::size_t accounts) : purses_(accounts + 1) {}

  bool accepts(const Transfer& t) const {
    const auto* hold = find(t.hold);
    const bool whole = t.kind == Kind::close || t.kind == Kind::expire;
    if (!whole && (t.amount.micro <= 0 || t.amount > kMostCredits)) return false;
    switch (t.kind) {
      case Kind::grant:
        return t.to.value < purses_.size();
      case Kind::bonus:
        return t.to && t.to.value < purses_.size() && t.amount.micro <= purses_[0].ordinary;
      case Kind::reserve:
        return t.hold && t.from.value < purses_.size() && (!hold || hold->owner == t.from) &&
               t.amount.micro <= purses_[t.from.value].total();
      case Kind::post:
        return hold && t.to.value < purses_.size() && t.amount.micro <= hold->purse.total() &&
               t.fee.micro >= 0 && t.fee <= t.amount;
      case Kind::release:
        return hold && t.amount.micro <= hold->purse.total();
      case Kind::close:
        return hold;
      case Kind::expire:
        return hold && t.now >= hold->expires;
    }
    return false;
  }

  void apply(const Transfer& t) {
    for (auto i = 0; i < t.amount.micro && t.kind < Kind::close; ++i) move_one(t, i);
    if (t.kind != Kind::close && t.kind != Kind::expire) return;
    auto& purse = find(t.hold)->purse;
    auto& owner = purses_[find(t.hold)->owner.value];
    owner.ordinary += purse.ordinary;
    owner.bonus += purse.bonus;
    std::erase_if(holds_, [&](const ModelHold& h) { return h.id == t.hold; });
  }

  Balance balance(AccountId id) const {
    std::int64_t escrow = 0;
    for (const auto& h : holds_)
      if (h.owner == id) escrow += h.purse.total();
    const auto& purse = purses_[id.value];
    return {Credits(purse.ordinary), Credits(purse.bonus), Credits(escrow)};
  }

  std::map<HoldId, Hold> holds() const {
    std::map<HoldId, Hold> out;
    for (const auto& h : holds_)
      out[h.id] = {h.owner, Credits(h.purse.total()), Credits(h.purse.bonus), h.expires};
    return out;
  }

  // Bonus credits of `id` wherever they are.
  std::int64_t all_bonus(AccountId id) const {
    auto total = purses_[id.value].bonus;
    for (const auto& h : holds_)
      if (h.owner == id) total += h.purse.bonus;
    return total;
  }

 private:
  struct Purse {
    std::int64_t ordinary = 0, bonus = 0;
    std::int64_t total() const { return ordinary + bonus; }
  };
  struct ModelHold {
    HoldId id;
    AccountId owner;
    Purse purse;
    Time expires;
  };

  const ModelHold* find(HoldId id) const {
    for (const auto& h : holds_)
      if (h.id == id) return &h;
    return nullptr;
  }
  ModelHold* find(HoldId id) { return const_cast<ModelHold*>(std::as_const(*this).find(id)); }

  // Takes one from a purse; was it a bonus credit?
  static bool take(Purse& purse, bool bonus_first) {
    const bool is_bonus = bonus_first ? purse.bonus > 0 : purse.ordinary == 0;
    --(is_bonus ? purse.bonus : purse.ordinary);
    return is_bonus;
  }
  static void put(Purse& purse, bool is_bonus) { ++(is_bonus ? purse.bonus : purse.ordinary); }

  // Moves the i-th micro-credit of a transfer.
  void move_one(const Transfer& t, std::int64_t i) {
    switch (t.kind) {
      case Kind::grant:
        return put(purses_[t.to.value], false);
      case Kind::bonus:
        take(purses_[0], false);
        return put(purses_[t.to.value], true);
      case Kind::reserve:
        if (!find(t.hold)) holds_.push_back({t.hold, t.from, {}, t.expires});
        if (find(t.hold)->expires < t.expires) find(t.hold)->expires = t.expires;
        return put(find(t.hold)->purse, take(purses_[t.from.value], true));
      case Kind::post: {
        const bool was_bonus = take(find(t.hold)->purse, true);
        if (i < t.fee.micro) return put(purses_[0], false);
        return put(purses_[t.to.value], was_bonus && t.to == find(t.hold)->owner);
      }
      case Kind::release:
        return put(purses_[find(t.hold)->owner.value], take(find(t.hold)->purse, false));
      default:
        return;
    }
  }

  std::vector<Purse> purses_;
  std::vector<ModelHold> holds_;
};

constexpr std::uint64_t kAccounts = 6, kHolds = 12;

// Mostly sensible, sometimes not: about a third are refused.
Transfer random_transfer(base::Random& random) {
  constexpr Kind kinds[] = {Kind::grant,   Kind::bonus,   Kind::reserve, Kind::reserve,
                            Kind::reserve, Kind::reserve, Kind::post,    Kind::post,
                            Kind::post,    Kind::release, Kind::close,   Kind::expire};
  Transfer t;
  t.kind = kinds[random.below(std::size(kinds))];
  t.hold = HoldId(random.below(kHolds + 1));
  // A hold has its usual owner, so that most additions find it theirs.
  t.from = AccountId((random.chance(10) ? random.next() : t.hold.value) % (kAccounts + 1));
  t.to = AccountId(random.below(kAccounts + 1));
  if (random.chance(40)) t.to = AccountId(kAccounts + 1 + random.below(3));
  t.amount = Credits(random.between(1, t.kind == Kind::grant ? 20 : 60));
  if (random.chance(30)) t.amount = Credits(random.between(-50, 0));
  if (random.chance(3)) t.fee = Credits(random.between(-1, 20));
  if (random.chance(2)) t.expires = Time(random.between(0, 100));
  t.now = Time(random.between(0, 100));
  return t;
}

void expect_agreement(const Ledger& ledger, const Model& model) {
  ASSERT_EQ(ledger.sum(), Credits());
  ASSERT_EQ(ledger.holds(), model.holds());
  for (std::uint64_t a = 0; a <= kAccounts; ++a) {
    const auto& b = ledger.balance(AccountId(a));
    ASSERT_EQ(b, model.balance(AccountId(a))) << "account a" << a;
    ASSERT_TRUE(b.available.micro >= 0 && b.bonus.micro >= 0 && b.escrow.micro >= 0);
    Credits held;
    for (const auto& [id, hold] : ledger.holds())
      if (hold.owner == AccountId(a)) held += hold.left;
    ASSERT_EQ(b.escrow, held) << "account a" << a;
  }
}

// One step; tells whether it was accepted.
bool step(Ledger& ledger, Model& model, const Transfer& t) {
  std::array<std::int64_t, kAccounts + 1> bonus_before{};
  for (std::uint64_t a = 0; a <= kAccounts; ++a) bonus_before[a] = model.all_bonus(AccountId(a));
  const bool accepted = ledger.check(t).has_value();
  EXPECT_EQ(accepted, model.accepts(t));
  if (!accepted || !model.accepts(t)) return false;
  ledger.apply(t);
  model.apply(t);
  expect_agreement(ledger, model);
  for (std::uint64_t a = 0; a <= kAccounts; ++a) {
    const auto given = t.kind == Kind::bonus && t.to == AccountId(a) ? t.amount.micro : 0;
    EXPECT_LE(model.all_bonus(AccountId(a)), bonus_before[a] + given) << "account a" << a;
  }
  return true;
}

TEST(Ledger, RandomHistoriesNeitherCreateNorLoseCredits) {
  constexpr int kSteps = 100'000;
  std::array<int, 7> accepted{};
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    base::Random random(seed);
    Ledger ledger;
    for (std::uint64_t a = 1; a <= kAccounts; ++a) ledger.open(AccountId(a));
    Model model(kAccounts);
    for (int i = 0; i < kSteps; ++i) {
      const auto t = random_transfer(random);
      accepted[static_cast<std::size_t>(t.kind)] += step(ledger, model, t);
      ASSERT_FALSE(::testing::Test::HasFailure())
          << "seed " << seed << ", step " << i << ", " << to_string(t.kind) << " of "
          << to_string(t.amount) << " from " << to_string(t.from) << " to " << to_string(t.to)
          << " hold " << to_string(t.hold) << " fee " << to_string(t.fee);
    }
  }
  for (const auto n : accepted) EXPECT_GT(n, 1000) << "a kind was hardly tried";
  EXPECT_GT(std::accumulate(accepted.begin(), accepted.end(), 0), 200'000);
}

TEST(Ledger, TheSameHistoryGivesTheSameLedger) {
  const auto play = [] {
    base::Random random(7);
    Ledger ledger;
    for (std::uint64_t a = 1; a <= kAccounts; ++a) ledger.open(AccountId(a));
    for (int i = 0; i < 5000; ++i)
      if (const auto t = random_transfer(random); ledger.check(t)) ledger.apply(t);
    return ledger;
  };
  EXPECT_EQ(play(), play());
}

}  // namespace
}  // namespace souk::ledger
