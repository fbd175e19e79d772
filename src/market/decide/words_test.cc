#include "market/decide/words.h"

#include <gtest/gtest.h>

#include "market/limits.h"
#include "market/testing/world.h"

namespace souk::market::testing {
namespace {

TEST(Words, WhatMachinesCompareIsShortAndPlain) {
  for (const auto* good : {"numpy==1.24.2", "@internet", "us-east-1", "a"})
    EXPECT_TRUE(check_word(good, "a package", "packages")) << good;
  for (const auto& bad : {std::string(), std::string(" "), std::string("a b"), std::string("a\nb"),
                          std::string("\xE2\x80\xAEtxt"), std::string(kWordMax + 1, 'a')})
    EXPECT_FALSE(check_word(bad, "a package", "packages")) << bad;
  EXPECT_FALSE(check_words({"a", "b"}, 1, "a package", "packages"));
}

TEST(Words, WhatPeopleReadHasNothingThatHidesOrTurnsText) {
  for (const auto* good : {"", "box", "Ann's box",
                           "B\xC3\xBC"
                           "cher",
                           "\xE2\x82\xAC 5"})
    EXPECT_TRUE(check_line(good, 40, "the name", "name")) << good;
  for (const auto* bad : {" ", " box", "box ", "a\tb", "a\x7f",
                          "a\xE2\x80\xAE"
                          "b",
                          "\xEF\xBB\xBFx",
                          "a\xE2\x80\x8B"
                          "b",
                          "a\xE2\x81\xA6"
                          "b"})
    EXPECT_FALSE(check_line(bad, 40, "the name", "name")) << bad;
  EXPECT_FALSE(check_line(std::string(41, 'a'), 40, "the name", "name"));
}

// Each text of a request has a bound: a journal of long ones is full soon.
TEST(Words, NoTextOfAMachineOrAJobIsUnbounded) {
  World w;
  const auto lena = w.account("lena"), bob = w.account("bob", 10_cr);
  const std::string much(100'000, 'x');
  const auto spec_with = [](auto change) {
    MachineSpec spec{.cores = 8, .memory_mib = 65'536};
    change(spec);
    return spec;
  };
  const MachineSpec specs[] = {
      spec_with([&](auto& s) { s.packages = {much}; }),
      spec_with([&](auto& s) { s.packages.assign(kPackagesMax + 1, "a"); }),
      spec_with([&](auto& s) { s.packages.assign(kPackagesMax, std::string(90, 'a')); }),
      spec_with([&](auto& s) { s.region = much; }),
      spec_with([&](auto& s) { s.region = "a b"; }),
      spec_with([&](auto& s) { s.provider = much; }),
      spec_with([&](auto& s) { s.cpu = much; }),
      spec_with([&](auto& s) { s.gpu = "a\x1b[2J"; }),
      spec_with([&](auto& s) { s.os = much; }),
  };
  for (const auto& spec : specs) {
    EXPECT_EQ(w.refused(user(lena), AddMachine{"box", spec}).code, base::Code::invalid);
  }
  for (const auto* name : {" ", "",
                           "a\xE2\x80\xAE"
                           "b"})
    EXPECT_EQ(w.refused(user(lena), AddMachine{name, {}}).code, base::Code::invalid) << name;
  const auto with = [](auto change) {
    auto terms = wants(1, 1, 1_cr, 1_cr);
    change(terms.constraints);
    return terms;
  };
  const JobTerms terms[] = {
      with([&](auto& c) { c.packages = {much}; }),
      with([&](auto& c) { c.regions = {much}; }),
      with([&](auto& c) { c.providers_allowed = {much}; }),
      with([&](auto& c) { c.providers_refused = {""}; }),
      with([&](auto& c) { c.lenders_allowed.assign(kListMax + 1, lena); }),
  };
  for (const auto& t : terms)
    EXPECT_EQ(w.refused(user(bob), SubmitJob{"job", "batch", w.slot_class(), t}).code,
              base::Code::invalid);
  EXPECT_EQ(
      w.refused(user(bob), SubmitJob{"a\nb", "batch", w.slot_class(), wants(1, 1, 1_cr, 1_cr)})
          .code,
      base::Code::invalid);
  EXPECT_EQ(
      w.refused(user(bob), IssueToken{.account = bob, .digest = {{7}}, .label = "\x1b[0m"}).code,
      base::Code::invalid);
}

TEST(Words, AChangeThatChangesNothingIsNoEvent) {
  World w;
  const auto lena = w.account("lena"), bob = w.account("bob", 10_cr);
  const auto m = w.machine(lena);
  const auto offer = w.offer(m);
  const auto job = w.job(bob, wants(1, 1, 1_cr, 1_cr));
  const auto& machine = w.s.machines.at(m);
  EXPECT_TRUE(w.run(user(lena), ChangeMachine{m, machine.name, machine.spec}).empty());
  EXPECT_TRUE(w.run(user(lena), ChangeOffer{offer, w.s.offers.at(offer).terms}).empty());
  EXPECT_TRUE(w.run(user(bob), ChangeJob{job, w.at(job).terms}).empty());
  EXPECT_TRUE(w.run(user(lena), PauseOffer{offer, Time()}).empty());
  const auto until = w.now + base::minutes(5);
  EXPECT_EQ(w.run(user(lena), PauseOffer{offer, until}).size(), 1u);
  EXPECT_TRUE(w.run(user(lena), PauseOffer{offer, until}).empty());
  EXPECT_EQ(w.run(user(lena), PauseOffer{offer, Time()}).size(), 1u);
  EXPECT_TRUE(w.run(user(lena), PauseOffer{offer, Time()}).empty());
}

}  // namespace
}  // namespace souk::market::testing
