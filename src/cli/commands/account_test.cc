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

TEST_F(MarketShell, ATokenWithALimitRunsJobsUpToItAndDoesNothingElse) {
  const auto made = boss.must({"spend", "5", "--for", "1h", "--label", "nightly", "--json"});
  EXPECT_EQ(made.at("limit"), "5");
  Shell script(market.server().url());
  script.env["SOUK_TOKEN"] = made.at("token");
  check(script, {{{"job", "submit", "--class", "c1", "--budget", "3", "--yes"}, 0, {"3 credits"}},
                 {{"job", "submit", "--class", "c1", "--budget", "3", "--yes"},
                  1,
                  {},
                  {"can spend 5 credits in all: 0 are spent, 3 are reserved", "souk spend"}},
                 {{"job", "edit", "j1", "--budget", "6"}, 1, {}, {"can spend 5 credits"}},
                 {{"token", "list"}, 0, {"nightly", "spend"}},
                 {{"spend", "1"}, 1, {}, {"can only plan and run jobs"}},
                 {{"account", "grant", "boss", "1"}, 1, {}, {"can only plan and run jobs"}},
                 {{"class", "list"}, 0, {"c1"}},
                 {{"job", "list"}, 0, {"j1"}},
                 {{"cancel", "j1"}, 0, {"cancelled"}},
                 // Without a budget it takes what is left.
                 {{"job", "submit", "--class", "c1", "--price", "9", "--yes"}, 0, {"5 credits"}},
                 {{"job", "submit", "--class", "c1", "--yes"}, 1, {}, {"has used all 5 credits"}}});
  const auto list = boss.must({"token", "list"});
  EXPECT_THAT(list.out, ::testing::HasSubstr("reserved"));
}

TEST_F(MarketShell, SpendPrintsTheTokenAloneAndTakesLimitAsAFlagToo) {
  const auto made = boss.must({"spend", "--limit", "2"});
  EXPECT_THAT(made.out, ::testing::StartsWith("souk_"));
  EXPECT_THAT(made.err, ::testing::HasSubstr("can spend 2 credits and ends in 23h"));
  check(boss, {{{"spend"}, 2, {}, {"needs CREDITS", "souk spend 5"}},
               {{"spend", "2", "--limit", "2"}, 2, {}, {"say the same thing"}},
               {{"spend", "0"}, 1, {}, {"the limit cannot be 0 credits"}},
               {{"token", "create", "--scope", "spend"}, 2, {}, {"souk spend 5 --for 24h"}}});
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
                {{"--version"}, 0, {"souk 0.", "; "}},
                {{"help", "run"}, 0, {"usage: souk run FILE"}},
                {{"help"}, 0, {"souk: a community market"}},
                {{"completion", "bash"}, 0, {"complete -o filenames -F _souk souk"}},
                {{"completion", "basch"}, 2, {}, {"no completion for 'basch'", "bash"}},
                {{"man", "lend"}, 0, {".TH SOUK-LEND 1", "\\-\\-cores N"}},
                {{"man", "lned"}, 2, {}, {"no command 'lned'"}},
                {{"--help"},
                 0,
                 {"souk: a community market", "\nfirst\n  souk demo", "\nstart\n", "\nlend\n",
                  "\nborrow\n", "\ntrain\n", "\nstudy\n", "\noperate\n"}},
                {{"help", "agents"}, 0, {"# Souk for programs and AI agents"}},
                {{"help", "rnu"}, 2, {}, {"unknown command 'rnu' for `souk`", "run"}},
                {{"help", "job", "nothing"}, 2, {}, {"unknown command 'nothing' for `souk job`"}},
                {{"run", "--help"}, 0, {"usage: souk run FILE"}},
                {{"rnu", "x"}, 2, {}, {"unknown command 'rnu'", "hint"}},
                {{"offers", "--wher", "x"}, 2, {}, {"unknown flag '--wher'", "--where"}},
                {{"account", "grant", "bob", "much"}, 2, {}, {"AMOUNT", "much"}},
                {{"run"}, 2, {}, {"needs FILE"}}});
}

TEST_F(MarketShell, WhoHasNoCreditsAsksForThemAndTheOperatorAnswers) {
  const auto made = boss.must({"account", "create", "bob"});
  EXPECT_TRUE(made.out.contains("souk account request 20")) << made;
  check(boss, {{{"account", "request", "20", "--why", "x"}, 1, {}, {"you operate this market"}},
               {{"login", "bob"}, 0, {"as bob"}},
               {{"account", "requests"}, 0, {"nobody asks"}},
               {{"account", "request", "20", "--why", "a first model"}, 0, {"asked for 20"}},
               {{"account", "requests"}, 0, {"bob", "20", "a first model", "open"}},
               {{"account", "answer", "bob", "--grant", "5"}, 1, {}, {"operator"}},
               {{"login", "boss"}, 0, {"as boss"}},
               {{"account", "answer", "bob"}, 2, {}, {"grants or declines"}},
               {{"account", "answer", "bob", "--grant", "5", "--word", "to begin with"},
                0,
                {"bob: granted 5: to begin with"}},
               {{"account", "requests"}, 0, {"granted 5"}}});
}

TEST(ShellWithoutAServer, HelpOfACommandIsTheSameInBothSpellings) {
  Shell shell;
  for (const auto& path : std::vector<std::vector<std::string>>{
           {}, {"run"}, {"job", "submit"}, {"account", "token", "create"}, {"lab", "list"}}) {
    auto first = path, last = path;
    first.insert(first.begin(), "help");
    last.emplace_back("--help");
    EXPECT_EQ(shell.must(first).out, shell.must(last).out) << ::testing::PrintToString(path);
  }
}

// What is listed under one group of `souk --help` is a command, and every command is in a group.
TEST(ShellWithoutAServer, EveryCommandIsInAGroup) {
  for (const auto& command : root_command().commands) EXPECT_NE(command.group, "") << command.name;
  const auto root = root_command();
  EXPECT_EQ(root.first.size(), 6u);
  for (const auto& [line, what] : root.first) {
    const auto words = base::split(line, ' ');
    EXPECT_NE(std::ranges::find(root.commands, words[1], &Command::name), root.commands.end())
        << line;
  }
}

}  // namespace
}  // namespace souk::cli
