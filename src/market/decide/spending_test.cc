#include <gtest/gtest.h>

#include "market/limits.h"
#include "market/testing/world.h"

// Tokens that can spend so many credits: what a program that holds one can take from its owner.

namespace souk::market::testing {
namespace {

using base::Code;

struct Spending : ::testing::Test {
  World w;
  AccountId bob = w.account("bob", 100_cr);

  Actor token(Credits limit, unsigned char digest = 1) {
    IssueToken c{
        .account = bob, .scope = Scope::spend, .expires = w.now + base::hours(24), .limit = limit};
    c.digest.bytes[0] = digest;
    const auto made = only<TokenIssued>(w.run(user(bob), c)).token;
    return {.account = bob, .scope = Scope::spend, .token = made.id};
  }
  SubmitJob job(Credits budget) const {
    return {"x", "batch", w.slot_class(), wants(1, 1, 1_cr, budget)};
  }
  JobId submit(const Actor& actor, Credits budget) {
    return only<JobSubmitted>(w.run(actor, job(budget))).job.id;
  }
  ChangeJob budget_of(JobId id, Credits budget) const {
    auto terms = w.at(id).terms;
    terms.budget = budget;
    return {id, terms};
  }
  const Token& at(const Actor& actor) const { return w.s.tokens.at(actor.token); }
};

TEST_F(Spending, ReservedAndSpentTogetherNeverPassTheLimit) {
  const auto script = token(5_cr);
  const auto first = submit(script, 3_cr);
  EXPECT_EQ(at(script).used, 3_cr);
  const auto refused = w.refused(script, job(2.5_cr));
  EXPECT_EQ(refused.code, Code::conflict);
  EXPECT_EQ(refused.message,
            "token t1 can spend 5 credits in all: 0 are spent, 3 are reserved for its live jobs, 2 "
            "are left, and this needs 2.5");
  EXPECT_NE(refused.hint.find("souk spend"), std::string::npos);
  submit(script, 2_cr);
  EXPECT_EQ(w.refused(script, job(0.1_cr)).code, Code::conflict);
  w.run(script, CancelJob{first, ""});  // What comes back can be spent again.
  EXPECT_EQ(at(script).used, 2_cr);
  submit(script, 3_cr);
  submit(user(bob), 50_cr);  // The owner has no such limit.
  EXPECT_EQ(at(script).used, 5_cr);
}

TEST_F(Spending, WhatAJobPaidStaysSpentWhenItEnds) {
  const auto script = token(5_cr);
  w.offer(w.machine(w.account("lena")), {.reserve = 1_cr});
  const auto id = submit(script, 4_cr);
  w.clear();
  const auto lease = w.start_all(id).front();
  w.pass(base::minutes(60));
  EXPECT_GT(at(script).spent, 0.9_cr);
  EXPECT_EQ(at(script).spent, w.at(id).spent);
  EXPECT_EQ(at(script).used, 4_cr);
  w.finish(lease);
  EXPECT_EQ(at(script).spent, 1_cr);
  EXPECT_EQ(at(script).used, 1_cr);
  EXPECT_EQ(w.refused(script, job(4.5_cr)).code, Code::conflict);
  submit(script, 4_cr);
}

TEST_F(Spending, ABudgetThatIsRaisedCountsAndWhatTheOwnerAddsDoesNot) {
  const auto script = token(5_cr);
  const auto id = submit(script, 3_cr);
  EXPECT_EQ(w.refused(script, budget_of(id, 5.5_cr)).code, Code::conflict);
  w.run(script, budget_of(id, 4_cr));
  EXPECT_EQ(at(script).used, 4_cr);
  w.run(user(bob), budget_of(id, 20_cr));
  EXPECT_EQ(at(script).used, 4_cr);
  EXPECT_EQ(w.refused(script, budget_of(id, 21.5_cr)).code, Code::conflict);
  // Lowered by one and raised again by the other, it is not counted for less than was asked for.
  w.run(user(bob), budget_of(id, 1_cr));
  EXPECT_EQ(at(script).used, 1_cr);
  const auto other = submit(script, 4_cr);
  w.run(user(bob), budget_of(id, 20_cr));
  EXPECT_EQ(at(script).used, 5_cr);
  EXPECT_EQ(w.refused(script, budget_of(other, 4.1_cr)).code, Code::conflict);
  w.run(user(bob), CancelJob{id, ""});
  w.run(user(bob), CancelJob{other, ""});
  EXPECT_EQ(at(script).used, Credits());
}

TEST_F(Spending, ItActsForItsOwnJobsAndForNothingElse) {
  const auto script = token(5_cr), another = token(5_cr, 2);
  const auto own = submit(script, 1_cr), owners = submit(user(bob), 1_cr);
  for (const auto id : {owners, submit(another, 1_cr)}) {
    EXPECT_EQ(w.refused(script, CancelJob{id, ""}).code, Code::forbidden);
    EXPECT_EQ(w.refused(script, PauseJob{id}).code, Code::forbidden);
    EXPECT_EQ(w.refused(script, ResumeJob{id}).code, Code::forbidden);
    EXPECT_EQ(w.refused(script, budget_of(id, 2_cr)).code, Code::forbidden);
  }
  IssueToken more{.account = bob, .expires = w.now + base::hours(1)};
  more.digest.bytes[0] = 9;
  EXPECT_EQ(w.refused(script, more).code, Code::forbidden);
  more.scope = Scope::spend;
  more.limit = 1_cr;
  EXPECT_EQ(w.refused(script, more).code, Code::forbidden);
  for (const Command& command : std::initializer_list<Command>{
           ChangePassword{bob, "hash"}, RevokeToken{script.token}, RevokeTokens{bob},
           AddMachine{"m", {}}, GrantCredits{bob, 1_cr, ""}, GiveFeedback{{}, "hello"}, Tick{},
           FreezeAccount{bob, "me"}})
    EXPECT_EQ(w.refused(script, command).code, Code::forbidden) << command.index();
  w.run(script, PauseJob{own});
  w.run(script, ResumeJob{own});
  w.run(script, CancelJob{own, ""});
}

TEST_F(Spending, ATokenWithALimitNeedsOneThatMakesSenseAndAnEnd) {
  IssueToken c{.account = bob, .scope = Scope::spend, .expires = w.now + base::hours(1)};
  EXPECT_EQ(w.refused(user(bob), c).field, "limit");
  for (const auto limit : {Credits(), -1_cr, base::kMostCredits + 1_cr}) {
    c.limit = limit;
    EXPECT_EQ(w.refused(user(bob), c).field, "limit");
  }
  c.limit = 1_cr;
  c.expires = base::kNever;
  EXPECT_EQ(w.refused(user(bob), c).field, "expires_in");
  c.expires = w.now + base::hours(1);
  c.scope = Scope::user;
  EXPECT_EQ(w.refused(user(bob), c).field, "limit");
}

TEST_F(Spending, ItsJobsGoOnWhenItIsRevoked) {
  const auto script = token(5_cr);
  const auto id = submit(script, 1_cr);
  w.run(user(bob), RevokeToken{script.token});
  EXPECT_EQ(w.refused(script, job(1_cr)).code, Code::forbidden);
  EXPECT_EQ(w.at(id).state, JobState::queued);
  w.run(user(bob), budget_of(id, 2_cr));
  w.run(user(bob), CancelJob{id, ""});
  EXPECT_EQ(w.balance(bob).available, 100_cr);
}

}  // namespace
}  // namespace souk::market::testing
