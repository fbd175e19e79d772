#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing/shell.h"

// souk account, login, logout: who somebody is, and what they own.

namespace souk::cli {
namespace {

using testing::check;
using testing::MarketShell;
using testing::Shell;

TEST_F(MarketShell, AnAccountThatWasJustMadeIsLoggedInAndCanSpendWhatItWasGranted) {
  check(boss, {{{"account", "show"}, 0, {"boss (a1), operator", "available  500"}},
               {{"account", "list"}, 0, {"a1  boss        500"}},
               {{"account", "create", "boss"}, 1, {}, {"there is an account 'boss' already"}},
               {{"account", "grant", "nobody", "5"}, 1, {}, {"nobody"}},
               {{"ledger"}, 0, {"mint", "-500", "sum 0"}},
               {{"audit"}, 0, {"grant", "500 credits"}}});
}

TEST_F(MarketShell, ASecondAccountDoesNotTakeTheFirstOnesPlaceUntilItLogsIn) {
  const auto made = boss.must({"account", "create", "bob"});
  EXPECT_TRUE(made.err.contains("`souk login bob` changes to it")) << made;
  check(boss, {{{"account", "show"}, 0, {"boss (a1)"}},
               {{"login", "bob"}, 0, {"as bob"}},
               {{"account", "show"}, 0, {"bob (a2)"}},
               {{"account", "grant", "bob", "5"}, 1, {}, {"operator"}}});
}

TEST_F(MarketShell, AWrongPasswordSaysSoAndKeepsTheOldLogin) {
  boss.env["SOUK_PASSWORD"] = "a wrong password";
  check(boss, {{{"login", "boss"}, 1, {}, {"the name or the password is wrong"}},
               {{"account", "show"}, 0, {"boss (a1)"}}});
  boss.env.erase("SOUK_PASSWORD");
  check(boss, {{{"login", "boss"}, 2, {}, {"a password is needed", "SOUK_PASSWORD"}}});
}

TEST_F(MarketShell, WhoeverIsNotLoggedInLearnsHow) {
  boss.must({"logout"});
  const auto path = std::filesystem::path(boss.env["XDG_CONFIG_HOME"]) / "souk/config.yaml";
  EXPECT_FALSE(journal::testing::slurp(path).contains("souk_")) << "the token is gone from disk";
  check(boss, {{{"jobs"}, 1, {}, {"needs a token", "hint: log in with `souk login NAME`"}},
               {{"offers"}, 1, {}, {"hint: log in with `souk login NAME`"}},
               {{"login", "boss"}, 0, {"logged in"}},
               {{"jobs"}, 0, {"no jobs yet"}}});
}

TEST_F(MarketShell, ATokenWorksElsewhereUntilItIsRevoked) {
  const auto token = boss.must({"account", "token", "create", "--label", "laptop", "--json"});
  Shell laptop(market.server().url());
  laptop.env["SOUK_TOKEN"] = token.at("token");
  check(laptop, {{{"account", "show"}, 0, {"boss (a1)"}}});
  check(boss, {{{"account", "tokens"}, 0, {"laptop"}},
               {{"account", "token", "revoke", token.at("id")}, 0, {"is revoked"}}});
  check(laptop, {{{"account", "show"}, 1, {}, {"souk login NAME"}}});
}

TEST_F(MarketShell, LoggingOutEverywhereEndsEveryToken) {
  Shell laptop(market.server().url());
  laptop.must({"login", "boss"});
  boss.must({"logout", "--everywhere"});
  check(laptop, {{{"account", "show"}, 1, {}, {"souk login NAME"}}});
}

TEST(ShellWithoutAServer, SaysWhichServerItTriedAndHowToNameAnother) {
  Shell shell("http://127.0.0.1:1");
  check(shell, {{{"offers"}, 3, {}, {"cannot reach http://127.0.0.1:1", "--server"}},
                {{"offers", "--server", "ftp://x"}, 2, {}, {"ftp"}}});
}

TEST(ShellWithoutAServer, HelpVersionAndMistakesNeedNone) {
  Shell shell;
  check(shell, {{{"version"}, 0, {"souk "}},
                {{"--help"}, 0, {"souk: a community market", "lend", "run"}},
                {{"run", "--help"}, 0, {"usage: souk run FILE"}},
                {{"rnu", "x"}, 2, {}, {"unknown command 'rnu'", "hint"}},
                {{"offers", "--wher", "x"}, 2, {}, {"unknown flag '--wher'", "--where"}},
                {{"account", "grant", "bob", "much"}, 2, {}, {"AMOUNT", "much"}},
                {{"run"}, 2, {}, {"needs FILE"}}});
}

}  // namespace
}  // namespace souk::cli
