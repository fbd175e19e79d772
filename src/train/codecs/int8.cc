#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "train/codecs/makers.h"
#include "train/lanes.h"

namespace souk::train {
namespace {

constexpr std::size_t kRun = 1024;  // Values that share a scale.
static_assert(kChunk % kRun == 0);
constexpr std::size_t kRunBytes = sizeof(float) + kRun;

float largest(std::span<const float> values) {
  float most = 0;
  for (const auto v : values) most = std::max(most, std::abs(v));  // Passes over what is no number.
  return most;
}

bool all_finite(std::span<const float> values) {
  float sum = 0;
  for (const auto v : values) sum += v * 0;  // 0, or no number from the first such value on.
  return sum == 0;
}

// One byte a value: runs of 1024 values, each with its own scale s = max|v| / 127 before its bytes,
// and v as round(v / s). A value is off by at most half of s: 1/254 of the largest of its run, and
// zero stays zero. A codebook over mu +- 6 sigma has steps of 12 sigma / 255 and cuts off what lies
// outside; the largest of 1024 normal values is near 3.2 sigma, so here steps are about half as
// wide and nothing is cut off. It keeps no residual (the error is 1% of a typical change, and
// without one it can carry weights too, and a client's death loses nothing). A run with a value
// that is not finite comes back as no numbers; one with none above 1.5e-36 in size, as zeros.
class Int8 final : public Codec {
 public:
  std::string_view name() const override { return "int8"; }
  bool lossy() const override { return true; }
  bool keeps_residual() const override { return false; }

  void encode(std::span<const float> values, std::span<float> /*residual*/,
              std::string& out) const override {
    for (std::size_t from = 0; from < values.size(); from += kRun)
      encode_run(values.subspan(from, std::min(kRun, values.size() - from)), out);
  }

  base::Result<> check(std::string_view bytes, std::size_t size) const override {
    if (bytes.size() != size + (size + kRun - 1) / kRun * sizeof(float))
      return not_a_block(bytes, size);
    return {};
  }

  void decode_chunk(std::string_view bytes, std::size_t /*size*/, std::size_t from,
                    std::span<float> out) const override {
    const auto* run = bytes.data() + from / kRun * kRunBytes;
    for (std::size_t at = 0; at < out.size(); at += kRun, run += kRunBytes) {
      float scale = 0;
      std::memcpy(&scale, run, sizeof scale);
      scale_up(reinterpret_cast<const std::int8_t*>(run + sizeof scale), scale, out.data() + at,
               std::min(kRun, out.size() - at));
    }
  }

 private:
  static void encode_run(std::span<const float> values, std::string& out) {
    auto scale = largest(values) / 127;
    // Below this its inverse would not be a number; such changes are nothing.
    if (scale < std::numeric_limits<float>::min()) scale = 0;
    if (!all_finite(values)) scale = std::numeric_limits<float>::quiet_NaN();
    const auto at = out.size();
    out.resize(at + sizeof scale + values.size());
    std::memcpy(out.data() + at, &scale, sizeof scale);
    if (!(scale > 0)) {
      std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(at + sizeof scale), values.size(), 0);
      return;
    }
    const auto inverse = 1 / scale;
    auto* to = out.data() + at + sizeof scale;
    for (std::size_t i = 0; i < values.size(); ++i) {
      // The conversion cuts off, so the half rounds to the nearest; 127.5 cannot be reached.
      const auto steps = std::clamp(values[i] * inverse, -127.F, 127.F);
      to[i] = static_cast<char>(static_cast<int>(steps + std::copysign(0.5F, steps)));
    }
  }
};

}  // namespace

std::unique_ptr<Codec> make_int8(const base::Arguments& /*given*/) {
  return std::make_unique<Int8>();
}

}  // namespace souk::train
