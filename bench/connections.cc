// Ten thousand people waiting for news: what they cost in memory, and how soon all of them have it.
// See README.md.

#include "bench/child.h"
#include "bench/load.h"
#include "bench/report.h"

namespace souk::bench {
namespace {

enum class Kind { long_poll, stream };

struct Measured {
  double resident_mb = 0, before_mb = 0, kib_each = 0;
  double connect_seconds = 0, spread_ms = 0;
};

void wait_for_readers(Caller& caller, std::size_t wanted) {
  const Stopwatch watch;
  while (caller.metric("souk_readers") < static_cast<double>(wanted)) {
    if (watch.seconds() > 30) give_up("not all readers were let in");
    ::usleep(20'000);
  }
}

Measured measure(Kind kind, std::size_t readers) {
  Child child({"--memory"});
  Caller caller(child.url());
  caller.sign_up();
  const auto machine = caller.add_machine();
  Measured out;
  out.before_mb = static_cast<double>(child.resident()) / 1e6;

  const Stopwatch connecting;
  Swarm swarm(child.port());
  const auto request = fmt::format(
      "GET /v1/events{} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {}\r\nAccept: {}\r\n\r\n",
      kind == Kind::long_poll ? "?wait=60s" : "", caller.token(),
      kind == Kind::long_poll ? "application/json" : "text/event-stream");
  for (std::size_t i = 0; i < readers; ++i) {
    swarm.send(swarm.connect(), request);
    if (i % 256 == 0) swarm.poll(0, [](std::size_t) {});  // Heads of streams.
  }
  wait_for_readers(caller, readers);
  out.connect_seconds = connecting.seconds();
  out.resident_mb = static_cast<double>(child.resident()) / 1e6;
  out.kib_each = (out.resident_mb - out.before_mb) * 1e6 / 1024 / static_cast<double>(readers);

  std::vector<bool> told(readers);
  std::size_t left = readers;
  const auto posted = [&](std::size_t i) {
    if (told[i] || swarm[i].unread.find("OfferPosted") == std::string::npos) return;
    told[i] = true;
    --left;
  };
  // Whatever came while they were connecting is not the news.
  for (std::size_t i = 0; i < readers; ++i) swarm[i].unread.clear();
  swarm.poll(0, [&](std::size_t i) { swarm[i].unread.clear(); });
  const Stopwatch watch;
  caller.post_offer(machine);  // Its answer comes after the commit; the news may be faster.
  while (left > 0) {
    if (watch.seconds() > 30) give_up(fmt::format("{} readers were never told", left));
    swarm.poll(1'000, posted);
  }
  out.spread_ms = watch.seconds() * 1e3;
  return out;
}

// The least a fan-out can cost: one small write to each of as many connected sockets, and reading
// it at the other end. Both ends are ours, so half the files at a time.
double bare_fan_out_ms(std::size_t readers) {
  if (readers > 5'000) return bare_fan_out_ms(5'000) + bare_fan_out_ms(readers - 5'000);
  std::vector<std::pair<int, int>> pairs(readers);
  for (auto& [a, b] : pairs) {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) give_up("no sockets left");
    a = fds[0];
    b = fds[1];
  }
  const std::string news(300, 'x');
  std::string buffer(1024, '\0');
  const Stopwatch watch;
  for (const auto& [a, b] : pairs)
    if (::send(a, news.data(), news.size(), MSG_NOSIGNAL) < 0) give_up("cannot write");
  for (const auto& [a, b] : pairs)
    if (::recv(b, buffer.data(), buffer.size(), 0) < 0) give_up("cannot read");
  const double ms = watch.seconds() * 1e3;
  for (const auto& [a, b] : pairs) {
    ::close(a);
    ::close(b);
  }
  return ms;
}

int main(int argc, char** argv) {
  const Flags flags(argc, argv, {"serve", "memory", "data", "readers"});
  if (flags.has("serve")) return serve_as_child(flags);
  const auto wanted = flags.number("readers", 10'000);
  const auto limit = raise_file_limit(1'048'576);
  const auto readers = std::min<std::size_t>(wanted, limit - 200);
  Report report(fmt::format("connections_bench: {} idle readers, then one event", readers), flags);
  if (readers < wanted)
    report.note(fmt::format("only {} files may be open here, so {} readers instead of {}", limit,
                            readers, wanted));
  const auto share = static_cast<double>(readers) / 10'000;  // Bars are for ten thousand.
  const auto bare = bare_fan_out_ms(readers);
  for (const auto kind : {Kind::long_poll, Kind::stream}) {
    const std::string name = kind == Kind::long_poll ? "long polls" : "event streams";
    const auto m = measure(kind, readers);
    report.add({.what = fmt::format("{} {}: server's memory", readers, name),
                .result = m.resident_mb,
                .unit = "MB",
                .baseline = m.before_mb,
                .baseline_is = "before they came",
                .bar = 400 * share,
                .at_most = true});
    report.add({.what = "  each", .result = m.kib_each, .unit = "KiB"});
    report.add({.what = fmt::format("{} {}: until all have the news", readers, name),
                .result = m.spread_ms,
                .unit = "ms",
                .baseline = bare,
                .baseline_is = "a bare write and read each",
                .bar = 1'000,
                .at_most = true});
    report.note(
        fmt::format("{}: all connected and waiting after {:.1f} s", name, m.connect_seconds));
  }
  return report.finish();
}

}  // namespace
}  // namespace souk::bench

int main(int argc, char** argv) { return souk::bench::main(argc, argv); }
