// How long a server is away after a kill: the journal of a busy market is made, a server is started
// on all of it, then on what is left when the journal was cut. See README.md.

#include <unistd.h>

#include <filesystem>

#include "bench/busy_journal.h"
#include "bench/child.h"
#include "journal/open.h"
#include "server/record/recovery.h"

namespace souk::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBatch = 500;  // Events a row, as under load.

double in_mb(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

// From the start of the process until it listens. Leaves the folder as a kill would, but for the
// snapshot that a server saves when it ends, which stays with `keep_snapshot`.
double time_to_listen(const std::string& data, bool keep_snapshot) {
  double seconds = 0;
  {
    const Stopwatch watch;
    const Child server({"--data=" + data});
    seconds = watch.seconds();
  }
  if (!keep_snapshot) fs::remove(server::snapshot_path(data));
  return seconds;
}

struct CutFigures {
  std::uint64_t first = 0;  // Event that the journal begins with afterwards.
  std::uint64_t base_bytes = 0;
  double base_s = 0, cut_s = 0, trim_s = 0;
  double longest_ms = 0;  // Of the cut and the bites: what a commit may wait for.
};

// Drops all but about the last `tail` events, by the steps of server/record/retention.cc.
CutFigures cut(const std::string& url, std::uint64_t tail) {
  auto opened = must(journal::open(url));
  auto& journal = *opened.journal;
  const auto until = journal.next() - tail;
  CutFigures out;
  std::string bytes;
  {
    const Stopwatch watch;
    market::State state;
    must(journal.replay(1, [&](const journal::Batch& batch) {
      return batch.end() <= until ? server::apply_batch(state, batch) : base::Result<>();
    }));
    out.first = state.events + 1;
    bytes = codec::encode_state(state);
    must(journal.save_base(out.first, bytes));
    out.base_bytes = bytes.size();
    out.base_s = watch.seconds();
  }
  const Stopwatch cutting;
  must(journal.cut(out.first, base::blake2b(bytes)));
  out.cut_s = cutting.seconds();
  out.longest_ms = out.cut_s * 1e3;
  const Stopwatch trimming;
  for (bool more = true; more;) {
    const Stopwatch bite;
    more = must(journal.trim());
    out.longest_ms = std::max(out.longest_ms, bite.seconds() * 1e3);
  }
  out.trim_s = trimming.seconds();
  return out;
}

int main(int argc, char** argv) {
  const Flags flags(argc, argv, {"events", "tail", "dir", "serve", "data"});
  if (flags.has("serve")) return serve_as_child(flags);
  const auto events = flags.number("events", 10'000'000);
  const auto tail = flags.number("tail", 500'000);
  const auto dir = fmt::format("{}/souk-recovery-bench-{}",
                               flags.text("dir", fs::temp_directory_path()), ::getpid());
  const auto data = dir + "/market", url = journal::url_in(data);
  fs::create_directories(data);
  Report report("recovery_bench: from a kill to a server that listens", flags);
  const Stopwatch making;
  {
    auto opened = must(journal::open(url));
    record(*opened.journal, kBatch, events);
  }
  report.note(fmt::format("{} events, {:.0f} MB, made in {:.0f} s", events,
                          in_mb(journal::bytes_on_disk(url)), making.seconds()));

  const auto whole = time_to_listen(data, false);
  const auto figures = cut(url, tail);
  const auto from_base = time_to_listen(data, true);
  const auto from_snapshot = time_to_listen(data, true);

  const auto add = [&](std::string what, double seconds) {
    report.add({.what = std::move(what),
                .result = seconds,
                .unit = "s",
                .baseline = whole,
                .baseline_is = "replay of everything",
                .bar = 10.0,
                .at_most = true});
  };
  add(fmt::format("from the base and the last {} events", tail), from_base);
  add("from the snapshot of the end", from_snapshot);
  report.note(
      fmt::format("base: {:.0f} MB, made in {:.1f} s beside the market; {} events dropped "
                  "in {:.1f} s, the longest bite {:.1f} ms",
                  in_mb(figures.base_bytes), figures.base_s, figures.first - 1,
                  figures.cut_s + figures.trim_s, figures.longest_ms));
  report.note(fmt::format("the file keeps its {:.0f} MB, of which new events use what was freed",
                          in_mb(journal::bytes_on_disk(url))));
  fs::remove_all(dir);
  return report.finish();
}

}  // namespace
}  // namespace souk::bench

int main(int argc, char** argv) { return souk::bench::main(argc, argv); }
