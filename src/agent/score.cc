#include "agent/score.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "agent/score_multiply.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"

namespace souk::agent {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int32_t kMostThreads = 1024;
constexpr std::size_t kScoreSize = 384;
constexpr std::size_t kPiece = 8 << 20;  // Of the file: what one fdatasync may have to write.
constexpr std::int64_t kMostDiskBytes = 256 << 20;
constexpr base::Duration kMostDiskTime = base::seconds(2);

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
Clock::time_point after(base::Duration d) { return Clock::now() + std::chrono::microseconds(d.us); }

// Runs work(self, count, together) on `threads` threads, or as many as the system gives; `together`
// is a barrier of all `count` of them. Returns count.
template <class Work>
std::int32_t on_threads(std::int32_t threads, Work&& work) {
  std::atomic<std::int32_t> count = 0;
  std::optional<std::barrier<>> together;
  std::vector<std::jthread> running;
  try {
    for (std::int32_t i = 1; i < threads; ++i)
      running.emplace_back([&, i] {
        count.wait(0);
        work(i, count.load(), *together);
      });
  } catch (const std::system_error&) {  // A limit on processes: less is done at once.
  }
  const auto all = static_cast<std::int32_t>(running.size()) + 1;
  together.emplace(all);
  count = all;
  count.notify_all();
  work(0, all, *together);
  return all;
}

// Where the part of thread `self` of `count` begins, of `n` things.
std::size_t share(std::size_t n, std::int32_t self, std::int32_t count) {
  return n * static_cast<std::size_t>(self) / static_cast<std::size_t>(count);
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
    const auto start = Clock::now();
    const auto deadline = after(o.multiply_time);
    std::int64_t done = 0;
    do {
      multiply(a.data(), packed.data(), c.data(), n, 0, n);
      a[static_cast<std::size_t>(done) % a.size()] = c[0] * 1e-6F;  // So that none can be skipped.
      ++done;
    } while (Clock::now() < deadline);
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
      const auto start = Clock::now();
      for (auto i = from; i < to; ++i) x[i] = y[i] + 3.0 * z[i];
      together.arrive_and_wait();
      if (self == 0) {
        score.memory_gbs =
            std::max(score.memory_gbs, static_cast<double>(n) * 24 / seconds_since(start) / 1e9);
        more = Clock::now() < deadline;
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
  const auto start = Clock::now();
  const auto deadline = after(time);
  do {
    if (!move(out.bytes)) {
      out.error = errno == 0 ? EIO : errno;
      break;
    }
    out.bytes += static_cast<std::int64_t>(kPiece);
  } while (out.bytes < most && Clock::now() < deadline);
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
  std::string piece(kPiece, '\0');
  base::Random random(1);
  for (std::size_t i = 0; i < piece.size(); i += 8) {
    const auto word = random.next();
    std::memcpy(piece.data() + i, &word, 8);
  }
  const auto time = std::min(o.disk_time, kMostDiskTime);
  const auto most = std::min(o.disk_bytes, kMostDiskBytes);
  const auto wrote = transfer(most, time * 2 / 3, [&](std::int64_t at) {
    errno = 0;
    return pwrite(fd, piece.data(), kPiece, at) == static_cast<ssize_t>(kPiece) &&
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
      return pread(fd, piece.data(), kPiece, at) == static_cast<ssize_t>(kPiece);
    });
    if (read.error != 0)
      note("read back", read.error);
    else
      score.disk_read_mbs = read.mbs();
  }
  close(fd);
}

// --- Challenge ----------------------------------------------------------------------------------

using Matrix = std::vector<std::uint32_t>;

Matrix random_matrix(base::Random& random, std::size_t size, std::size_t padded) {
  Matrix out(padded * padded);
  for (std::size_t row = 0; row < size; ++row)
    for (std::size_t column = 0; column < size; ++column)
      out[row * padded + column] = static_cast<std::uint32_t>(random.next() >> 32);
  return out;
}

// One to one, and not linear modulo 2^32. Part of what all machines must agree on.
std::uint32_t mixed(std::uint32_t x, std::uint32_t round) {
  x ^= round * 0x9e3779b9U;
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  return x;
}

std::string checksum(const Matrix& m, std::size_t size, std::size_t padded) {
  static_assert(std::endian::native == std::endian::little);
  base::Bytes bytes;
  bytes.reserve(size * size * 4);
  for (std::size_t row = 0; row < size; ++row)
    bytes.append(reinterpret_cast<const char*>(&m[row * padded]), size * 4);
  return base::to_string(base::blake2b(bytes));
}

}  // namespace

Score measure(const ScoreOptions& options) {
  const auto say = [&](std::string_view step, int percent) {
    if (options.progress) options.progress(step, percent);
  };
  Score out;
  out.threads = std::clamp(options.threads, 1, kMostThreads);
  say("processor", 0);
  measure_gflops(options, out);
  say("memory", 35);
  measure_triad(options, out);
  say("disk", 60);
  measure_disk(options, out, [&] { say("disk", 85); });
  say("done", 100);
  return out;
}

base::Result<Answer> answer(const Challenge& challenge, std::int32_t threads) {
  const auto size = challenge.size, rounds = challenge.rounds;
  if (size < 1 || size > kMostChallengeSize)
    return base::fail(base::Code::invalid, fmt::format("a challenge of size {}", size),
                      fmt::format("1 to {}", kMostChallengeSize), "size");
  const auto most = kMostChallengeWork / (std::int64_t{size} * size * size);
  if (rounds < 1 || rounds > most)
    return base::fail(base::Code::invalid,
                      fmt::format("a challenge of {} rounds of size {}", rounds, size),
                      fmt::format("1 to {} rounds of that size", most), "rounds");

  const auto n = static_cast<std::size_t>(size);
  const auto padded = (n + kPad - 1) / kPad * kPad;
  base::Random random(challenge.seed);
  auto a = random_matrix(random, n, padded);
  const auto b = random_matrix(random, n, padded);
  Matrix packed(b.size()), c(b.size());
  threads = std::clamp(threads, 1, std::min(kMostThreads, static_cast<std::int32_t>(padded / 4)));

  const auto start = Clock::now();
  pack(b.data(), packed.data(), padded);
  for (std::int32_t round = 0; round < rounds; ++round) {
    on_threads(threads, [&](std::int32_t self, std::int32_t count, auto&) {
      const auto first = share(padded / 4, self, count) * 4;
      const auto last = share(padded / 4, self + 1, count) * 4;
      multiply(a.data(), packed.data(), c.data(), padded, first, last);
      // Not the padding: it must stay zero.
      for (auto r = first; r < std::min(last, n); ++r)
        for (std::size_t j = 0; j < n; ++j)
          c[r * padded + j] = mixed(c[r * padded + j], static_cast<std::uint32_t>(round));
    });
    std::swap(a, c);
  }
  const auto seconds = seconds_since(start);
  return Answer{checksum(a, n, padded), seconds};
}

}  // namespace souk::agent
