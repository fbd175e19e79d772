#include <gtest/gtest.h>

#include "market/limits.h"
#include "market/testing/world.h"

namespace souk::market::testing {
namespace {

using base::Code;

TEST(Accounts, OnlyAnOperatorMintsCreditsAndNeverANegativeAmount) {
  World w;
  const auto bob = w.account("bob");
  EXPECT_EQ(w.refused(user(bob), GrantCredits{bob, 1_cr, ""}).code, Code::forbidden);
  EXPECT_EQ(w.refused(kBoss, GrantCredits{bob, -1_cr, ""}).code, Code::invalid);
  EXPECT_EQ(w.refused(kBoss, GrantCredits{bob, Credits(), ""}).code, Code::invalid);
  EXPECT_EQ(w.refused(kBoss, GrantCredits{AccountId(9), 1_cr, ""}).code, Code::not_found);
  w.run(kBoss, GrantCredits{bob, 5_cr, "welcome"});
  EXPECT_EQ(w.balance(bob).available, 5_cr);
  // All that is ever minted is bounded, so that no balance overflows.
  EXPECT_EQ(w.refused(kBoss, GrantCredits{bob, base::kMostCredits, ""}).code, Code::conflict);
}

TEST(Accounts, AFloodOfSignUpsTakesNoMoreThanTheOperatorSetAside) {
  World w;
  w.account("early");
  EXPECT_EQ(w.balance(AccountId(2)), ledger::Balance{});  // By default there is no bonus.
  w.run(kBoss, GrantCredits{{}, 10_cr, "for sign-ups"});
  Settings v;
  v.signup_bonus = 3_cr;
  w.settings(v);
  Credits taken;
  for (int i = 0; i < 100; ++i) taken += w.balance(w.account("sybil" + std::to_string(i))).bonus;
  EXPECT_EQ(taken, 9_cr);
  EXPECT_EQ(w.balance(ledger::kPlatform).available, 1_cr);
}

TEST(Accounts, ABonusIsNotWashedByRentingOnesOwnMachine) {
  World w;
  w.run(kBoss, GrantCredits{{}, 10_cr, ""});
  Settings v;
  v.signup_bonus = 3_cr;
  w.settings(v);
  const auto mallory = w.account("mallory");
  w.offer(w.machine(mallory), {.reserve = 1_cr});
  const auto job = w.job(mallory, wants(1, 1, 1_cr, 3_cr));
  w.clear();
  const auto lease = w.start_all(job).front();
  w.pass(base::minutes(90));
  w.finish(lease);
  EXPECT_EQ(w.at(job).state, JobState::succeeded);
  EXPECT_EQ(w.at(lease).paid, 1.5_cr);
  EXPECT_EQ(w.balance(mallory), (ledger::Balance{.bonus = 3_cr}));
  // Nor does the trade with oneself move the price that others are shown.
  EXPECT_FALSE(w.s.prices[0].anchor(0));
}

TEST(Accounts, AFrozenAccountStopsSpendingAndLendingUntilItIsThawed) {
  World w;
  const auto lena = w.account("lena"), bob = w.account("bob", 10_cr);
  const auto offer = w.offer(w.machine(lena));
  const auto job = w.job(bob, wants(1, 1, 1_cr, 5_cr));
  w.clear();
  w.start_all(job);
  w.now = w.now + base::minutes(6);
  w.run(kBoss, FreezeAccount{bob, "chargeback"});
  EXPECT_EQ(w.at(job).state, JobState::paused);
  EXPECT_EQ(w.at(job).reason, "account frozen");
  EXPECT_EQ(w.balance(lena).available, 0.05_cr);  // 0.5 an hour: worked for, so paid.
  EXPECT_NE(w.refused(user(bob), ResumeJob{job}).message.find("chargeback"), std::string::npos);
  EXPECT_EQ(
      w.refused(user(bob), SubmitJob{"x", "batch", w.slot_class(), wants(1, 1, 1_cr, 1_cr)}).code,
      Code::forbidden);
  EXPECT_EQ(w.refused(user(bob), AddMachine{"m", {}}).code, Code::forbidden);
  EXPECT_EQ(w.refused(kBoss, FreezeAccount{AccountId(1), "oops"}).code, Code::conflict);
  w.run(user(bob), CancelJob{job, ""});  // What is left is still theirs.
  EXPECT_EQ(w.balance(bob).available, 9.95_cr);
  w.run(kBoss, FreezeAccount{bob, ""});
  w.run(kBoss, FreezeAccount{lena, "fake hardware"});
  const auto again = w.job(bob, wants(1, 1, 1_cr, 5_cr));
  EXPECT_EQ(count<LeaseGranted>(w.clear()), 0u);
  EXPECT_EQ(w.refused(user(lena), PostOffer{w.s.offers.at(offer).machine, w.slot_class(), {}}).code,
            Code::forbidden);
  w.run(kBoss, FreezeAccount{lena, ""});
  w.clear();
  EXPECT_EQ(w.at(again).held, 1);
}

TEST(Accounts, EveryOperatorActionOnSomebodyElsesThingsIsOnRecord) {
  World w;
  const auto lena = w.account("lena"), bob = w.account("bob", 10_cr);
  const auto machine = w.machine(lena);
  const auto offer = w.offer(machine, {.slots = 2});
  const auto job = w.job(bob, wants(1, 2, 1_cr, 5_cr));
  w.clear();
  const auto lease = w.at(job).leases.front();
  const auto token = w.s.tokens.next();
  auto settings = w.s.settings;
  settings.fee_ppm = 1;
  auto spec = w.s.machines.at(machine).spec;
  spec.region = "eu";
  const std::pair<const char*, Command> actions[] = {
      {"settings", ChangeSettings{settings}},
      {"class", SetClass{w.s.classes[0]}},
      {"create account", CreateAccount{.name = "carl"}},
      {"change password", ChangePassword{bob, "hash"}},
      {"issue token", IssueToken{.account = bob, .digest = {{1}}}},
      {"revoke token", RevokeToken{token}},
      {"revoke tokens", RevokeTokens{bob}},
      {"grant", GrantCredits{bob, 1_cr, ""}},
      {"change machine", ChangeMachine{machine, "renamed", spec}},
      {"post offer", PostOffer{machine, w.slot_class(), {}}},
      {"start lease", StartLease{lease, 1}},
      {"change job", ChangeJob{job, wants(1, 2, 1_cr, 4_cr)}},
      {"finish lease", FinishLease{lease, 1, LeaseOutcome::released, ""}},
      {"clear", Clear{w.slot_class(), 7}},
      {"expire lease", ExpireLease{LeaseId(2)}},
      {"heartbeat", Heartbeat{machine, {}}},
      {"pause job", PauseJob{job}},
      {"resume job", ResumeJob{job}},
      {"cancel job", CancelJob{job, "spam"}},
      {"change offer", ChangeOffer{offer, {.slots = 1}}},
      {"pause offer", PauseOffer{offer, w.now + base::hours(1)}},
      {"drain offer", DrainOffer{offer}},
      {"remove offer", RemoveOffer{offer}},
      {"remove offer", RemoveOffer{OfferId(offer.value + 1)}},
      {"remove machine", RemoveMachine{machine}},
      {"freeze", FreezeAccount{bob, "spam"}},
      {"thaw", FreezeAccount{bob, ""}},
  };
  for (const auto& [action, command] : actions) {
    const auto& entry = only<Audited>(w.run(kBoss, command)).entry;
    EXPECT_EQ(entry.action, action);
    EXPECT_EQ(entry.who, AccountId(1)) << action;
    EXPECT_EQ(entry.at, w.now) << action;
  }
  EXPECT_EQ(w.s.audit.back().action, "thaw");
}

TEST(Accounts, ATokenDoesOnlyWhatItsScopeAllows) {
  World w;
  const auto lena = w.account("lena"), bob = w.account("bob", 10_cr);
  const auto machine = w.machine(lena);
  const Actor agent = w.agent(machine);
  EXPECT_EQ(w.refused(agent, AddMachine{"m", {}}).code, Code::forbidden);
  EXPECT_EQ(w.refused(agent, SubmitJob{"x", "batch", w.slot_class(), wants(1, 1, 1_cr, 1_cr)}).code,
            Code::forbidden);
  EXPECT_EQ(w.refused(agent, ChangePassword{lena, "hash"}).code, Code::forbidden);
  EXPECT_EQ(w.refused(agent, RemoveMachine{machine}).code, Code::forbidden);
  EXPECT_EQ(w.refused(agent, Heartbeat{w.machine(bob), {}}).code, Code::forbidden);
  // A stolen everyday token of an operator does not become an operator's token.
  EXPECT_EQ(
      w.refused(user(AccountId(1)), IssueToken{.account = AccountId(1), .scope = Scope::operator_})
          .code,
      Code::forbidden);
  EXPECT_EQ(w.refused(kSystem, IssueToken{.account = bob, .scope = Scope::operator_}).code,
            Code::forbidden);
  w.run(kSystem, IssueToken{.account = AccountId(1), .scope = Scope::operator_, .digest = {{7}}});
  EXPECT_EQ(w.refused(user(bob), IssueToken{.account = bob, .digest = {{7}}}).code, Code::conflict);
  w.run(user(lena), IssueToken{.account = lena,
                               .scope = Scope::machine,
                               .machine = machine,
                               .digest = {{8}},
                               .expires = w.now + base::hours(1)});
  EXPECT_NE(w.s.find_token({{8}}, w.now), nullptr);
  EXPECT_EQ(w.s.find_token({{8}}, w.now + base::hours(1)), nullptr);
  EXPECT_EQ(w.refused(user(bob), RevokeToken{TokenId(2)}).message, "there is no token t2");
  w.run(user(lena), RemoveMachine{machine});  // Its token goes with it.
  EXPECT_EQ(w.s.find_token({{8}}, w.now), nullptr);
}

TEST(Accounts, AClosedMarketAndReservedNamesTurnStrangersAway) {
  World w;
  for (const auto* name : {"x", "Bob", "-bob", ".bob", "bob!", "platform", "mint", ""})
    EXPECT_EQ(w.refused(kSystem, CreateAccount{.name = name}).code, Code::invalid) << name;
  const auto bob = w.account("bob");
  EXPECT_EQ(w.refused(kSystem, CreateAccount{.name = "bob"}).code, Code::conflict);
  EXPECT_EQ(w.refused(user(bob), CreateAccount{.name = "root", .is_operator = true}).code,
            Code::forbidden);
  Settings v;
  v.signup_open = false;
  w.settings(v);
  EXPECT_EQ(w.refused(user(bob), CreateAccount{.name = "carl"}).code, Code::forbidden);
  w.run(kBoss, CreateAccount{.name = "carl"});
  for (auto bad :
       {Settings{.fee_ppm = -1}, Settings{.fee_ppm = 500'001}, Settings{.signup_bonus = -1_cr},
        Settings{.term = base::days(8)}, Settings{.shortest_term = base::hours(2)},
        Settings{.silence = Duration(0)}, Settings{.retention = base::minutes(1)}})
    EXPECT_EQ(w.refused(kBoss, ChangeSettings{bad}).code, Code::invalid);
  EXPECT_EQ(w.refused(user(bob), ChangeSettings{}).code, Code::forbidden);
}

TEST(CreditRequests, WhoHasNothingAsksAndTheOperatorAnswersOnce) {
  World w;
  const auto bob = w.account("bob");
  w.run(user(bob), RequestCredits{5_cr, "a first job"});
  w.run(user(bob), RequestCredits{20_cr, "a larger one"});  // Replaces the first.
  ASSERT_EQ(w.s.requests.size(), 1u);
  EXPECT_EQ(w.s.requests.at(bob).amount, 20_cr);
  EXPECT_EQ(w.refused(user(bob), AnswerRequest{bob, 20_cr, ""}).code, Code::forbidden);
  w.run(kBoss, AnswerRequest{bob, 8_cr, "to begin with"});
  EXPECT_EQ(w.balance(bob).available, 8_cr);
  EXPECT_FALSE(w.s.requests.at(bob).open());
  EXPECT_EQ(w.s.requests.at(bob).granted, 8_cr);
  EXPECT_EQ(w.s.statements[bob.value - 1].back().memo, "to begin with");
  EXPECT_EQ(w.refused(kBoss, AnswerRequest{bob, 8_cr, ""}).code, Code::conflict);
  w.run(user(bob), RequestCredits{1_cr, "more"});
  w.run(kBoss, AnswerRequest{bob, {}, "lend first"});
  EXPECT_EQ(w.balance(bob).available, 8_cr);
  EXPECT_EQ(w.s.requests.at(bob).word, "lend first");
  EXPECT_EQ(w.s.audit.back().action, "decline credits");
}

TEST(CreditRequests, NobodyFillsTheOperatorsDay) {
  World w;
  const auto bob = w.account("bob");
  for (int i = 0; i < kRequestsPerDay; ++i) w.run(user(bob), RequestCredits{1_cr, "please"});
  EXPECT_EQ(w.refused(user(bob), RequestCredits{1_cr, "please"}).code, Code::exhausted);
  w.now = w.now + base::days(1);
  w.run(user(bob), RequestCredits{1_cr, "please"});
  EXPECT_EQ(w.refused(user(bob), RequestCredits{Credits(), "please"}).field, "amount");
  EXPECT_EQ(w.refused(user(bob), RequestCredits{1_cr, ""}).field, "why");
  EXPECT_EQ(w.refused(user(bob), RequestCredits{1_cr, std::string(kTextMax + 1, 'x')}).field,
            "why");
  EXPECT_EQ(w.refused(kBoss, RequestCredits{1_cr, "for me"}).code, Code::conflict);
  EXPECT_EQ(w.refused(kBoss, AnswerRequest{bob, 1_cr, std::string(kTextMax + 1, 'x')}).field,
            "word");
  EXPECT_EQ(w.refused(kBoss, AnswerRequest{w.account("eve"), 1_cr, ""}).code, Code::conflict);
}

}  // namespace
}  // namespace souk::market::testing
