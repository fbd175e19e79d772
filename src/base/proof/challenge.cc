#include "base/proof/challenge.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <fstream>
#include <numeric>
#include <string>
#include <utility>

#include "base/random.h"
#include "base/threads.h"

namespace souk::base {
namespace {

constexpr std::size_t kMostLanes = 4096;
constexpr std::uint64_t kWordsPerPage = kPageBytes / 8;
constexpr std::uint64_t kPagesPerMib = (1 << 20) / kPageBytes;

// These are part of what all machines must agree on.
constexpr std::uint64_t kA = 0x9e3779b97f4a7c15ULL, kB = 0xbf58476d1ce4e5b9ULL,
                        kC = 0x94d049bb133111ebULL;

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

std::uint64_t first_word(std::uint64_t seed, std::uint64_t page) {
  return Random(seed ^ page * kA).next() | 1;
}

constexpr std::uint64_t next_word(std::uint64_t x) {
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x * kB;
}

// The pages of a group, in an order that only `reads` tells.
template <class At>
std::uint64_t fold_group(std::int64_t mib, std::uint64_t reads, std::int32_t group,
                         std::int32_t cores, At at) {
  Random places(reads ^ (static_cast<std::uint64_t>(group) + 1) * kC);
  const auto pages = static_cast<std::uint64_t>(mib) * kPagesPerMib;
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < kReadsOfCore * cores; ++i)
    sum = std::rotl(sum, 7) + at(places.below(pages));
  return sum;
}

}  // namespace

std::uint64_t lane(std::uint64_t seed, std::int64_t steps) {
  std::array<std::uint64_t, 1024> table;
  Random random(seed);
  for (auto& entry : table) entry = random.next();
  auto a = table[0], b = table[1], c = table[2];
  for (std::int64_t i = 0; i < steps; ++i) {
    const auto x = a * kA + table[b & 1023];
    const auto y = b * kB + table[c >> 54];
    const auto z = c * kC + table[(a >> 32) & 1023];
    a = x ^ (y >> 29);
    b = y ^ (z >> 31);
    c = z ^ std::rotl(x, 23);
  }
  return a ^ b ^ c;
}

Result<LaneResults> lanes(std::span<const std::uint64_t> seeds, std::int64_t steps) {
  if (seeds.empty() || seeds.size() > kMostLanes)
    return fail(Code::invalid, fmt::format("a challenge of {} lanes", seeds.size()),
                fmt::format("1 to {}", kMostLanes), "seeds");
  if (steps < 1 || steps > kMostLaneSteps)
    return fail(Code::invalid, fmt::format("a challenge of {} steps", steps),
                fmt::format("1 to {}", kMostLaneSteps), "steps");
  LaneResults out{.results = std::vector<std::uint64_t>(seeds.size())};
  std::vector<double> ran(seeds.size());
  using Clock = std::chrono::steady_clock;
  const auto threads = static_cast<std::int32_t>(seeds.size());
  const auto used = on_threads(threads, [&](std::int32_t self, std::int32_t count, auto& together) {
    together.arrive_and_wait();
    const auto start = Clock::now();
    const auto cpu = thread_seconds();
    const auto last = share(seeds.size(), self + 1, count);
    for (auto i = share(seeds.size(), self, count); i < last; ++i)
      out.results[i] = lane(seeds[i], steps);
    const auto took = std::chrono::duration<double>(Clock::now() - start).count();
    ran[static_cast<std::size_t>(self)] = took > 0 ? (thread_seconds() - cpu) / took : 1;
  });
  out.cpu_share = std::accumulate(ran.begin(), ran.end(), 0.0) / used;
  return out;
}

std::uint64_t pattern_at(std::uint64_t seed, std::uint64_t page) {
  auto word = first_word(seed, page);
  for (std::uint64_t i = 1; i < kWordsPerPage; ++i) word = next_word(word);
  return word;
}

std::uint64_t group_of(std::uint64_t seed, std::int64_t mib, std::uint64_t reads,
                       std::int32_t group, std::int32_t cores) {
  return fold_group(mib, reads, group, cores,
                    [&](std::uint64_t page) { return pattern_at(seed, page); });
}

std::int64_t available_mib() {
  std::ifstream in("/proc/meminfo");
  for (std::string name, rest; in >> name && std::getline(in, rest);)
    if (name == "MemAvailable:") return std::stoll(rest) >> 10;
  return -1;
}

Result<PatternMemory> PatternMemory::fill(std::uint64_t seed, std::int64_t mib,
                                          std::int32_t threads) {
  const auto available = available_mib();
  if (mib < 1 || (available >= 0 && mib > available))
    return fail(
        Code::exhausted,
        fmt::format("{} MiB of memory were asked for, {} MiB are available", mib, available),
        "lend less with --memory, or end what uses it");
  const auto bytes = static_cast<std::size_t>(mib) << 20;
  auto* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    return fail(Code::exhausted, fmt::format("{} MiB of memory are not to be had", mib),
                "lend less with --memory");
  PatternMemory out(static_cast<std::uint64_t*>(at), mib);
  const auto pages = static_cast<std::size_t>(mib) * kPagesPerMib;
  on_threads(std::max(1, threads), [&](std::int32_t self, std::int32_t count, auto&) {
    for (auto page = share(pages, self, count); page < share(pages, self + 1, count); ++page) {
      auto* words = out.words_ + page * kWordsPerPage;
      words[0] = first_word(seed, page);
      for (std::uint64_t i = 1; i < kWordsPerPage; ++i) words[i] = next_word(words[i - 1]);
    }
  });
  return out;
}

PatternMemory::PatternMemory(PatternMemory&& other) noexcept
    : words_(std::exchange(other.words_, nullptr)), mib_(other.mib_) {}

PatternMemory& PatternMemory::operator=(PatternMemory&& other) noexcept {
  std::swap(words_, other.words_);
  std::swap(mib_, other.mib_);
  return *this;
}

PatternMemory::~PatternMemory() {
  if (words_ != nullptr) ::munmap(words_, static_cast<std::size_t>(mib_) << 20);
}

std::vector<std::uint64_t> PatternMemory::read(std::uint64_t reads, std::int32_t cores) const {
  std::vector<std::uint64_t> out(kGroups);
  on_threads(std::max(1, cores), [&](std::int32_t self, std::int32_t count, auto&) {
    for (auto g = share(kGroups, self, count); g < share(kGroups, self + 1, count); ++g)
      out[g] = fold_group(
          mib_, reads, static_cast<std::int32_t>(g), cores,
          [&](std::uint64_t page) { return words_[page * kWordsPerPage + kWordsPerPage - 1]; });
  });
  return out;
}

}  // namespace souk::base
