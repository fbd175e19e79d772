#include "lab/worlds/external.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/fd.h"
#include "base/testing/eventually.h"
#include "base/testing/source_tree.h"
#include "lab/worlds/experiment.h"
#include "mechanism/testing/books.h"

namespace souk::lab {
namespace {

using base::testing::eventually;
using mechanism::Book;
using mechanism::Params;
using mechanism::testing::asks;
using mechanism::testing::bids;
using mechanism::testing::whole;
using ::testing::HasSubstr;

// Answers every book with the same outcome.
std::string always(const std::string& answer) {
  return fmt::format("while read -r book; do echo '{}'; done", answer);
}

constexpr auto kGood = R"({"trades":[{"bid":"b1","ask":"s1","pays":5,"gets":4}]})";

// The best bid meets the best ask half way, whatever their order.
constexpr auto kPython = R"(python3 -c '
import json, sys
for line in sys.stdin:
    book = json.loads(line)
    bid = max(book["bids"], key=lambda b: b["price"])
    ask = min(book["asks"], key=lambda a: a["price"])
    price = (bid["price"] + ask["price"]) / 2
    print(json.dumps({"trades": [{"bid": bid["id"], "ask": ask["id"], "units": 1,
                                  "pays": price, "gets": price}]}), flush=True)
')";

// With all the patience that a busy machine may need, unless told otherwise.
std::unique_ptr<External> external(const std::string& program, Params more = {}) {
  more.emplace("program", program);
  more.emplace("timeout_ms", "20000");
  auto made = make_external(more);
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(made);
}

// Short waits for programs that are known to misbehave by silence.
std::unique_ptr<External> impatient(const std::string& program) {
  return external(program, {{"timeout_ms", "20"}, {"start_ms", "20"}});
}

Book two_by_two() { return {bids({9, 8}), asks({3, 4})}; }

std::string reason(const External& e) {
  const auto asked = e.ask(with_names(two_by_two()), 1);
  return asked ? "none" : asked.error().message;
}

// A file name that does not exist yet and goes with the test.
class TemporaryName {
 public:
  TemporaryName() {
    std::string pattern = ::testing::TempDir() + "souk-external-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  ~TemporaryName() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/file"; }

 private:
  std::string folder_;
};

// Running, and not merely waiting for init to reap it.
bool is_running(pid_t pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(stat, text);
  const auto at = text.rfind(')');
  return at != std::string::npos && at + 2 < text.size() && text[at + 2] != 'Z';
}

TEST(External, ClearsWithAProgramInAnotherLanguage) {
  const auto e = external(kPython);
  base::Random random(7);
  for (int i = 0; i < 3; ++i) {
    const auto out = e->clear(two_by_two(), random);
    ASSERT_EQ(out.trades.size(), 1u) << e->counts().last_reason;
    EXPECT_EQ(out.trades[0], (mechanism::Trade{0, 0, 1, whole(6), whole(6)}));
    EXPECT_EQ(out.price, whole(6));
  }
  EXPECT_EQ(e->counts().calls, 3u);
  EXPECT_EQ(e->counts().fallbacks, 0u);
  EXPECT_EQ(e->counts().starts, 1u) << "it is started once";
  EXPECT_EQ(e->counts().last_reason, "");
}

TEST(External, TellsTheProgramTheBookAndTheSeed) {
  const TemporaryName seen;
  const auto e =
      external(fmt::format("read -r book; echo \"$book\" > {}; echo '{}'", seen.path(), kGood));
  auto named = with_names(two_by_two());
  named.book.bids[1].gang = 2;
  named.book.bids[1].units = 4;
  named.book.asks[1].rank = 3;
  ASSERT_TRUE(e->ask(named, 42));
  std::ifstream file(seen.path());
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line,
            R"({"reference":0,"seed":42,"bids":[{"id":"b1","price":9,"units":1},)"
            R"({"id":"b2","price":16,"units":4,"gang":2}],"asks":[{"id":"s1","price":3,"units":1},)"
            R"({"id":"s2","price":4,"units":1,"rank":3}]})");
}

TEST(External, ABookLargerThanAnyPipeGetsThrough) {
  const auto e = external("read -r book; echo '{\"trades\":[]}'");
  Book large;
  for (std::uint64_t i = 0; i < 50'000; ++i) large.bids.push_back({i, whole(1)});
  const auto asked = e->ask(with_names(large), 1);
  EXPECT_TRUE(asked) << asked.error().message;
}

TEST(External, EveryMisbehaviourIsNamed) {
  struct Case {
    std::string program, reason;
  };
  const std::string in = R"({"trades":[{"bid":"b1","ask":"s1",)";
  const Case cases[] = {
      {"read -r book; exit 3", "ended with status 3"},
      {"kill -9 $$", "ended by signal 9"},
      {"no-such-program-anywhere", "not found"},
      {"read -r book; echo it broke >&2; exit 1", "its stderr ends with: it broke"},
      {always("hello"), "not valid JSON"},
      {always("{}"), "missing key 'trades'"},
      {always(R"({"trade":[]})"), "unknown key 'trade'"},
      {always(in + R"("pays":10,"gets":4}]})"), "'b1' would pay 10, above its limit of 9"},
      {always(in + R"("pays":5,"gets":2}]})"), "'s1' would get 2, below its reserve of 3"},
      {always(in + R"("pays":4,"gets":5}]})"), "'b1' pays 4 but 's1' gets 5"},
      {always(in + R"("pays":4,"gets":4,"units":2}]})"), "'b1' gets 2 slots"},
      {always(in + R"("pays":4,"gets":4,"units":0}]})"), "trades[0].units"},
      {always(in + R"("pays":4.1234567,"gets":4}]})"), "trades[0].pays"},
      {always(R"({"trades":[{"bid":"b9","ask":"s1","pays":5,"gets":5}]})"), "no bid 'b9'"},
      {always(R"({"trades":[{"bid":"b1","ask":"b1","pays":5,"gets":5}]})"), "no ask 'b1'"},
      {"read -r book; echo '{\"trades\":[]}\n{\"trades\":[]}'", "more than one line"},
      {"read -r book; cat /dev/zero", "too much"},
      {"yes", "the program"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(reason(*external(c.program)), HasSubstr(c.reason)) << c.program;
}

TEST(External, ASlowProgramIsNotWaitedFor) {
  EXPECT_THAT(reason(*impatient("read -r book; sleep 1000")), HasSubstr("no answer in 40 ms"));
  EXPECT_THAT(reason(*impatient("sleep 1000")), HasSubstr("no answer"));
  // Nor one that keeps complaining instead.
  EXPECT_THAT(reason(*impatient("yes no >&2")), HasSubstr("no answer"));
  // Nor one that has closed its ears.
  EXPECT_THAT(reason(*impatient("exec <&-; sleep 1000")), HasSubstr("no answer"));
}

TEST(External, AnUnaskedAnswerDoesNotBecomeTheNextOne) {
  const TemporaryName late;
  const auto e = external(fmt::format(
      "read -r book; echo '{0}'; echo '{0}'; touch {1}; read -r book", kGood, late.path()));
  // Whether the second line comes in time to spoil the first answer or only before the second
  // question, it is never taken for an answer to that.
  const bool first = e->ask(with_names(two_by_two()), 1).has_value();
  if (!first) return;
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(late.path()); }));
  EXPECT_THAT(reason(*e), HasSubstr("without being asked"));
}

TEST(External, TheFallbackClearsInItsPlace) {
  const auto e = external("exit 1");
  base::Random random(1);
  const auto out = e->clear(two_by_two(), random);
  ASSERT_EQ(out.trades.size(), 2u) << "k-double trades both pairs";
  EXPECT_EQ(out.price, whole(6));
  EXPECT_EQ(e->counts().fallbacks, 1u);
  EXPECT_THAT(e->counts().last_reason, HasSubstr("status 1"));
  const auto posted = external("exit 1", {{"fallback", "posted"}});
  EXPECT_TRUE(posted->clear(two_by_two(), random).trades.empty()) << "at a suggested price of 0";
  const auto buyers = external("exit 1", {{"kappa", "0"}});
  EXPECT_EQ(buyers->clear(two_by_two(), random).price, whole(4))
      << "its parameters are the fallback's";
}

TEST(External, ABrokenProgramIsTriedLessAndLessOften) {
  const auto e = external("exit 1");
  base::Random random(1);
  std::vector<std::uint64_t> tried;  // The clearings that started it.
  for (std::uint64_t call = 1; call <= 40; ++call) {
    const auto before = e->counts().starts;
    (void)e->clear(two_by_two(), random);
    if (e->counts().starts > before) tried.push_back(call);
  }
  EXPECT_EQ(tried, (std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32}));
  EXPECT_EQ(e->counts().fallbacks, 40u);
}

TEST(External, AProgramThatRecoversIsUsedAgain) {
  const TemporaryName healed;
  const auto e = external(
      fmt::format("[ -e {0} ] || {{ touch {0}; exit 1; }}; {1}", healed.path(), always(kGood)));
  base::Random random(1);
  EXPECT_EQ(e->clear(two_by_two(), random).trades.size(), 2u) << "by k-double";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(e->clear(two_by_two(), random).trades.size(), 1u);
  EXPECT_EQ(e->counts().starts, 2u);
  EXPECT_EQ(e->counts().fallbacks, 1u);
}

TEST(External, NothingOfItLivesOn) {
  const TemporaryName number;
  {
    const auto e =
        external(fmt::format("sleep 1000 & echo $! > {}; {}", number.path(), always(kGood)));
    ASSERT_TRUE(e->ask(with_names(two_by_two()), 1));
  }
  pid_t pid = 0;
  std::ifstream(number.path()) >> pid;
  ASSERT_GT(pid, 0);
  EXPECT_TRUE(eventually([&] { return !is_running(pid); })) << "a child of the program";
  errno = 0;
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD) << "a zombie was left";
}

TEST(External, OurFilesAreNotOpenInIt) {
  const base::Fd ours(::open("/dev/null", O_RDONLY));  // Inherited, unless somebody closes it.
  const auto e =
      external(fmt::format("[ -e /proc/self/fd/{} ] && exit 9; {}", ours.get(), always(kGood)));
  EXPECT_EQ(reason(*e), "none");
}

TEST(External, TakesBidsAndAsksAlone) {
  const auto e = external("cat");
  Book items{bids({9})};
  items.items = {"a"};
  items.bundles = {{0}};
  EXPECT_FALSE(e->accepts(items));
  EXPECT_TRUE(e->accepts(two_by_two()));
  EXPECT_TRUE(e->fit_for_live());
}

TEST(External, BadParametersAreNamed) {
  const auto message = [](const Params& params) {
    const auto made = make_external(params);
    return made ? "none" : made.error().message;
  };
  EXPECT_THAT(message({}), HasSubstr("needs a program"));
  EXPECT_THAT(message({{"program", " "}}), HasSubstr("needs a program"));
  EXPECT_THAT(message({{"program", "cat"}, {"timeout_ms", "0"}}), HasSubstr("timeout_ms is '0'"));
  EXPECT_THAT(message({{"program", "cat"}, {"timeout_ms", "60001"}}), HasSubstr("timeout_ms"));
  EXPECT_THAT(message({{"program", "cat"}, {"start_ms", "soon"}}), HasSubstr("start_ms is 'soon'"));
  EXPECT_THAT(message({{"program", "cat"}, {"fallback", "nobody"}}), HasSubstr("'nobody'"));
  EXPECT_THAT(message({{"program", "cat"}, {"timeout", "5"}}), HasSubstr("timeout"));
}

// The same rule as a program and built in: the same gains from the same draws, in both worlds.
TEST(External, IsAMechanismLikeAnyOtherInTheLab) {
  const auto program = base::source_tree() / "examples/mechanisms/mcafee.py";
  for (const std::string_view world : {"book", "market"}) {
    const bool book = world == "book";
    const auto text = fmt::format(
        "name: both\nworld: {}\nhorizon: {}\nseeds: 1\n{}"
        "mechanisms: [mcafee, {{name: external, params: {{program: \"python3 {}\", "
        "timeout_ms: 5000}}}}]\n"
        "lenders: [{{count: 6, costs: {{uniform: [0, 1]}}}}]\n"
        "borrowers: [{{count: 6, values: {{uniform: [0, 1]}}{}}}]\n",
        world, book ? "5" : "2h", book ? "regret: {books: 0}\n" : "", program.string(),
        book ? "" : ", arrivals: {poisson: 2}, run_time: {exponential: 20m}");
    const auto scenario = parse_scenario(text, "both.yaml", ".");
    ASSERT_TRUE(scenario) << scenario.error().message;
    const auto runs = run_experiment(*scenario);
    ASSERT_TRUE(runs) << runs.error().message;
    ASSERT_EQ(runs->size(), 2u);
    EXPECT_GT((*runs)[0].trades.size(), 0u) << world;
    EXPECT_EQ((*runs)[0].metrics.efficiency, (*runs)[1].metrics.efficiency) << world;
  }
}

}  // namespace
}  // namespace souk::lab
