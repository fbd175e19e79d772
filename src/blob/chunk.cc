#include "blob/chunk.h"

#include <fmt/format.h>
#include <zstd.h>

#include <memory>

#include "base/check.h"

namespace souk::blob {
namespace {

constexpr char kRaw = 0;
constexpr char kZstd = 1;
// Higher levels cost more time than they save on any network faster than 100 Mbit/s.
constexpr int kLevel = 1;
constexpr std::size_t kSampleBytes = 64 << 10;

struct FreeContext {
  void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
  void operator()(ZSTD_DCtx* c) const { ZSTD_freeDCtx(c); }
};

// Does it save at least a sixteenth? Less is not worth the work of everyone who reads it.
bool worth_it(std::size_t content, std::size_t compressed) {
  return compressed + content / 16 < content;
}

// Compresses behind the tag byte; 0 when it failed, which is only ever a reason to keep it raw.
std::size_t compress(std::string_view content, Bytes& out) {
  // One per thread: making a context costs as much as compressing a small chunk.
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  if (!context) return 0;
  out.resize(1 + ZSTD_compressBound(content.size()));
  const auto size = ZSTD_compressCCtx(context.get(), out.data() + 1, out.size() - 1, content.data(),
                                      content.size(), kLevel);
  return ZSTD_isError(size) ? 0 : size;
}

// Weights and archives do not compress, and a piece from the middle (headers at the start do) tells
// that for a sixtieth of the work.
bool looks_compressible(std::string_view content, Bytes& scratch) {
  if (content.size() < 4 * kSampleBytes) return true;
  const auto sample = content.substr(content.size() / 2, kSampleBytes);
  const auto size = compress(sample, scratch);
  return size != 0 && worth_it(sample.size(), size);
}

base::Failure damaged(const Digest& name, std::string_view what) {
  return base::fail(base::Code::damaged,
                    fmt::format("chunk {} is damaged: {}", to_string(name), what),
                    "fetch or pack it again");
}

Result<Bytes> decompress(std::string_view frame, const Digest& name) {
  const auto size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
    return damaged(name, "not a zstd frame that states its size");
  if (size > kChunkBytes)  // Before anything is allocated: this may be a bomb.
    return damaged(name, fmt::format("it claims {} bytes of content; at most {} are accepted", size,
                                     kChunkBytes));
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size())
    return damaged(name, "it is cut short, or bytes follow its zstd frame");
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (!context) return base::fail(base::Code::exhausted, "no memory to decompress a chunk");
  Bytes content(size, '\0');
  const auto got = ZSTD_decompressDCtx(context.get(), content.data(), content.size(), frame.data(),
                                       frame.size());
  if (ZSTD_isError(got)) return damaged(name, ZSTD_getErrorName(got));
  if (got != size) return damaged(name, "it holds less than it claims");
  return content;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Bytes encode(std::string_view content) {
  CHECK(content.size() <= kChunkBytes);
  Bytes out;
  if (looks_compressible(content, out)) {
    const auto size = compress(content, out);
    if (size != 0 && worth_it(content.size(), size)) {
      out[0] = kZstd;
      out.resize(1 + size);
      return out;
    }
  }
  out.assign(1, kRaw);
  out += content;
  return out;
}

Result<Bytes> decode(std::string_view encoded, const Digest& name) {
  if (encoded.empty()) return damaged(name, "it is empty, without even a tag");
  if (encoded.size() > kMostEncodedBytes)
    return damaged(name, fmt::format("it has {} bytes; at most {} are accepted", encoded.size(),
                                     kMostEncodedBytes));
  const auto body = encoded.substr(1);
  Bytes content;
  if (encoded[0] == kRaw) {
    content = body;
  } else if (encoded[0] == kZstd) {
    SOUK_ASSIGN(content, decompress(body, name));
  } else {
    return damaged(name, fmt::format("its tag is {}; 0 (raw) and 1 (zstd) are known",
                                     static_cast<unsigned char>(encoded[0])));
  }
  if (const auto is = name_of(content); is != name)
    return damaged(name, fmt::format("its content is that of {}", to_string(is)));
  return content;
}

Result<Digest> parse_digest(std::string_view hex) {
  Digest out;
  const auto refuse = [&] {
    return base::fail(base::Code::invalid,
                      fmt::format("'{}' is not the name of content", hex.substr(0, 80)),
                      "64 lower-case hex digits");
  };
  if (hex.size() != 2 * out.bytes.size()) return refuse();
  for (std::size_t i = 0; i < out.bytes.size(); ++i) {
    const int high = hex_value(hex[2 * i]), low = hex_value(hex[2 * i + 1]);
    if (high < 0 || low < 0) return refuse();
    out.bytes[i] = static_cast<unsigned char>(high << 4 | low);
  }
  return out;
}

}  // namespace souk::blob
