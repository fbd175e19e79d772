// The price of durability: offer updates over HTTP against the same server with its journal on
// disk and with none, turn by turn. See README.md.

#include <fcntl.h>

#include <filesystem>

#include "bench/child.h"
#include "bench/load.h"
#include "bench/report.h"

namespace souk::bench {
namespace {

namespace fs = std::filesystem;

// How often this disk can make 4 KiB durable: no commit can be faster.
double syncs_per_second(const std::string& dir) {
  const auto path = dir + "/sync";
  const int fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  const std::string page(4096, 'x');
  const Stopwatch watch;
  int n = 0;
  for (; watch.seconds() < 1; ++n)
    if (::pwrite(fd, page.data(), page.size(), n % 64 * 4096) != 4096 || ::fdatasync(fd) != 0)
      give_up("cannot write to " + path);
  const double spent = watch.seconds();
  ::close(fd);
  return n / spent;
}

// A server with an offer for every connection.
class Market {
 public:
  Market(const std::vector<std::string>& flags, std::size_t offers)
      : child_(flags), caller_(child_.url()) {
    caller_.sign_up();
    for (std::size_t i = 0; i < offers; ++i)
      offers_.push_back(to_string(caller_.post_offer(caller_.add_machine())));
  }

  // Every update changes a price and carries a fresh key, so each one is real work.
  LoadResult update_offers(LoadOptions o) {
    o.port = child_.port();
    return run_load(o, [&](std::size_t i) {
      const auto n = ++keys_;
      const auto body = fmt::format(R"({{"price":"0.{}"}})", 100'000 + n % 800'000);
      return fmt::format(
          "PATCH /v1/offers/{} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {}\r\n"
          "Idempotency-Key: {:032x}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
          "{}",
          offers_[i], caller_.token(), n, body.size(), body);
    });
  }
  Caller& caller() { return caller_; }

 private:
  Child child_;
  Caller caller_;
  std::vector<std::string> offers_;
  std::uint64_t keys_ = 0;
};

struct Series {
  std::vector<double> rates, p50s, p99s;
  void add(const LoadResult& r) {
    rates.push_back(r.requests_per_second);
    p50s.push_back(r.p50_ms);
    p99s.push_back(r.p99_ms);
  }
};

struct Measured {
  Series durable, memory;
  double commits_per_second = 0, events_per_commit = 0, commit_ms = 0;
};

Measured measure(const std::string& dir, const LoadOptions& load, std::size_t rounds) {
  Measured out;
  Market on_disk({"--data=" + dir + "/data"}, load.connections);
  Market in_memory({"--memory"}, load.connections);
  LoadOptions warm_up = load;
  warm_up.seconds = 0.5;
  on_disk.update_offers(warm_up);
  in_memory.update_offers(warm_up);
  auto& metrics = on_disk.caller();
  const auto commits = metrics.metric("souk_commits_total");
  const auto events = metrics.metric("souk_events_total");
  const auto in_commits = metrics.metric("souk_commit_seconds_total");
  double spent = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    const Stopwatch watch;
    out.durable.add(on_disk.update_offers(load));
    spent += watch.seconds();
    out.memory.add(in_memory.update_offers(load));
  }
  const auto n = metrics.metric("souk_commits_total") - commits;
  out.commits_per_second = n / spent;
  out.events_per_commit = (metrics.metric("souk_events_total") - events) / n;
  out.commit_ms = (metrics.metric("souk_commit_seconds_total") - in_commits) / n * 1e3;
  return out;
}

void add_rows(Report& report, const Measured& m, double syncs) {
  const auto beside = [&](std::string what, std::vector<double> Series::* series,
                          const char* unit) {
    return Row{.what = std::move(what),
               .result = median(m.durable.*series),
               .unit = unit,
               .baseline = median(m.memory.*series),
               .baseline_is = "without a journal"};
  };
  auto rates = beside("durable updates", &Series::rates, "requests/s");
  rates.bar = 0.5;
  rates.bar_on_ratio = true;
  report.add(rates);
  report.add(beside("  p50", &Series::p50s, "ms"));
  report.add(beside("  p99", &Series::p99s, "ms"));
  report.add({.what = "  commits",
              .result = m.commits_per_second,
              .unit = "commits/s",
              .baseline = syncs,
              .baseline_is = "fdatasync of 4 KiB"});
  report.note(
      fmt::format("{:.1f} events a commit, {:.2f} ms in the journal for each; 2 events a request",
                  m.events_per_commit, m.commit_ms));
  report.note(fmt::format("durable requests/s of each run: {:.0f}; without a journal: {:.0f}",
                          fmt::join(m.durable.rates, " "), fmt::join(m.memory.rates, " ")));
}

int main(int argc, char** argv) {
  const Flags flags(
      argc, argv,
      {"serve", "memory", "data", "connections", "requests", "seconds", "rounds", "dir"});
  if (flags.has("serve")) return serve_as_child(flags);
  LoadOptions load;
  load.connections = flags.number("connections", 128);
  load.requests = flags.number("requests", 200'000);
  load.seconds = static_cast<double>(flags.number("seconds", 4));
  const auto rounds = flags.number("rounds", 5);
  const auto dir = fmt::format("{}/souk-http-bench-{}",
                               flags.text("dir", fs::temp_directory_path()), ::getpid());
  fs::create_directories(dir);
  raise_file_limit(65'536);

  Report report(fmt::format("http_bench: PATCH /v1/offers/ID, {} keep-alive connections, median of "
                            "{} interleaved runs of {} s",
                            load.connections, rounds, load.seconds),
                flags);
  const auto syncs = syncs_per_second(dir);
  const auto measured = measure(dir, load, rounds);
  fs::remove_all(dir);
  add_rows(report, measured, syncs);
  return report.finish();
}

}  // namespace
}  // namespace souk::bench

int main(int argc, char** argv) { return souk::bench::main(argc, argv); }
