#include "blob/chunk.h"

#include <fmt/format.h>
#include <zstd.h>

#include <memory>

#include "base/check.h"

namespace souk::blob {
namespace {

// The bits of a tag.
constexpr char kZstd = 1;
constexpr char kBlake3 = 2;
constexpr char kKnownBits = kZstd | kBlake3;
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

// Compresses into `out`; 0 when it failed, which is only ever a reason to keep it raw.
std::size_t compress(std::string_view content, Bytes& out) {
  // One per thread: making a context costs as much as compressing a small chunk.
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  if (!context) return 0;
  const auto most = ZSTD_compressBound(content.size());
  if (out.size() < most) out.resize_and_overwrite(most, [](char*, std::size_t n) { return n; });
  const auto size = ZSTD_compressCCtx(context.get(), out.data(), out.size(), content.data(),
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
  Bytes content;
  // Not what it hands in: libstdc++ 12 gives the capacity.
  content.resize_and_overwrite(size, [=](char*, std::size_t) { return size; });
  const auto got = ZSTD_decompressDCtx(context.get(), content.data(), content.size(), frame.data(),
                                       frame.size());
  if (ZSTD_isError(got)) return damaged(name, ZSTD_getErrorName(got));
  if (got != size) return damaged(name, "it holds less than it claims");
  return content;
}

// Whether `content` is what `name` names by the hash that `tag` says.
Result<> check_name(char tag, std::string_view content, const Digest& name) {
  const auto is = tag & kBlake3 ? name_of(content) : base::blake2b(content);
  if (is == name) return {};
  return damaged(name, fmt::format("its content is that of {}", to_string(is)));
}

Result<> check_tag(char tag, const Digest& name) {
  if ((tag & ~kKnownBits) == 0) return {};
  return damaged(name, fmt::format("its tag is {}; 0 to {} are known",
                                   static_cast<unsigned char>(tag), static_cast<int>(kKnownBits)));
}

Result<> check_length(std::size_t encoded_bytes, const Digest& name) {
  if (encoded_bytes == 0) return damaged(name, "it is empty, without even a tag");
  if (encoded_bytes <= kMostEncodedBytes) return {};
  return damaged(name, fmt::format("it has {} bytes; at most {} are accepted", encoded_bytes,
                                   kMostEncodedBytes));
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Encoded encode(std::string_view content, Bytes& scratch) {
  CHECK(content.size() <= kChunkBytes);
  if (looks_compressible(content, scratch)) {
    const auto size = compress(content, scratch);
    if (size != 0 && worth_it(content.size(), size))
      return {kBlake3 | kZstd, std::string_view(scratch).substr(0, size)};
  }
  return {kBlake3, content};
}

Bytes encode(std::string_view content) {
  Bytes scratch;
  const auto encoded = encode(content, scratch);
  Bytes out;
  out.reserve(1 + encoded.body.size());
  out += encoded.tag;
  return out += encoded.body;
}

Result<Bytes> decode(char tag, Bytes body, const Digest& name) {
  SOUK_TRY(check_length(1 + body.size(), name));
  SOUK_TRY(check_tag(tag, name));
  if (tag & kZstd) {
    SOUK_ASSIGN(body, decompress(body, name));
  }
  SOUK_TRY(check_name(tag, body, name));
  return body;
}

Result<Bytes> decode(std::string_view encoded, const Digest& name) {
  SOUK_TRY(check_length(encoded.size(), name));
  return decode(encoded[0], Bytes(encoded.substr(1)), name);
}

Result<> verify(std::string_view encoded, const Digest& name) {
  SOUK_TRY(check_length(encoded.size(), name));
  const auto tag = encoded[0];
  SOUK_TRY(check_tag(tag, name));
  const auto body = encoded.substr(1);
  if ((tag & kZstd) == 0) return check_name(tag, body, name);
  SOUK_ASSIGN(const auto content, decompress(body, name));
  return check_name(tag, content, name);
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
