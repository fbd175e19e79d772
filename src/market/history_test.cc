#include "market/testing/history.h"
#include "market/testing/checked_run.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

// Random histories of a whole small market. A history runs in a child process, so that a broken
// CHECK is found, shrunk and shown like any other failure. Override the seed and the length with
// SOUK_HISTORY_SEED and SOUK_HISTORY_COMMANDS.

namespace souk::market::testing {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// What a child tells its parent, in memory they share.
struct Shared {
  std::uint64_t commands = 0;  // Begun.
  std::uint64_t accepted = 0, refused = 0, kinds = 0;
  char problem[400] = {};
};

class Child {
 public:
  Child()
      : shared_(new(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared) {}
  ~Child() { munmap(shared_, sizeof(Shared)); }
  Child(const Child&) = delete;

  // Runs `body` in a child; true if it ended well.
  template <class Body>
  bool run(Body&& body, bool quiet = false) {
    const auto pid = fork();
    if (pid == 0) {
      if (quiet) std::freopen("/dev/null", "w", stderr);
      const std::string problem = body(*shared_);
      problem.copy(shared_->problem, sizeof(shared_->problem) - 1);
      _exit(problem.empty() ? 0 : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  const Shared& shared() const { return *shared_; }

 private:
  Shared* shared_;
};

std::string run_history(std::uint64_t seed, std::uint64_t commands, Shared& shared) {
  HistoryMaker maker(seed);
  CheckedRun run;
  run.on_event = [&](Time at, const Event& e) { maker.observe(e, at); };
  while (shared.commands < commands) {
    ++shared.commands;
    const auto request = maker.next(run.state);
    if (auto problem = run.step(request); !problem.empty()) return problem;
  }
  shared.accepted = run.accepted;
  shared.refused = run.refused;
  shared.kinds = run.kinds.size();
  if (std::getenv("SOUK_HISTORY_KINDS") != nullptr)
    for (const auto& [kind, n] : run.kinds) fmt::print(stderr, "{:9} {}\n", n, kind);
  return {};
}

// The first `commands` requests of a history whose last one fails.
std::vector<Request> requests_of(std::uint64_t seed, std::uint64_t commands) {
  HistoryMaker maker(seed);
  CheckedRun run;
  run.on_event = [&](Time at, const Event& e) { maker.observe(e, at); };
  std::vector<Request> out;
  while (out.size() < commands) {
    out.push_back(maker.next(run.state));
    if (out.size() < commands) (void)run.step(out.back());
  }
  return out;
}

bool fails(const std::vector<Request>& requests) {
  const auto body = [&](Shared&) {
    CheckedRun run;
    for (const auto& r : requests)
      if (auto problem = run.step(r); !problem.empty()) return problem;
    return std::string();
  };
  return !Child().run(body, true);
}

// Leaves out halves, quarters... and finally single requests as long as it still fails.
std::vector<Request> shrink(std::vector<Request> requests) {
  for (auto chunk = requests.size() / 2; chunk > 0; chunk /= 2) {
    for (std::size_t at = 0; at + 1 < requests.size();) {
      auto fewer = requests;
      fewer.erase(
          fewer.begin() + static_cast<std::ptrdiff_t>(at),
          fewer.begin() + static_cast<std::ptrdiff_t>(std::min(at + chunk, requests.size() - 1)));
      if (fails(fewer))
        requests = std::move(fewer);
      else
        at += chunk;
    }
  }
  return requests;
}

void run_and_explain(std::uint64_t seed) {
  const auto commands = setting("SOUK_HISTORY_COMMANDS", 100'000);
  Child child;
  const bool ok = child.run([&](Shared& shared) { return run_history(seed, commands, shared); });
  if (ok) {
    EXPECT_GT(child.shared().accepted, commands / 3) << "too few commands make sense";
    EXPECT_GT(child.shared().refused, commands / 20) << "too few commands are refused";
    // All events but Answered, which is the server's.
    if (commands >= 50'000) EXPECT_EQ(child.shared().kinds, std::variant_size_v<AnyEvent> - 1);
    return;
  }
  std::string story;
  for (const auto& r : shrink(requests_of(seed, child.shared().commands)))
    story += "  " + describe(r) + "\n";
  ADD_FAILURE() << "seed " << seed << " fails at command " << child.shared().commands << ": "
                << child.shared().problem << "\nthe shortest history that fails:\n"
                << story;
}

TEST(History, NoCreditIsMadeOrLostAndNoSlotSoldTwiceWhateverPeopleDo) {
  if (const auto seed = setting("SOUK_HISTORY_SEED", 0)) return run_and_explain(seed);
  for (const std::uint64_t seed : {1, 2, 3, 4}) run_and_explain(seed);
}

}  // namespace
}  // namespace souk::market::testing
