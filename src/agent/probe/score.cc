#include "agent/probe/score.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>

#include "base/check.h"
#include "base/proof/multiply.h"
#include "base/random.h"
#include "base/threads.h"

namespace souk::agent {
namespace {

using base::kPad;
using base::multiply;
using base::on_threads;
using base::pack;
using base::share;

using Stopwatch = std::chrono::steady_clock;

constexpr std::int32_t kMostScoreThreads = 1024;
constexpr std::size_t kScoreSize = 384;
constexpr std::size_t kWrittenAtOnce = 8
                                       << 20;  // Of the file: what one fdatasync may have to write.
constexpr std::int64_t kMostDiskBytes = 256 << 20;
constexpr base::Duration kMostDiskTime = base::seconds(2);

double seconds_since(Stopwatch::time_point start) {
  return std::chrono::duration<double>(Stopwatch::now() - start).count();
}
Stopwatch::time_point after(base::Duration d) {
  return Stopwatch::now() + std::chrono::microseconds(d.us);
}

// --- Multiply -----------------------------------------------------------------------------------

void measure_gflops(const ScoreOptions& o, Score& score) {
  constexpr auto n = kScoreSize;
  static_assert(n % kPad == 0);
  std::atomic<std::int64_t> products = 0;
  double elapsed = 0;
  score.threads = on_threads(score.threads, [&](std::int32_t self, std::int32_t, auto& together) {
    base::Random random(static_cast<std::uint64_t>(self));
    std::vector<float> a(n * n), b(n * n), packed(n * n), c(n * n);
    for (auto* matrix : {&a, &b})
      for (auto& x : *matrix) x = static_cast<float>(random.below(1000)) * 1e-3F - 0.5F;
    pack(b.data(), packed.data(), n);
    multiply(a.data(), packed.data(), c.data(), n, 0, n);  // Warms caches and clocks up.
    together.arrive_and_wait();
    const auto start = Stopwatch::now();
    const auto deadline = after(o.multiply_time);
    std::int64_t done = 0;
    do {
      multiply(a.data(), packed.data(), c.data(), n, 0, n);
      a[static_cast<std::size_t>(done) % a.size()] = c[0] * 1e-6F;  // So that none can be skipped.
      ++done;
    } while (Stopwatch::now() < deadline);
    products += done;
    together.arrive_and_wait();
    if (self == 0) elapsed = seconds_since(start);
  });
  score.gflops = 2.0 * n * n * n * static_cast<double>(products) / elapsed / 1e9;
}

// --- Memory -------------------------------------------------------------------------------------

// Elements of each of the three arrays: four times the largest cache, within what may be used.
std::size_t triad_elements(std::int64_t most_bytes) {
  const std::int64_t cache = std::max<std::int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), 0);
  const auto each = std::min(std::max<std::int64_t>(64 << 20, cache * 4 / 3), most_bytes / 3);
  return static_cast<std::size_t>(std::max<std::int64_t>(each, 1 << 20)) / sizeof(double);
}

void measure_triad(const ScoreOptions& o, Score& score) {
  const auto n = triad_elements(o.memory_bytes);
  const auto allocate = [&] {
    return std::unique_ptr<double[]>(new (std::nothrow) double[n]);  // Not touched yet.
  };
  const auto a = allocate(), b = allocate(), c = allocate();
  if (!a || !b || !c) {
    score.notes.emplace_back("there is not enough memory to measure memory");
    return;
  }
  bool more = true;  // Written by thread 0 between two barriers.
  const auto deadline = after(o.memory_time);
  on_threads(score.threads, [&](std::int32_t self, std::int32_t count, auto& together) {
    double* const x = a.get();
    double* const y = b.get();
    double* const z = c.get();
    const auto from = share(n, self, count), to = share(n, self + 1, count);
    // Who touches a page first has it near: each thread its own.
    for (auto i = from; i < to; ++i) x[i] = 0, y[i] = 1, z[i] = 2;
    while (true) {
      together.arrive_and_wait();
      const auto start = Stopwatch::now();
      for (auto i = from; i < to; ++i) x[i] = y[i] + 3.0 * z[i];
      together.arrive_and_wait();
      if (self == 0) {
        score.memory_gbs =
            std::max(score.memory_gbs, static_cast<double>(n) * 24 / seconds_since(start) / 1e9);
        more = Stopwatch::now() < deadline;
        CHECK(x[from] == 7);  // Reads the result, so that it is computed.
      }
      together.arrive_and_wait();
      if (!more) return;
    }
  });
}

// --- Disk ---------------------------------------------------------------------------------------

// A file without a name: gone when it is closed, however we end.
int open_nameless(const std::string& folder) {
  const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
  auto name = folder + "/.souk-score-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

struct Transfer {
  std::int64_t bytes = 0;
  double seconds = 0;
  int error = 0;
  [[nodiscard]] double mbs() const { return static_cast<double>(bytes) / seconds / 1e6; }
};

// Moves pieces until `most` bytes or the deadline; at least one.
template <class Move>
Transfer transfer(std::int64_t most, base::Duration time, Move&& move) {
  Transfer out;
  const auto start = Stopwatch::now();
  const auto deadline = after(time);
  do {
    if (!move(out.bytes)) {
      out.error = errno == 0 ? EIO : errno;
      break;
    }
    out.bytes += static_cast<std::int64_t>(kWrittenAtOnce);
  } while (out.bytes < most && Stopwatch::now() < deadline);
  out.seconds = std::max(seconds_since(start), 1e-9);
  return out;
}

void measure_disk(const ScoreOptions& o, Score& score, const std::function<void()>& half_done) {
  const auto note = [&](std::string_view what, int error) {
    score.notes.push_back(
        fmt::format("cannot {} a file in {}: {}", what, o.folder, std::strerror(error)));
  };
  const int fd = open_nameless(o.folder);
  if (fd < 0) return note("make", errno);
  // Noise, so that a file system that compresses has something to do.
  std::string piece(kWrittenAtOnce, '\0');
  base::Random random(1);
  for (std::size_t i = 0; i < piece.size(); i += 8) {
    const auto word = random.next();
    std::memcpy(piece.data() + i, &word, 8);
  }
  const auto time = std::min(o.disk_time, kMostDiskTime);
  const auto most = std::min(o.disk_bytes, kMostDiskBytes);
  const auto wrote = transfer(most, time * 2 / 3, [&](std::int64_t at) {
    errno = 0;
    return pwrite(fd, piece.data(), kWrittenAtOnce, at) == static_cast<ssize_t>(kWrittenAtOnce) &&
           fdatasync(fd) == 0;
  });
  if (wrote.error != 0)
    note("write", wrote.error);
  else
    score.disk_write_mbs = wrote.mbs();
  half_done();
  if (wrote.bytes > 0) {
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    const auto read = transfer(wrote.bytes, time / 3, [&](std::int64_t at) {
      errno = 0;
      return pread(fd, piece.data(), kWrittenAtOnce, at) == static_cast<ssize_t>(kWrittenAtOnce);
    });
    if (read.error != 0)
      note("read back", read.error);
    else
      score.disk_read_mbs = read.mbs();
  }
  close(fd);
}

}  // namespace

Score measure(const ScoreOptions& options) {
  const auto say = [&](std::string_view step, int percent) {
    if (options.progress) options.progress(step, percent);
  };
  Score out;
  out.threads = std::clamp(options.threads, 1, kMostScoreThreads);
  say("processor", 0);
  measure_gflops(options, out);
  say("memory", 35);
  measure_triad(options, out);
  say("disk", 60);
  measure_disk(options, out, [&] { say("disk", 85); });
  say("done", 100);
  return out;
}

}  // namespace souk::agent
