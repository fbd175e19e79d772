// How fast a server starts: a journal of a busy market is written as group commit would write it,
// then read, checked, decoded and applied. See README.md.

#include <unistd.h>

#include <filesystem>

#include "bench/busy_journal.h"
#include "bench/report.h"
#include "codec/events.h"
#include "codec/snapshot.h"
#include "journal/database.h"
#include "journal/open.h"

namespace souk::bench {
namespace {

namespace fs = std::filesystem;

// Best of `runs`, in events per second; `once` does it all and returns how many events it saw.
template <class Once>
double rate(std::size_t runs, Once once) {
  double best = 0;
  for (std::size_t i = 0; i < runs; ++i) {
    const CpuWatch watch;
    const auto events = once();
    best = std::max(best, static_cast<double>(events) / watch.seconds());
  }
  return best;
}

std::uint64_t scan_rows(const std::string& path) {
  auto db = must(journal::Database::open(path, journal::Database::Mode::read_only));
  auto rows = must(db.prepare("SELECT first, count, bytes, chain FROM batch ORDER BY first"));
  std::uint64_t events = 0, bytes = 0;
  while (must(rows.step())) {
    events += static_cast<std::uint64_t>(rows.integer(1));
    bytes += rows.bytes(2).size() + rows.bytes(3).size();
  }
  if (bytes == 0) give_up("the journal is empty");
  return events;
}

std::uint64_t check_rows(journal::Journal& journal) {
  std::uint64_t events = 0;
  must(journal.replay(1, [&](const journal::Batch& batch) -> base::Result<> {
    events += batch.count;
    return {};
  }));
  return events;
}

std::uint64_t decode(journal::Journal& journal) {
  std::uint64_t events = 0;
  must(journal.replay(1, [&](const journal::Batch& batch) {
    return codec::read_events(batch.bytes, batch.first,
                              [&](Time, const market::Event&) { ++events; });
  }));
  return events;
}

// The same loop as the server's own recovery.
void replay(journal::Journal& journal, market::State& state) {
  must(journal.replay(1, [&](const journal::Batch& batch) {
    return codec::read_events(batch.bytes, batch.first, [&](Time at, const market::Event& event) {
      apply(state, at, event);
    });
  }));
}

double replay_rate(std::size_t runs, journal::Journal& journal, const base::Digest& expected) {
  double best = 0;
  for (std::size_t i = 0; i < runs; ++i) {
    market::State state;
    best = std::max(best, rate(1, [&] {
                      replay(journal, state);
                      return state.events;
                    }));
    if (codec::state_hash(state) != expected) give_up("the replayed market is another one");
  }
  return best;
}

void measure(Report& report, const std::string& dir, std::uint64_t batch, std::uint64_t events,
             std::size_t runs, bool bar) {
  const auto path = fmt::format("{}/batch-{}.db", dir, batch);
  base::Digest expected;
  double write_seconds = 0;
  {
    auto opened = must(journal::open("sqlite:" + path));
    const Stopwatch watch;
    expected = record(*opened.journal, batch, events);
    write_seconds = watch.seconds();
  }
  const auto in_memory = must(journal::open("memory:"));
  auto& memory = *in_memory.journal;
  auto opened = must(journal::open("sqlite:" + path, {.read_only = true}));
  auto& sqlite = *opened.journal;
  must(sqlite.replay(1, [&](const journal::Batch& b) { return memory.append(b); }));

  const auto from_memory = replay_rate(runs, memory, expected);
  const auto total = replay_rate(runs, sqlite, expected);
  const auto scanned = rate(runs, [&] { return scan_rows(path); });
  const auto checked = rate(runs, [&] { return check_rows(sqlite); });
  const auto decoded = rate(runs, [&] { return decode(sqlite); });

  const auto rows = fmt::format("{} event{} a row", batch, batch == 1 ? "" : "s");
  const auto add = [&](std::string what, double result, double baseline, std::string is,
                       bool held) {
    report.add({.what = std::move(what) + ", " + rows,
                .result = result,
                .unit = "events/s",
                .baseline = baseline,
                .baseline_is = std::move(is),
                .bar = held ? std::optional(1'000'000.0) : std::nullopt});
  };
  add("replay from SQLite: read, check, decode, apply", total, from_memory, "the same from memory",
      bar);
  add("  read and check the chain only", checked, scanned, "SQLite scan of the rows", false);
  add("  read, check, decode only", decoded, scanned, "SQLite scan of the rows", false);
  report.note(fmt::format("{}: {} events, {:.1f} MB, written in {:.1f} s", rows, sqlite.next() - 1,
                          static_cast<double>(fs::file_size(path)) / 1e6, write_seconds));
}

int main(int argc, char** argv) {
  const Flags flags(argc, argv, {"events", "single", "dir", "runs"});
  const auto events = flags.number("events", 2'000'000);
  const auto single = flags.number("single", 100'000);
  const auto runs = flags.number("runs", 3);
  const auto dir = fmt::format("{}/souk-replay-bench-{}",
                               flags.text("dir", fs::temp_directory_path()), ::getpid());
  // Short rows mean many fsyncs, so these are written to memory, where they cost nothing. It is
  // reading that is measured, and that comes from the page cache either way.
  const auto quick =
      fs::exists("/dev/shm") ? fmt::format("/dev/shm/souk-replay-bench-{}", ::getpid()) : dir;
  fs::create_directories(dir);
  fs::create_directories(quick);
  Report report("replay_bench: from the journal to the market, one thread", flags);
  measure(report, dir, 500, events, runs, true);
  measure(report, quick, 100, events / 4, runs, true);
  measure(report, quick, 1, single, runs, false);
  fs::remove_all(dir);
  fs::remove_all(quick);
  return report.finish();
}

}  // namespace
}  // namespace souk::bench

int main(int argc, char** argv) { return souk::bench::main(argc, argv); }
