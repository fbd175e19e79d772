#include <array>
#include <cstdint>

#include "train/codecs/half.h"
#include "train/codecs/makers.h"

namespace souk::train {
namespace {

// Half-precision floats, two bytes each. A value between 2^-14 and 65504 in size is off by at most
// one part in 2048, a smaller one by at most 2^-25; a larger one becomes 65504. It keeps no
// residual: what is lost is far below the noise of a batch.
class Fp16 final : public Codec {
 public:
  std::string_view name() const override { return "fp16"; }
  bool lossy() const override { return true; }
  bool keeps_residual() const override { return false; }

  void encode(std::span<const float> values, std::span<float> /*residual*/,
              std::string& out) const override {
    std::array<std::uint16_t, kChunk> halves;
    for (std::size_t from = 0; from < values.size(); from += kChunk) {
      const auto part = values.subspan(from, std::min(kChunk, values.size() - from));
      to_half(part, halves.data());
      out.append(reinterpret_cast<const char*>(halves.data()), 2 * part.size());
    }
  }

  base::Result<> check(std::string_view bytes, std::size_t size) const override {
    if (bytes.size() != 2 * size) return not_a_block(bytes, size);
    return {};
  }

  void decode_chunk(std::string_view bytes, std::size_t /*size*/, std::size_t from,
                    std::span<float> out) const override {
    from_half(bytes.data() + 2 * from, out);
  }
};

}  // namespace

std::unique_ptr<Codec> make_fp16(const base::Arguments& /*given*/) {
  return std::make_unique<Fp16>();
}

}  // namespace souk::train
