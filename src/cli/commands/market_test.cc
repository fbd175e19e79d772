#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing/shell.h"

// souk machine, offer, offers, class, prices, settings: what is lent, and for how much.

namespace souk::cli {
namespace {

using testing::check;
using testing::MarketShell;

TEST_F(MarketShell, ALenderSeesWhatIsLentAndCanTakeItBack) {
  lend();
  check(boss, {{{"machine", "list"}, 0, {"m1  box", "online", "64 GiB"}},
               {{"machine", "show", "m1"}, 0, {"8 cores, 64 GiB memory", "offers    o1"}},
               {{"offers"}, 0, {"o1  c1", "0.5", "boss"}},
               {{"offers", "--where", "free>1"}, 0, {"o1"}},
               {{"offers", "--where", "free>2"}, 0, {}},
               {{"offers", "--where", "fre>2"}, 1, {}, {"fre"}},
               {{"offer", "pause", "o1", "--for", "1h"}, 0, {"paused"}},
               {{"offer", "resume", "o1"}, 0, {"open"}},
               {{"offer", "edit", "o1", "--price", "0.7"}, 0, {"0.7"}},
               {{"offer", "show", "o1"}, 0, {"price          0.7"}},
               {{"offer", "remove", "o1"}, 0, {"offer o1 is removed"}},
               {{"offer", "show", "o1"}, 1, {}, {"o1"}},
               {{"machine", "remove", "m1"}, 0, {"m1"}},
               {{"machine", "show", "m9"}, 1, {}, {"there is no machine 'm9'"}}});
}

TEST_F(MarketShell, WhatAMachineDoesNotHaveCannotBeOffered) {
  lend();
  check(boss,
        {{{"offer", "create", "m1", "--class", "c99", "--price", "1"}, 1, {}, {"c99"}},
         {{"offer", "create", "m1", "--class", "c1", "--slots", "99", "--price", "1"}, 1, {}, {}},
         {{"offer", "create", "m1", "--class", "c1", "--price", "cheap"}, 2, {}, {"--price"}},
         {{"offer", "create", "j1", "--class", "c1"}, 2, {}, {"'j1' is not the id of a machine"}}});
}

TEST_F(MarketShell, APersonWithoutAnOfferIsToldWhatToDoNext) {
  check(boss, {{{"offers"}, 0, {"no offers yet: lend a machine"}},
               {{"lease", "list"}, 0, {"no leases yet"}},
               {{"jobs"}, 0, {"no jobs yet"}}});
}

TEST_F(MarketShell, PricesClassesAndSettingsAreShownAndAnOperatorChangesThem) {
  check(boss, {{{"class", "list"}, 0, {"c1", "vickrey", "g8-80"}},
               {{"prices"}, 0, {"c1", "0.2"}},
               {{"prices", "c1"}, 0, {"c1 (vickrey)", "nothing was traded"}},
               {{"prices", "c99"}, 1, {}, {"c99"}},
               {{"class", "set", "c1", "--mechanism", "mcafee"}, 0, {"mcafee"}},
               {{"class", "set", "c1", "--mechanism", "mcafe"}, 1, {}, {"mcafe"}},
               {{"prices", "c1"}, 0, {"c1 (mcafee)"}},
               {{"settings"}, 0, {"term           1h"}},
               {{"mechanisms"}, 0, {"vickrey", "k-double", "mcafee"}}});
}

TEST_F(MarketShell, WhatJsonPrintsCanBeReadByAProgram) {
  lend();
  struct Row {
    std::vector<std::string> arguments;
    const char* path;
    const char* value;
  };
  const Row rows[] = {
      {{"account", "show"}, "name", "boss"},
      {{"account", "list"}, "items.0.name", "boss"},
      {{"machine", "list"}, "items.0.name", "box"},
      {{"machine", "show", "m1"}, "spec.cores", "8"},
      {{"offers"}, "items.0.id", "o1"},
      {{"offer", "show", "o1"}, "price", "0.5"},
      {{"class", "list"}, "items.0.name", "c1"},
      {{"jobs"}, "items", "[]"},
      {{"lease", "list"}, "items", "[]"},
      {{"ledger"}, "sum", "0"},
      {{"settings"}, "term", "1h"},
      {{"audit"}, "items.0.who", "boss"},
      {{"mechanisms"}, "items.0.name", "posted"},
  };
  for (const auto& row : rows) {
    auto arguments = row.arguments;
    arguments.emplace_back("--json");
    EXPECT_EQ(boss.must(arguments).at(row.path), row.value)
        << ::testing::PrintToString(row.arguments);
  }
}

}  // namespace
}  // namespace souk::cli
