#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing/shell.h"

// souk run, jobs, job, why, logs, results, cancel, plan: a job from its file to its end.

namespace souk::cli {
namespace {

using testing::check;
using testing::MarketShell;

constexpr const char* kBatch =
    "name: hello\nrun: sh main.sh\nworkdir: .\nclass: c1\nprice: {limit: 1, budget: 5}\n";

class JobShell : public MarketShell {
 protected:
  JobShell() {
    boss.file("job/main.sh", "echo hi\n");
    file = boss.file("job/job.yaml", kBatch);
  }
  // What the agent of machine m1 would do: it runs the lease l1 and reports.
  void work_off(std::string_view log, std::string_view outcome) {
    const auto token = boss.must({"machine", "token", "m1", "--json"}).at("token");
    ASSERT_NE(market.work(token, "m1").count("leases"), 0U);
    const auto epoch = boss.must({"lease", "list", "--json"}).at("items.0.epoch");
    const auto post = [&](const char* what, const std::string& more) {
      market.must("POST", fmt::format("/v1/leases/l1/{}", what), token,
                  fmt::format(R"({{"epoch":{}{}}})", epoch, more));
    };
    post("start", "");
    post("log", fmt::format(R"(,"offset":0,"text":"{}")", log));
    post("finish", fmt::format(R"(,"outcome":"{}","detail":"told so")", outcome));
  }
  std::string file;
};

TEST_F(JobShell, AJobIsRunShownExplainedAndItsLogIsRead) {
  lend();
  check(boss, {{{"run", file, "--yes"}, 0, {"submitted j1: 1 x c1, 5 credits reserved"}},
               {{"account", "show"}, 0, {"available  495", "escrow     5"}},
               {{"jobs"}, 0, {"j1  hello"}}});
  work_off("hi", "completed");
  check(boss, {{{"job", "wait", "j1"}, 0, {}},
               {{"job", "show", "j1"}, 0, {"hello (batch) of boss: succeeded"}},
               {{"logs", "j1"}, 0, {"hi"}},
               {{"why", "j1"}, 0, {"j1 has succeeded"}},
               {{"results", "j1"}, 1, {}, {"j1"}},
               {{"lease", "list"}, 0, {"l1", "completed"}},
               {{"account", "show"}, 0, {"escrow     0"}}});
}

TEST_F(JobShell, AJobThatFailsSaysWhyAndWaitingForItFails) {
  lend();
  boss.must({"run", file, "--yes"});
  work_off("no such file", "failed");
  check(boss, {{{"job", "wait", "j1"}, 1, {}, {}},
               {{"jobs"}, 0, {"failed"}},
               {{"logs", "j1"}, 0, {"no such file"}}});
}

TEST_F(JobShell, AJobThatWaitsSaysWhatKeepsItAndCancellingGivesTheCreditsBack) {
  check(boss, {{{"run", file, "--yes", "--name", "patient"}, 0, {"submitted j1"}},
               {{"job", "show", "j1"}, 0, {"patient (batch) of boss: queued", "5 in escrow"}},
               {{"why", "j1"}, 0, {"j1"}},
               {{"job", "edit", "j1", "--budget", "7"}, 0, {"7"}},
               {{"logs", "j1"}, 0, {}},
               {{"results", "j1"}, 1, {}, {"has no results yet"}},
               {{"cancel", "j1"}, 0, {"cancelled, by its owner"}},
               {{"account", "show"}, 0, {"available  500", "escrow     0"}},
               {{"cancel", "j1"}, 1, {}, {"j1"}}});
}

TEST_F(JobShell, AJobWhoseMistakeIsInItsFileNamesTheLineAndReservesNothing) {
  const auto wrong = [&](const std::string& text) { return boss.file("wrong.yaml", text); };
  struct Row {
    const char* text;
    const char* message;
  };
  for (const auto& [text, message] :
       {Row{"run: x\nbugdet: 5\n", "wrong.yaml:2: unknown key 'bugdet'"},
        Row{"run: x\nworkers: many\n", "workers"}, Row{"run: [\n", "wrong.yaml"},
        Row{"name: x\n", "run"}})
    check(boss, {{{"run", wrong(text), "--yes"}, 2, {}, {message}}});
  check(boss, {{{"run", boss.home / "absent.yaml", "--yes"}, 1, {}, {"absent.yaml"}},
               {{"run", file, "--yes", "--budget", "5000"}, 1, {}, {"500"}},
               {{"run", file, "--yes", "--class", "c99"}, 1, {}, {"c99"}},
               {{"jobs"}, 0, {"no jobs yet"}},
               {{"account", "show"}, 0, {"available  500"}}});
}

TEST_F(JobShell, AJobOfSomebodyElseOrOfNobodyIsRefused) {
  boss.must({"run", file, "--yes"});
  testing::Shell bob(market.server().url());
  bob.must({"account", "create", "bob"});
  check(bob, {{{"cancel", "j1"}, 1, {}, {}},
              {{"logs", "j1"}, 1, {}, {}},
              {{"jobs"}, 0, {}},
              {{"job", "show", "j9"}, 1, {}, {"there is no job 'j9'"}},
              {{"run", file, "--yes"}, 1, {}, {}}});
  check(boss, {{{"job", "show", "j1"}, 0, {"queued"}}});
}

TEST_F(JobShell, AProgramThatSubmitsReadsTheJobItMade) {
  const auto made = boss.must({"run", file, "--yes", "--json"});
  EXPECT_EQ(made.at("id"), "j1");
  EXPECT_EQ(made.at("budget"), "5");
  EXPECT_EQ(boss.must({"job", "show", "j1", "--json"}).at("name"), "hello");
  EXPECT_EQ(boss.must({"jobs", "--json"}).at("items.0.id"), "j1");
}

TEST_F(JobShell, AProgramsPlanHasItsPricesAndSaysWhenItIsQuoted) {
  check(boss, {{{"plan", file}, 0, {"gets a quote when its first part is done"}},
               {{"plan", file, "--measure"}, 1, {}, {"only trainings can be measured"}},
               {{"plan", boss.home / "absent.yaml"}, 1, {}, {"absent.yaml"}}});
}

TEST_F(MarketShell, APriceIsAPriceAndALimitInAListIsANumberOfRows) {
  check(
      boss,
      {{{"job", "submit", "--class", "c1", "--price", "0.7", "--budget", "1", "--yes"}, 0, {"j1"}},
       {{"job", "show", "j1"}, 0, {"at most 0.7"}},
       {{"job", "edit", "j1", "--limit", "0.6"}, 0, {"at most 0.6"}, {"--limit is --price now"}},
       {{"job", "edit", "j1", "--limit", "0.6", "--price", "0.7"}, 2, {}, {"say the same thing"}},
       {{"job", "edit", "--help"}, 0, {"--price PRICE"}},
       {{"job", "list", "--limit", "1"}, 0, {"j1"}},
       {{"jobs", "--limit", "1"}, 0, {"j1"}}});
  EXPECT_FALSE(boss.must({"job", "edit", "--help"}).out.contains("--limit"));
}

TEST_F(MarketShell, EveryNounHasAList) {
  lend();
  for (const auto* noun : {"account", "machine", "offer", "job", "token", "class", "lease", "audit",
                           "mechanisms", "datasets", "lab"})
    EXPECT_EQ(boss.run({noun, "list"}).status, 0) << noun;
  EXPECT_EQ(boss.must({"offer", "list", "--json"}).at("items.0.id"), "o1");
  EXPECT_EQ(boss.must({"lab", "list", "--json"}).at("items.0.name"), "chatterjee_samuelson");
}

}  // namespace
}  // namespace souk::cli
