#include "agent/image/inflate.h"

#include <zlib.h>
#include <zstd.h>

#include <string>
#include <vector>

#include "base/check.h"

namespace souk::agent {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kUnpackedAtOnce = 256 * 1024;
constexpr int kWindowLog = 27;  // 128 MiB: what zstd -19 --long needs at most.
constexpr std::string_view kGzip("\x1f\x8b", 2), kZstd("\x28\xb5\x2f\xfd", 4);

base::Failure damaged_layer(std::string what) {
  return fail(Code::invalid, "a layer cannot be unpacked: " + std::move(what));
}

}  // namespace

class Inflater::Way {
 public:
  virtual ~Way() = default;
  virtual Result<> add(std::string_view bytes, const OnPiece& on_piece) = 0;
  virtual bool whole() const { return true; }
};

namespace {

class Plain final : public Inflater::Way {
 public:
  Result<> add(std::string_view bytes, const Inflater::OnPiece& on_piece) override {
    return on_piece(bytes);
  }
};

class Gzip final : public Inflater::Way {
 public:
  Gzip() { CHECK(inflateInit2(&stream_, 15 + 16) == Z_OK); }
  ~Gzip() override { inflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  Result<> add(std::string_view bytes, const Inflater::OnPiece& on_piece) override {
    // zlib changes nothing there; its type is older than const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      if (whole_) {  // One gzip may follow another.
        if (stream_.avail_in == 0) break;
        CHECK(inflateReset(&stream_) == Z_OK);
        whole_ = false;
      }
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      const int said = inflate(&stream_, Z_NO_FLUSH);
      if (said != Z_OK && said != Z_STREAM_END && said != Z_BUF_ERROR)
        return damaged_layer(stream_.msg != nullptr ? stream_.msg : "gzip");
      SOUK_TRY(on_piece({out_.data(), out_.size() - stream_.avail_out}));
      whole_ = said == Z_STREAM_END;
    } while (stream_.avail_in > 0 || stream_.avail_out == 0);
    return {};
  }
  bool whole() const override { return whole_; }

 private:
  z_stream stream_{};
  std::vector<char> out_ = std::vector<char>(kUnpackedAtOnce);
  bool whole_ = false;
};

class Zstd final : public Inflater::Way {
 public:
  Zstd() : stream_(ZSTD_createDStream()) {
    CHECK(stream_ != nullptr);
    CHECK(ZSTD_isError(ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kWindowLog)) == 0);
  }
  ~Zstd() override { ZSTD_freeDStream(stream_); }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  Result<> add(std::string_view bytes, const Inflater::OnPiece& on_piece) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer out{};
    do {
      out = {out_.data(), out_.size(), 0};
      const auto left = ZSTD_decompressStream(stream_, &out, &in);
      if (ZSTD_isError(left) != 0) return damaged_layer(ZSTD_getErrorName(left));
      SOUK_TRY(on_piece({out_.data(), out.pos}));
      whole_ = left == 0;
    } while (in.pos < in.size || out.pos == out.size);
    return {};
  }
  bool whole() const override { return whole_; }

 private:
  ZSTD_DStream* stream_;
  std::vector<char> out_ = std::vector<char>(kUnpackedAtOnce);
  bool whole_ = false;
};

std::unique_ptr<Inflater::Way> way_for(std::string_view first) {
  if (first.starts_with(kGzip)) return std::make_unique<Gzip>();
  if (first.starts_with(kZstd)) return std::make_unique<Zstd>();
  return std::make_unique<Plain>();
}

}  // namespace

Inflater::Inflater(OnPiece on_piece) : on_piece_(std::move(on_piece)) {}
Inflater::~Inflater() = default;

Result<> Inflater::add(std::string_view bytes) {
  if (way_) return way_->add(bytes, on_piece_);
  first_ += bytes;
  if (first_.size() < kZstd.size()) return {};
  way_ = way_for(first_);
  return way_->add(std::exchange(first_, {}), on_piece_);
}

Result<> Inflater::end() const {
  if (!way_ && first_.empty()) return {};  // An empty tar.
  return way_ && way_->whole() ? Result<>() : damaged_layer("it ends too early");
}

}  // namespace souk::agent
