#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "train/codecs/makers.h"

namespace souk::train {
namespace {

// The floats as they are, four bytes each: nothing is lost and nothing is copied.
class Fp32 final : public Codec {
 public:
  std::string_view name() const override { return "fp32"; }
  bool lossy() const override { return false; }
  bool keeps_residual() const override { return false; }

  void encode(std::span<const float> values, std::span<float> /*residual*/,
              std::string& out) const override {
    out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }

  base::Result<> check(std::string_view bytes, std::size_t size) const override {
    if (bytes.size() != size * sizeof(float)) return not_a_block(bytes, size);
    return {};
  }

  void decode_chunk(std::string_view bytes, std::size_t /*size*/, std::size_t from,
                    std::span<float> out) const override {
    std::memcpy(out.data(), bytes.data() + from * sizeof(float), out.size_bytes());
  }

  std::span<const float> view(std::string_view bytes) const override {
    CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(float) == 0);
    return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
  }
};

}  // namespace

std::unique_ptr<Codec> make_fp32(const base::Arguments& /*given*/) {
  return std::make_unique<Fp32>();
}

}  // namespace souk::train
