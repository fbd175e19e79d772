// How fast folders move between an agent and the market: 1 GiB that does not compress to a real
// server on loopback and back, beside what the network, the hash and the disk of the same machine
// can do alone. See README.md.

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <filesystem>
#include <thread>

#include "agent/remote.h"
#include "base/random.h"
#include "bench/child.h"
#include "bench/load.h"
#include "bench/report.h"
#include "blob/folder.h"

namespace souk::bench {
namespace {

namespace fs = std::filesystem;

// Bytes that do not compress, different in each piece.
class Noise {
 public:
  std::string_view next() {
    for (std::size_t at = 0; at < bytes_.size(); at += 8) {
      const auto word = random_.next();
      std::memcpy(bytes_.data() + at, &word, sizeof word);
    }
    return bytes_;
  }

 private:
  base::Random random_{1};
  std::string bytes_ = std::string(blob::kChunkBytes, '\0');
};

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(fd, bytes.data(), bytes.size());
    if (n <= 0) give_up(fmt::format("cannot write: {}", std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

// A virtual machine may have to ask its host for every page that it has not touched lately, which
// costs several times what the copying does, and gives pages back within seconds. This holds as
// many as the next step will write, in a file, and lets a chunk's worth go for each that is moved.
class WarmPages {
 public:
  WarmPages(const std::string& dir, std::size_t chunks) : chunks_(chunks) {
    ::sync();  // What was written earlier is not ours to wait for.
    const auto path = dir + "/warm";
    fd_ = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ::unlink(path.c_str());
    Noise noise;
    const auto bytes = noise.next();
    for (std::size_t i = 0; i < chunks; ++i) write_all(fd_, bytes);
    release();  // One ahead.
  }
  WarmPages(const WarmPages&) = delete;
  WarmPages& operator=(const WarmPages&) = delete;
  ~WarmPages() { ::close(fd_); }

  void release() {
    if (chunks_ > 0 && ::ftruncate(fd_, static_cast<off_t>(--chunks_ * blob::kChunkBytes)) != 0)
      give_up("cannot cut a file");
  }
  // As many as `bytes` that have moved in all need.
  void release_for(std::uint64_t bytes) {
    for (; released_ < bytes; released_ += blob::kChunkBytes) release();
  }

 private:
  std::size_t chunks_;
  std::uint64_t released_ = 0;
  int fd_ = -1;
};

constexpr std::size_t kChunksPerFile = 32;  // 128 MiB.

void make_folder(const std::string& path, std::size_t chunks) {
  fs::create_directories(path);
  Noise noise;
  int fd = -1;
  for (std::size_t i = 0; i < chunks; ++i) {
    if (i % kChunksPerFile == 0) {
      if (fd >= 0) ::close(fd);
      fd = ::open(fmt::format("{}/weights-{}.bin", path, i / kChunksPerFile).c_str(),
                  O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    }
    write_all(fd, noise.next());
  }
  if (fd >= 0) ::close(fd);
}

// A few bytes that were not there, in the middle of one of its files.
void insert_in_the_middle(const std::string& path, std::size_t chunks) {
  const auto file = fmt::format("{}/weights-{}.bin", path, chunks / kChunksPerFile / 2);
  std::ifstream in(file, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(in), {}};
  content.insert(content.size() / 2, "a few bytes that were not there");
  std::ofstream(file, std::ios::binary).write(content.data(), std::ssize(content));
}

// What this machine can do, each thing alone.

double hash_seconds(std::size_t chunks) {
  Noise noise;
  const auto bytes = noise.next();
  const CpuWatch watch;
  unsigned seen = 0;
  for (std::size_t i = 0; i < chunks; ++i) seen += blob::name_of(bytes).bytes[0];
  if (seen == ~0u) give_up("so the hashing is not optimised away");
  return watch.seconds();
}

// Files of a chunk each, as a store keeps them.
double write_seconds(const std::string& dir, std::size_t chunks, bool sync) {
  WarmPages warm(dir, chunks);
  Noise noise;
  const auto bytes = noise.next();
  const Stopwatch watch;
  for (std::size_t i = 0; i < chunks; ++i) {
    const int fd =
        ::open(fmt::format("{}/{}.chunk", dir, i).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    write_all(fd, bytes);
    if (sync && ::fsync(fd) != 0) give_up("cannot sync");
    ::close(fd);
    warm.release();
  }
  const double spent = watch.seconds();
  for (std::size_t i = 0; i < chunks; ++i) ::unlink(fmt::format("{}/{}.chunk", dir, i).c_str());
  return spent;
}

int listen_on_loopback(std::uint16_t& port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in here{.sin_family = AF_INET};
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&here), sizeof here) != 0 || ::listen(fd, 1) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&here), &size) != 0)
    give_up("cannot listen on loopback");
  port = ntohs(here.sin_port);
  return fd;
}

double plain_copy_seconds(std::size_t chunks) {
  std::uint16_t port = 0;
  const int listener = listen_on_loopback(port);
  const Stopwatch watch;
  std::jthread sender([&] {
    Noise noise;
    const auto bytes = noise.next();
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) give_up("cannot connect");
    for (std::size_t i = 0; i < chunks; ++i) write_all(fd, bytes);
    ::close(fd);
  });
  const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  std::vector<char> buffer(128 * 1024);
  std::size_t got = 0;
  for (ssize_t n = 0; (n = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0;)
    got += static_cast<std::size_t>(n);
  if (got != chunks * blob::kChunkBytes) give_up("the copy over loopback lost bytes");
  ::close(fd);
  ::close(listener);
  return watch.seconds();
}

// iperf3's own figure in bytes per second; nothing when it is not installed.
std::optional<double> iperf(std::size_t bytes, int tries = 3) {
  if (tries == 0) return std::nullopt;
  std::uint16_t port = 0;
  ::close(listen_on_loopback(port));
  const auto command = fmt::format(
      "command -v iperf3 >/dev/null || exit; iperf3 -s -1 -p {0} >/dev/null 2>&1 & "
      "for i in $(seq 50); do iperf3 -c 127.0.0.1 -p {0} -n {1} -J 2>/dev/null && break; "
      "sleep 0.1; done; kill $! 2>/dev/null",
      port, bytes);
  auto* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  std::array<char, 4096> piece;
  for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    text.append(piece.data(), n);
  ::pclose(pipe);
  const auto sum = text.find("\"sum_received\"");
  const auto at = text.find("\"bits_per_second\":", sum);
  if (sum == text.npos || at == text.npos) return iperf(bytes, tries - 1);
  return std::strtod(text.c_str() + at + std::strlen("\"bits_per_second\":"), nullptr) / 8;
}

// Processor time, in seconds, of this process and of the server, its only child.
double own_cpu() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}
double server_cpu() {
  int pid = 0;
  std::ifstream(fmt::format("/proc/self/task/{}/children", ::getpid())) >> pid;
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string word;
  for (int field = 1; field <= 13; ++field) stat >> word;
  double user = 0, system = 0;
  stat >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

struct Taken {
  double seconds = 0, own_cpu = 0, server_cpu = 0;
  [[nodiscard]] double cores_busy() const { return (own_cpu + server_cpu) / seconds; }
};

template <class Work>
Taken taken(WarmPages pages, blob::TransferOptions& options, Work work) {
  options.on_progress = [&](const blob::Progress& p) { pages.release_for(p.bytes_done); };
  const double own = own_cpu(), server = server_cpu();
  const Stopwatch watch;
  work();
  Taken out{.seconds = watch.seconds()};
  out.own_cpu = own_cpu() - own;
  out.server_cpu = server_cpu() - server;
  return out;
}

struct Trip {
  Taken up, down, again;
  std::uint64_t new_version_bytes = 0;
};

// To the market, into a fresh store, and to the market once more; then a new version of it.
Trip travel(const blob::Packed& packed, const blob::Packed& edited, const blob::Store& local,
            const std::string& dir, const std::vector<std::string>& server_flags,
            std::size_t chunks, blob::TransferOptions options) {
  const auto& root = packed.root;
  const auto all = packed.manifest.chunks().size() + 1;
  const Child child(server_flags);
  Caller caller(child.url());
  caller.sign_up();
  const auto remote = agent::blobs_at({.servers = {child.url()}, .token = caller.token()});
  Trip trip;
  trip.up = taken(WarmPages(dir, chunks), options, [&] {
    if (must(blob::upload(root, local, remote, options)).chunks_moved != all)
      give_up("the upload did not move every chunk");
  });
  trip.down = taken(WarmPages(dir, chunks), options, [&] {
    const auto store = must(blob::Store::open(dir + "/fresh"));
    if (must(blob::download(root, *store, remote, options)).stats.chunks_moved != all)
      give_up("the download did not move every chunk");
  });
  fs::remove_all(dir + "/fresh");
  trip.again = taken(WarmPages(dir, 0), options, [&] {
    if (must(blob::upload(root, local, remote, options)).chunks_moved != 0)
      give_up("the market asked for what it has");
  });
  options.on_progress = {};
  trip.new_version_bytes = must(blob::upload(edited.root, local, remote, options)).bytes_moved;
  return trip;
}

struct Limit {
  std::string name;
  double rate;  // MB/s.
};

// Which of the limits is the lowest, and how near to it we are.
std::string distance(std::string_view what, double rate, const Taken& t,
                     const std::vector<Limit>& limits) {
  const auto lowest = std::ranges::min(limits, {}, &Limit::rate);
  return fmt::format(
      "{}: its lowest limit is {} ({:.0f} MB/s), of which it reaches {:.0f}%; {:.1f} of {} cores "
      "busy: {:.2f} s of the agent, {:.2f} s of the server",
      what, lowest.name, lowest.rate, 100 * rate / lowest.rate, t.cores_busy(),
      std::thread::hardware_concurrency(), t.own_cpu, t.server_cpu);
}

// What each part of a transfer takes when it has the whole machine to itself.
struct Limits {
  Limit network, hash, writing, syncing;
};

double megabytes_per_second(std::size_t chunks, double seconds) {
  return static_cast<double>(chunks * blob::kChunkBytes) / 1e6 / seconds;
}

Limits measure_limits(const std::string& dir, std::size_t chunks) {
  const auto rate = [&](double seconds) { return megabytes_per_second(chunks, seconds); };
  const auto iperf_rate = iperf(chunks * blob::kChunkBytes);
  return {.network = {iperf_rate ? "TCP (iperf3)" : "TCP (plain copy)",
                      iperf_rate ? *iperf_rate / 1e6 : rate(plain_copy_seconds(chunks))},
          .hash = {"BLAKE3 on one core", rate(hash_seconds(chunks))},
          .writing = {"writing files of 4 MiB", rate(write_seconds(dir, chunks, false))},
          .syncing = {"writing with fsync", rate(write_seconds(dir, chunks, true))}};
}

struct Trips {
  Trip durable, cached;
  double packing_s = 0;
};

Trips measure_trips(const std::string& dir, std::size_t chunks,
                    const blob::TransferOptions& options) {
  Trips out;
  make_folder(dir + "/input", chunks);
  const auto local = must(blob::Store::open(dir + "/local"));
  const Stopwatch watch;
  const auto packed = must(blob::pack(dir + "/input", *local));
  out.packing_s = watch.seconds();
  insert_in_the_middle(dir + "/input", chunks);
  const auto edited = must(blob::pack(dir + "/input", *local));
  fs::remove_all(dir + "/input");
  out.durable = travel(packed, edited, *local, dir, {"--data=" + dir + "/data"}, chunks, options);
  fs::remove_all(dir + "/data");
  out.cached = travel(packed, edited, *local, dir, {"--memory"}, chunks, options);
  return out;
}

void add_rows(Report& report, std::size_t chunks, const Limits& limits, const Trips& trips) {
  const auto& [network, hash, writing, syncing] = limits;
  const auto& durable = trips.durable;
  const auto rate = [&](double seconds) { return megabytes_per_second(chunks, seconds); };
  const auto beside_network = [&](std::string what, double result) {
    return Row{.what = std::move(what),
               .result = result,
               .unit = "MB/s",
               .baseline = network.rate,
               .baseline_is = network.name};
  };
  const auto moved = [&](std::string what, const Taken& t, double bar) {
    auto row = beside_network(std::move(what), rate(t.seconds));
    row.bar = bar;
    row.bar_on_ratio = true;
    report.add(row);
  };
  moved("upload, durable when answered", durable.up, 0.6);
  moved("download", durable.down, 0.8);
  report.add({.what = "upload again, all present",
              .result = durable.again.seconds,
              .unit = "s",
              .bar = 1,
              .at_most = true});
  report.add({.what = "new version, bytes inserted in one file: sent",
              .result = 100 * static_cast<double>(durable.new_version_bytes) /
                        static_cast<double>(chunks * blob::kChunkBytes),
              .unit = "%",
              .bar = 1,
              .at_most = true});
  report.add(beside_network("  upload, server without fsync", rate(trips.cached.up.seconds)));
  report.add({.what = "  packing into the agent's store",
              .result = rate(trips.packing_s),
              .unit = "MB/s"});
  for (const auto* limit : {&hash, &writing, &syncing})
    report.add(beside_network("  limit: " + limit->name, limit->rate));
  report.note(distance("upload", rate(durable.up.seconds), durable.up, {network, hash, syncing}));
  report.note(distance("upload without fsync", rate(trips.cached.up.seconds), trips.cached.up,
                       {network, hash, writing}));
  report.note(
      distance("download", rate(durable.down.seconds), durable.down, {network, hash, writing}));
  report.note(
      "each limit is measured alone, with the whole machine to itself; a transfer pays "
      "all of them, on the same cores");
}

int main(int argc, char** argv) {
  const Flags flags(argc, argv, {"serve", "memory", "data", "mib", "connections", "dir"});
  if (flags.has("serve")) return serve_as_child(flags);
  const auto chunks =
      std::max<std::size_t>(1, (flags.number("mib", 1024) << 20) / blob::kChunkBytes);
  blob::TransferOptions options;
  options.connections = flags.number("connections", options.connections);
  const auto dir = fmt::format("{}/souk-transfer-bench-{}",
                               flags.text("dir", fs::temp_directory_path()), ::getpid());
  fs::create_directories(dir);
  Report report(fmt::format("transfer_bench: a folder of {} MiB that does not compress, {} "
                            "connections, to a server on loopback and back",
                            (chunks * blob::kChunkBytes) >> 20, options.connections),
                flags);
  const auto limits = measure_limits(dir, chunks);
  const auto trips = measure_trips(dir, chunks, options);
  fs::remove_all(dir);
  add_rows(report, chunks, limits, trips);
  return report.finish();
}

}  // namespace
}  // namespace souk::bench

int main(int argc, char** argv) { return souk::bench::main(argc, argv); }
