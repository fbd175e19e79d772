#include "base/blake3.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

// After the BLAKE3 paper (O'Connor, Aumasson, Neves, Wilcox-O'Hearn, 2020): the input is cut into
// chunks of 1 KiB, each a chain of 16 blocks; the chunks are the leaves of a binary tree in which
// every left subtree is complete. All leaves are independent, so N of them are computed side by
// side, one in each lane of N-wide vectors; so are N parents.

namespace souk::base {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

#define SOUK_INLINE [[gnu::always_inline]] static inline

constexpr std::size_t kBlock = 64;
constexpr std::size_t kChunk = 1024;
constexpr std::size_t kGroupChunks = 128;  // A complete subtree that fits into the fastest cache.

constexpr std::uint32_t kChunkStart = 1, kChunkEnd = 2, kParent = 4, kRoot = 8;

constexpr std::array<std::uint32_t, 8> kStart = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr std::size_t kRounds = 7;

// Which word of the message goes where in each round: the permutation, applied again and again.
constexpr auto kSchedule = [] {
  constexpr std::array<std::uint8_t, 16> permutation = {2, 6,  3,  10, 7, 0,  4,  13,
                                                        1, 11, 12, 5,  9, 14, 15, 8};
  std::array<std::array<std::uint8_t, 16>, kRounds> out{};
  for (std::uint8_t i = 0; i < 16; ++i) out[0][i] = i;
  for (std::size_t r = 1; r < kRounds; ++r)
    for (std::size_t i = 0; i < 16; ++i) out[r][i] = out[r - 1][permutation[i]];
  return out;
}();

struct Value {  // Of a node of the tree.
  std::array<std::uint32_t, 8> words;
};
static_assert(sizeof(Value) == 32);

// The compression function on words, or on vectors of the words of several messages.
template <class V>
struct Compression {
  SOUK_INLINE void mix(V& a, V& b, V& c, V& d, const V& x, const V& y) {
    a = a + b + x;
    d = d ^ a;
    d = d >> 16 | d << 16;
    c = c + d;
    b = b ^ c;
    b = b >> 12 | b << 20;
    a = a + b + y;
    d = d ^ a;
    d = d >> 8 | d << 24;
    c = c + d;
    b = b ^ c;
    b = b >> 7 | b << 25;
  }

  template <std::size_t R>
  SOUK_INLINE void round(V (&v)[16], const V (&m)[16]) {
    constexpr auto& s = kSchedule[R];
    mix(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
    mix(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
    mix(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
    mix(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
    mix(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
    mix(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
    mix(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
    mix(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
  }

  SOUK_INLINE void run(V (&h)[8], const V (&m)[16], const V& low, const V& high,
                       std::uint32_t bytes, std::uint32_t flags) {
    V v[16] = {h[0],
               h[1],
               h[2],
               h[3],
               h[4],
               h[5],
               h[6],
               h[7],
               V{} + kStart[0],
               V{} + kStart[1],
               V{} + kStart[2],
               V{} + kStart[3],
               low,
               high,
               V{} + bytes,
               V{} + flags};
    [&]<std::size_t... R>(std::index_sequence<R...>) __attribute__((always_inline)) {
      (round<R>(v, m), ...);
    }(std::make_index_sequence<kRounds>());
    for (int i = 0; i < 8; ++i) h[i] = v[i] ^ v[i + 8];
  }
};

// One message at a time.

void compress(Value& h, const unsigned char* block, std::uint64_t counter, std::uint32_t bytes,
              std::uint32_t flags) {
  std::uint32_t words[16], value[8];
  std::memcpy(words, block, kBlock);
  std::memcpy(value, h.words.data(), sizeof value);
  Compression<std::uint32_t>::run(value, words, static_cast<std::uint32_t>(counter),
                                  static_cast<std::uint32_t>(counter >> 32), bytes, flags);
  std::memcpy(h.words.data(), value, sizeof value);
}

// Of at most kChunk bytes. `root`: kRoot when there is no other chunk.
Value chunk_value(const unsigned char* in, std::size_t size, std::uint64_t counter,
                  std::uint32_t root) {
  Value h{kStart};
  std::uint32_t flags = kChunkStart;
  for (; size > kBlock; in += kBlock, size -= kBlock, flags = 0)
    compress(h, in, counter, kBlock, flags);
  unsigned char last[kBlock] = {};
  if (size > 0) std::memcpy(last, in, size);
  compress(h, last, counter, static_cast<std::uint32_t>(size), flags | kChunkEnd | root);
  return h;
}

Value parent_value(const Value* children, std::uint32_t root) {
  Value h{kStart};
  compress(h, reinterpret_cast<const unsigned char*>(children), 0, kBlock, kParent | root);
  return h;
}

// N messages at a time. All of it is inlined into functions that are compiled for a processor with
// such vectors; vectors are never passed by value, as that would depend on the processor.
template <int N>
struct Lanes {
  typedef std::uint32_t V __attribute__((vector_size(4 * N)));

  template <int From>
  SOUK_INLINE void zip(V& out, const V& a, const V& b) {
    [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      out = __builtin_shufflevector(a, b, (From + I / 2 + (I % 2) * N)...);
    }(std::make_integer_sequence<int, N>());
  }

  // Rows become columns: log2(N) times, the first half is interleaved with the second.
  SOUK_INLINE void transpose(V* rows) {
    for (int step = 1; step < N; step *= 2) {
      V next[N];
      for (int i = 0; i < N / 2; ++i) {
        zip<0>(next[2 * i], rows[i], rows[i + N / 2]);
        zip<N / 2>(next[2 * i + 1], rows[i], rows[i + N / 2]);
      }
      for (int i = 0; i < N; ++i) rows[i] = next[i];
    }
  }

  // The words of N blocks that lie `stride` bytes apart.
  SOUK_INLINE void load(const unsigned char* in, std::size_t stride, V (&m)[16]) {
    for (int part = 0; part < 16 / N; ++part) {
      V* const rows = m + part * N;
      for (int lane = 0; lane < N; ++lane)
        std::memcpy(&rows[lane], in + static_cast<std::size_t>(lane) * stride + part * sizeof(V),
                    sizeof(V));
      transpose(rows);
    }
  }

  SOUK_INLINE void store(const V (&h)[8], Value* out) {
    for (int lane = 0; lane < N; ++lane)
      for (std::size_t i = 0; i < 8; ++i) out[lane].words[i] = h[i][lane];
  }

  SOUK_INLINE void chunks(const unsigned char* in, std::uint64_t counter, Value* out) {
    V h[8], m[16], low{}, high{};
    for (std::size_t i = 0; i < 8; ++i) h[i] = V{} + kStart[i];
    for (int lane = 0; lane < N; ++lane) {
      const auto number = counter + static_cast<std::uint64_t>(lane);
      low[lane] = static_cast<std::uint32_t>(number);
      high[lane] = static_cast<std::uint32_t>(number >> 32);
    }
    constexpr std::size_t blocks = kChunk / kBlock;
    for (std::size_t b = 0; b < blocks; ++b) {
      load(in + b * kBlock, kChunk, m);
      const auto flags = (b == 0 ? kChunkStart : 0) | (b == blocks - 1 ? kChunkEnd : 0);
      Compression<V>::run(h, m, low, high, kBlock, flags);
    }
    store(h, out);
  }

  SOUK_INLINE void parents(const Value* children, Value* out) {
    V h[8], m[16];
    const V none{};
    for (std::size_t i = 0; i < 8; ++i) h[i] = V{} + kStart[i];
    load(reinterpret_cast<const unsigned char*>(children), kBlock, m);
    Compression<V>::run(h, m, none, none, kBlock, kParent);
    store(h, out);
  }
};

struct Kernel {
  std::size_t lanes;
  void (*chunks)(const unsigned char* in, std::uint64_t counter, Value* out);
  void (*parents)(const Value* children, Value* out);
};

#define SOUK_KERNEL(name, lanes, ...)                                                          \
  __VA_ARGS__ void name##_chunks(const unsigned char* in, std::uint64_t counter, Value* out) { \
    Lanes<lanes>::chunks(in, counter, out);                                                    \
  }                                                                                            \
  __VA_ARGS__ void name##_parents(const Value* children, Value* out) {                         \
    Lanes<lanes>::parents(children, out);                                                      \
  }                                                                                            \
  constexpr Kernel name = {lanes, &name##_chunks, &name##_parents};

SOUK_KERNEL(kFour, 4, )
#if defined(__x86_64__)
SOUK_KERNEL(kSse, 4, __attribute__((target("sse4.1"))))
SOUK_KERNEL(kAvx2, 8, __attribute__((target("avx2"))))
SOUK_KERNEL(kAvx512, 16, __attribute__((target("avx512f"))))
#endif

// Widest first; after the last, one at a time.
std::vector<Kernel> kernels_here(int most_lanes) {
  std::vector<Kernel> out;
#if defined(__x86_64__)
  if (most_lanes >= 16 && __builtin_cpu_supports("avx512f")) out.push_back(kAvx512);
  if (most_lanes >= 8 && __builtin_cpu_supports("avx2")) out.push_back(kAvx2);
  if (most_lanes >= 4) out.push_back(__builtin_cpu_supports("sse4.1") ? kSse : kFour);
#else
  if (most_lanes >= 4) out.push_back(kFour);
#endif
  return out;
}

// The value of the subtree over `size` bytes, more than one chunk's and at most a group's.
class Hasher {
 public:
  explicit Hasher(const std::vector<Kernel>& kernels) : kernels_(kernels) {}

  [[nodiscard]] Value all(const unsigned char* in, std::size_t size) const {
    if (size <= kChunk) return chunk_value(in, size, 0, kRoot);
    constexpr std::size_t group = kGroupChunks * kChunk;
    if (size <= group) return subtree(in, size, 0, kRoot);
    std::vector<Value> values;
    values.reserve(size / group + 1);
    for (std::size_t at = 0; at < size; at += group)
      values.push_back(subtree(in + at, std::min(group, size - at), at / kChunk, 0));
    return join(values.data(), values.size(), kRoot);
  }

 private:
  Value subtree(const unsigned char* in, std::size_t size, std::uint64_t counter,
                std::uint32_t root) const {
    Value values[kGroupChunks];
    std::size_t count = 0;
    for (const auto& kernel : kernels_)
      for (; size >= kernel.lanes * kChunk; size -= kernel.lanes * kChunk, count += kernel.lanes)
        kernel.chunks(in + count * kChunk, counter + count, values + count);
    for (std::size_t bytes = 0; size > 0; size -= bytes, ++count) {
      bytes = std::min(size, kChunk);
      values[count] = chunk_value(in + count * kChunk, bytes, counter + count, 0);
    }
    return join(values, count, root);
  }

  // Level by level, in place; what has no partner goes up as it is.
  Value join(Value* values, std::size_t count, std::uint32_t root) const {
    while (count > 2) {
      std::size_t done = 0;
      for (const auto& kernel : kernels_)
        for (; count / 2 - done >= kernel.lanes; done += kernel.lanes)
          kernel.parents(values + 2 * done, values + done);
      for (; done < count / 2; ++done) values[done] = parent_value(values + 2 * done, 0);
      if (count % 2 != 0) values[done++] = values[count - 1];
      count = done;
    }
    return count == 1 ? values[0] : parent_value(values, root);
  }

  const std::vector<Kernel>& kernels_;
};

Digest hashed(std::string_view data, const std::vector<Kernel>& kernels) {
  const auto value =
      Hasher(kernels).all(reinterpret_cast<const unsigned char*>(data.data()), data.size());
  Digest out;
  static_assert(sizeof out.bytes == sizeof value.words);
  std::memcpy(out.bytes.data(), value.words.data(), sizeof value.words);
  return out;
}

}  // namespace

Digest blake3(std::string_view data) {
  static const auto kernels = kernels_here(16);
  return hashed(data, kernels);
}

Digest blake3(std::string_view data, int most_lanes) {
  return hashed(data, kernels_here(most_lanes));
}

}  // namespace souk::base
