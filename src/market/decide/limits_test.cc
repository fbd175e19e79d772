#include "market/limits.h"

#include <gtest/gtest.h>

#include "market/testing/world.h"
#include "market/why.h"

namespace souk::market::testing {
namespace {

using base::Code;

// Each bound of limits.h, at the last accepted value and the first refused one.

TEST(Limits, TextsAndListsAreBounded) {
  World w;
  const auto bob = w.account("bob", 100_cr);
  w.run(kSystem, CreateAccount{.name = std::string(kNameMin, 'a')});
  w.run(kSystem, CreateAccount{.name = std::string(kNameMax, 'b')});
  EXPECT_EQ(w.refused(kSystem, CreateAccount{.name = std::string(kNameMin - 1, 'c')}).code,
            Code::invalid);
  EXPECT_EQ(w.refused(kSystem, CreateAccount{.name = std::string(kNameMax + 1, 'd')}).code,
            Code::invalid);
  w.run(user(bob), GiveFeedback{FeedbackCategory::praise, std::string(kTextMax, 'x')});
  const std::string text(kTextMax + 1, 'x');
  EXPECT_EQ(w.refused(user(bob), GiveFeedback{FeedbackCategory::praise, text}).field, "text");
  EXPECT_EQ(w.refused(kBoss, GrantCredits{bob, 1_cr, text}).field, "memo");
  EXPECT_EQ(w.refused(kBoss, FreezeAccount{bob, text}).field, "reason");
  auto terms = wants(1, 1, 1_cr, 1_cr);
  terms.constraints.packages.assign(kListMax, "numpy");
  const auto job = w.job(bob, terms);
  EXPECT_EQ(w.refused(user(bob), CancelJob{job, text}).field, "reason");
  terms.constraints.packages.emplace_back("torch");
  EXPECT_EQ(w.refused(user(bob), ChangeJob{job, terms}).field, "constraints.packages");
  terms.constraints.packages = {"torch>=2", "<3"};
  EXPECT_EQ(w.refused(user(bob), ChangeJob{job, terms}).field, "constraints.packages");
  MachineSpec spec;
  spec.environments.assign(kEnvironmentsMax + 1, {"torch", {"torch==2.4.0"}});
  EXPECT_EQ(w.refused(user(bob), AddMachine{"m", spec}).field, "spec.environments");
  spec.environments.assign(1, {"two words", {}});
  EXPECT_EQ(w.refused(user(bob), AddMachine{"m", spec}).field, "spec.environments");
  // The limit of packages is one for all of them together.
  spec.packages.assign(kPackagesMax / 2, "numpy");
  spec.environments.assign(2, {"torch", std::vector<std::string>(kPackagesMax / 4, "x")});
  spec.environments.back().packages.emplace_back("y");
  EXPECT_EQ(w.refused(user(bob), AddMachine{"m", spec}).field, "spec.packages");
  spec.packages.clear();
  spec.environments.assign(
      2, {"torch", std::vector<std::string>(kPackageBytesMax / 200 + 1, std::string(100, 'x'))});
  EXPECT_EQ(w.refused(user(bob), AddMachine{"m", spec}).field, "spec.packages");
  const auto machine = w.machine(bob);
  OfferTerms offer;
  offer.availability.weekly.assign(kWindowsMax, parse_weekly("Mon 1:00-2:00").value());
  const auto id = w.offer(machine, offer);
  offer.availability.weekly.push_back(offer.availability.weekly.front());
  EXPECT_EQ(w.refused(user(bob), ChangeOffer{id, offer}).field, "weekly");
  EXPECT_EQ(w.refused(user(bob), ChangeOffer{id, {.slots = kSlotsMax + 1}}).field, "slots");
  EXPECT_EQ(
      w.refused(user(bob),
                PostOffer{machine, w.slot_class(), {.longest_lease = kLongestLease + Duration(1)}})
          .field,
      "longest_lease");
  auto c = w.s.slot_class(w.slot_class());
  c.price = kMostPrice + Credits(1);
  EXPECT_EQ(w.refused(kBoss, SetClass{c}).field, "price");
}

TEST(Limits, AnAccountsThingsAreBounded) {
  World w;
  const auto bob = w.account("bob", 10'000_cr);
  const auto big = w.machine(bob, {.cores = 100, .memory_mib = 1 << 20});
  for (std::size_t i = 0; i < kOffersPerMachine; ++i) w.offer(big);
  EXPECT_EQ(w.refused(user(bob), PostOffer{big, w.slot_class(), {}}).code, Code::exhausted);
  for (auto n = w.s.machines.size(); n < kMachinesPerAccount; ++n)
    ASSERT_TRUE(execute(w.s, {w.now, user(bob), AddMachine{"n" + std::to_string(n), {}}}));
  EXPECT_EQ(w.refused(user(bob), AddMachine{"one more", {}}).code, Code::exhausted);
  const SubmitJob job{"job", "batch", w.slot_class(), wants(1, 1, 1_cr, 1_cr)};
  for (std::size_t n = 0; n < kLiveJobsPerAccount; ++n)
    ASSERT_TRUE(execute(w.s, {w.now, user(bob), job}));
  EXPECT_EQ(w.refused(user(bob), job).code, Code::exhausted);
  w.run(user(bob), CancelJob{JobId(1), ""});
  w.run(user(bob), job);
  // A token that somebody made stays until they end it; the oldest login ends for a new one, so
  // nobody is locked out.
  for (std::uint8_t i = 0; i < kTokensPerAccount; ++i)
    w.run(user(bob), IssueToken{.account = bob, .digest = {{1, i}}});
  EXPECT_EQ(w.refused(user(bob), IssueToken{.account = bob, .digest = {{2}}}).code,
            Code::exhausted);
  for (std::uint8_t i = 0; i < kTokensPerAccount; ++i)
    w.run(kSystem, IssueToken{.account = bob, .digest = {{3, i}}});
  EXPECT_EQ(only<TokenRevoked>(w.run(kSystem, IssueToken{.account = bob, .digest = {{4}}})).token,
            TokenId(kTokensPerAccount + 1));
  EXPECT_EQ(w.s.tokens.size(), 2 * kTokensPerAccount);
  while (w.s.classes.size() < kClasses) {
    auto c = w.s.classes.back();
    c.name = "k" + std::to_string(w.s.classes.size());
    w.run(kBoss, SetClass{c});
  }
  auto c = w.s.classes.back();
  c.name = "one-more";
  EXPECT_EQ(w.refused(kBoss, SetClass{c}).code, Code::exhausted);
}

TEST(Limits, HistoriesForgetTheirOldest) {
  World w;
  const auto bob = w.account("bob");
  for (std::size_t i = 0; i < kAuditEntries + 5; ++i)
    ASSERT_TRUE(execute(w.s, {w.now, kBoss, GrantCredits{bob, Credits(1), std::to_string(i)}}));
  EXPECT_EQ(w.s.audit.size(), kAuditEntries);
  EXPECT_EQ(w.s.statements[bob.value - 1].size(), kStatementLines);
  EXPECT_EQ(w.s.statements[bob.value - 1].back().memo, std::to_string(kAuditEntries + 4));
  for (std::size_t i = 0; i < kFeedback + 5; ++i)
    ASSERT_TRUE(execute(w.s, {w.now, user(bob), GiveFeedback{FeedbackCategory::idea, "again"}}));
  EXPECT_EQ(w.s.feedback.size(), kFeedback);
}

// What was done under a key is never done again because others did much meanwhile.
TEST(Limits, AKeyIsRememberedByTimeAndAnAnswerWhileThereIsRoom) {
  World w;
  const auto bob = w.account("bob"), eve = w.account("eve");
  const std::string body(1'000, 'x');
  const auto answered = [&](AccountId account, const std::string& key, Time at) {
    apply(w.s, at,
          Answered{{.account = account,
                    .fingerprint = 7,
                    .body = body,
                    .at = at,
                    .key_hash = key_hash_of(account, key),
                    .made = "j5"}});
  };
  answered(bob, "mine", w.now);
  ASSERT_NE(w.s.find_answer(bob, "mine"), nullptr);
  const auto many = 2 * kAnswerBytesPerAccount / body.size();
  for (std::size_t i = 0; i < many; ++i) answered(eve, std::to_string(i), w.now);
  EXPECT_NE(w.s.find_answer(bob, "mine"), nullptr);  // Others' answers take none of his room.
  EXPECT_EQ(w.s.find_key(eve, "mine"), nullptr);
  EXPECT_LE(w.s.index.counts[eve.value].answer_bytes, std::int64_t{kAnswerBytesPerAccount});
  EXPECT_NE(w.s.find_answer(eve, std::to_string(many - 1)), nullptr);  // Of hers the latest stay.
  EXPECT_EQ(w.s.find_answer(eve, "0"), nullptr);
  auto rebuilt = w.s.index;
  rebuilt.rebuild(w.s);
  EXPECT_EQ(rebuilt.counts[eve.value].answer_bytes, w.s.index.counts[eve.value].answer_bytes);
  EXPECT_EQ(rebuilt.answer_bytes, w.s.index.answer_bytes);
  ASSERT_NE(w.s.find_key(eve, std::to_string(many - 1)), nullptr);
  EXPECT_EQ(unpack_id(w.s.find_key(eve, "0")->made), "j5");
  EXPECT_EQ(w.s.index.counts[eve.value].keys, static_cast<std::int64_t>(many));

  answered(eve, "later", w.now + kAnswersFor);
  EXPECT_EQ(w.s.find_answer(bob, "mine"), nullptr);
  ASSERT_NE(w.s.find_key(bob, "mine"), nullptr);
  EXPECT_EQ(w.s.find_key(bob, "mine")->fingerprint, 7U);
  w.now = w.now + kKeysFor - Duration(1);
  w.run(kBoss, GrantCredits{bob, Credits(1), ""});
  EXPECT_NE(w.s.find_key(bob, "mine"), nullptr);
  w.now = w.now + Duration(1);
  w.run(kBoss, GrantCredits{bob, Credits(1), ""});
  EXPECT_EQ(w.s.find_key(bob, "mine"), nullptr);
  EXPECT_EQ(w.s.keys.size(), 1U);
  EXPECT_NE(w.s.find_key(eve, "later"), nullptr);
  EXPECT_EQ(w.s.index.counts[bob.value].keys, 0);
}

TEST(Limits, TheMemoryForAnswersIsBoundedInAll) {
  World w;
  const std::string body(16'000, 'x');
  std::vector<AccountId> people;
  for (int i = 0; i < 80; ++i) people.push_back(w.account("p" + std::to_string(i)));
  for (std::size_t i = 0; i < 80 * 70; ++i)
    apply(w.s, w.now,
          Answered{{.account = people[i % 80],
                    .body = body,
                    .at = w.now,
                    .key_hash = key_hash_of(people[i % 80], std::to_string(i))}});
  EXPECT_LE(w.s.index.answer_bytes, std::int64_t{kAnswerBytes} + 20'000);
  EXPECT_EQ(w.s.keys.size(), 80U * 70U);
  EXPECT_NE(w.s.find_answer(people[79], std::to_string(80 * 70 - 1)), nullptr);
  EXPECT_EQ(w.s.find_answer(people[0], "0"), nullptr);
  EXPECT_NE(w.s.find_key(people[0], "0"), nullptr);
}

// A report of a machine has a number of its own, so it takes no room for a day.
TEST(Limits, ANumberedReportIsRememberedAsLongAsItsAnswer) {
  World w;
  const auto bob = w.account("bob");
  apply(w.s, w.now,
        Answered{{.account = bob,
                  .body = "{}",
                  .at = w.now,
                  .key_hash = key_hash_of(bob, "unit"),
                  .numbered = true}});
  EXPECT_TRUE(w.s.keys.empty());
  EXPECT_NE(w.s.find_answer(bob, "unit"), nullptr);
}

TEST(Limits, AnIdFitsIntoANumber) {
  for (const auto* id : {"j1", "m72057594037927935", "t17"}) EXPECT_EQ(unpack_id(pack_id(id)), id);
  for (const auto* no : {"", "j", "17", "j1x", "J1", "j72057594037927936", "j-1"})
    EXPECT_EQ(pack_id(no), 0U) << no;
}

TEST(Limits, AJobRemembersOnlySoManyMachinesItAvoids) {
  World w;
  const auto lena = w.account("lena"), bob = w.account("bob", 100_cr);
  for (std::size_t i = 0; i < kAvoidedPerJob + 1; ++i) w.offer(w.machine(lena));
  const auto n = static_cast<std::int32_t>(kAvoidedPerJob + 1);
  const auto job = w.job(bob, wants(n, n, 1_cr, 50_cr));
  w.clear();
  for (const auto lease : w.start_all(job)) w.run(kSystem, ExpireLease{lease});
  EXPECT_EQ(w.at(job).avoided.size(), kAvoidedPerJob);
  EXPECT_EQ(w.at(job).avoided.front().machine, MachineId(2));
}

TEST(Limits, OneTickDoesABoundedAmountOfWork) {
  World w;
  auto terms = wants(1, 1, 1_cr, 1_cr);
  terms.deadline = w.now + base::minutes(5);
  std::size_t jobs = 0;
  for (int a = 0; jobs < kDuePerTick + 10; ++a) {
    const auto owner = w.account("u" + std::to_string(a) + "x", 1000_cr);
    for (std::size_t i = 0; i < kLiveJobsPerAccount && jobs < kDuePerTick + 10; ++i, ++jobs)
      ASSERT_TRUE(
          execute(w.s, {w.now, user(owner), SubmitJob{"j", "batch", w.slot_class(), terms}}));
  }
  w.now = terms.deadline;
  EXPECT_EQ(count<JobEnded>(w.run(kSystem, Tick{})), kDuePerTick);
  EXPECT_EQ(count<JobEnded>(w.run(kSystem, Tick{})), 10u);
}

TEST(Limits, TheLargestJobAtTheHighestPriceIsMeteredWithoutOverflow) {
  World w;
  const auto lena = w.account("lena"), bob = w.account("bob", 900'000'000_cr);
  Settings v;
  v.shortest_term = base::seconds(1);
  v.low_escrow = base::days(7);
  w.settings(v);
  const auto job = w.job(bob, wants(kSlotsMax, kSlotsMax, kMostPrice, 800'000'000_cr));
  for (std::int32_t left = kSlotsMax; left > 0; left -= 4'000)
    w.offer(w.machine(lena, {.cores = 4'096, .memory_mib = 1 << 26}),
            {.slots = std::min(left, 4'000), .reserve = kMostPrice});
  EXPECT_EQ(why(w.s, w.at(job), w.now).matching, kSlotsMax);
  w.clear();
  EXPECT_EQ(w.at(job).held, kSlotsMax);
  w.start_all(job);
  EXPECT_EQ(count<JobWarned>(w.pass(base::seconds(28), base::seconds(4))), 0u);
  w.pass(base::minutes(2));  // The budget lasts for 28.8 seconds.
  EXPECT_LE(w.at(job).spent, 800'000'000_cr);
  EXPECT_GT(w.at(job).spent, 799'999'999_cr);
  EXPECT_EQ(w.balance(lena).available, w.at(job).spent);
}

TEST(Limits, ProfilesAreBoundedAndTheOldestGo) {
  World w;
  const auto learn = [](std::string key, std::size_t size) {
    return LearnProfile{std::move(key), std::string(size, 'x')};
  };
  EXPECT_EQ(w.refused(kSystem, learn("", 1)).field, "key");
  EXPECT_EQ(w.refused(kSystem, learn(std::string(kNameOfBlobMax + 1, 'k'), 1)).field, "key");
  EXPECT_EQ(w.refused(kSystem, learn("k", kProfileMax + 1)).code, base::Code::too_large);
  EXPECT_EQ(w.refused(user(w.account("eve")), learn("k", 1)).code, base::Code::forbidden);
  w.run(kSystem, learn("k", kProfileMax));
  for (std::size_t i = 0; i < kProfiles; ++i) {
    w.now = w.now + Duration(1);
    ASSERT_TRUE(execute(w.s, {w.now, kSystem, learn(std::to_string(i), 1)}));
  }
  EXPECT_EQ(w.s.profiles.size(), kProfiles);
  EXPECT_FALSE(w.s.profiles.contains("k"));
  EXPECT_TRUE(w.s.profiles.contains("0"));
}

TEST(Limits, AForecastIsShort) {
  World w;
  const auto bob = w.account("bob", 5_cr);
  SubmitJob job{"job", "batch", w.slot_class(), wants(1, 1, 1_cr, 1_cr)};
  job.forecast = std::string(kTextMax + 1, 'x');
  EXPECT_EQ(w.refused(user(bob), job).field, "forecast");
  job.forecast = std::string(kTextMax, 'x');
  job.planned = -1;
  EXPECT_EQ(w.refused(user(bob), job).field, "planned");
  job.planned = 7;  // More than it may have: as many as it may.
  w.run(user(bob), job);
  EXPECT_EQ(aimed_workers(w.at(JobId(1))), 1);
  EXPECT_EQ(w.refused(kSystem, ResizeJob{JobId(1), 1, std::string(kTextMax + 1, 'x')}).code,
            base::Code::too_large);
}

TEST(Limits, AJobMayMoveBetweenAFewClassesAndRemembersItsLatestMoves) {
  World w;
  const auto bob = w.account("bob", 5_cr);
  auto other = w.s.slot_class(w.slot_class());
  SubmitJob job{"job", "train", w.slot_class(), wants(1, 1, 1_cr, 1_cr)};
  job.pay = Pay::work;
  for (std::size_t i = 0; i <= kOtherClassesPerJob; ++i) {
    other.name = "other" + std::to_string(i);
    w.run(kBoss, SetClass{other});
    job.also.push_back(w.slot_class(other.name));
  }
  EXPECT_EQ(w.refused(user(bob), job).field, "also_classes");
  job.also.pop_back();
  w.run(user(bob), job);
  for (std::size_t i = 0; i <= kMovesPerJob; ++i)
    w.run(kSystem, MoveJob{JobId(1), w.at(JobId(1)).also.front(), 0, std::to_string(i)});
  EXPECT_EQ(w.at(JobId(1)).moves.size(), kMovesPerJob);
  EXPECT_EQ(w.at(JobId(1)).moves.front().why, "1");
  EXPECT_EQ(w.at(JobId(1)).also.size(), kOtherClassesPerJob);
  EXPECT_EQ(w.refused(kSystem, MoveJob{JobId(1), w.at(JobId(1)).also.front(), 0,
                                       std::string(kTextMax + 1, 'x')})
                .code,
            base::Code::too_large);
}

}  // namespace
}  // namespace souk::market::testing
