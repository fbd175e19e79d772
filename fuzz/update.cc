#include "train/update.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/target.h"
#include "train/validators/validator.h"

// An update of every codec. The first byte chooses the codec, the next two the size of the model;
// where the first is odd the header is made right and the rest follows it, else the rest is all of
// the body.
// What is accepted decodes to as many floats as the model has, whatever way it is read, and costs
// no more memory than they do. What we pack is accepted; without loss where the codec has none; and
// what is not finite never becomes a plain number.

namespace {

using namespace souk;

constexpr std::size_t kSizes[] = {0, 1, 4'095, 4'096, 4'097};

// Sizes around the places where something changes: none, a chunk, a block and one more.
std::size_t size_of(unsigned low, unsigned high) {
  if (high < std::size(kSizes)) return kSizes[high] + low;
  if (high == 255) return train::kBlock + low;
  return (high << 8) + low;
}

std::vector<float> decoded(const train::Update& update) {
  static std::vector<float> scratch(train::kBlock);
  std::vector<float> chunk(train::kChunk), out;
  for (std::size_t i = 0; i < update.count(); ++i) {
    const auto block = update.block(i, scratch);
    for (std::size_t from = 0; from < block.size(); from += train::kChunk) {
      const auto part = update.chunk(i, from, chunk);
      CHECK(std::memcmp(part.data(), block.data() + from, part.size_bytes()) == 0);
    }
    out.insert(out.end(), block.begin(), block.end());
  }
  return out;
}

void pack_again(const std::vector<float>& values, const train::Codec& codec) {
  std::vector<float> residual(codec.keeps_residual() ? values.size() : 0);
  const auto update =
      train::Update::read(train::pack(values, codec, residual), codec, values.size());
  CHECK(update.has_value());
  const auto again = decoded(*update);
  CHECK(again.size() == values.size());
  bool all = true, none = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!codec.lossy())
      CHECK(std::bit_cast<std::uint32_t>(values[i]) == std::bit_cast<std::uint32_t>(again[i]));
    all = all && std::isfinite(values[i]);
    none = none || !std::isfinite(again[i]);
  }
  if (!all) CHECK(none);
}

}  // namespace

SOUK_FUZZ(update, .input_bytes = 8192, .malloc_mb = 8) {
  const auto names = train::codec_names();
  const auto choice = fuzz::take_byte(input);
  const auto codec = *train::make_codec(names[choice / 2 % names.size()]);
  const auto low = fuzz::take_byte(input), high = fuzz::take_byte(input);
  const auto size = size_of(low, high);
  std::string body;
  if (choice % 2 == 1) {
    const auto form = fuzz::take_byte(input) % 3;  // As it is, compressed, by blocks.
    const std::uint32_t flags = form == 1 ? 1 : 0;
    const std::uint64_t floats = size;
    body.assign(24, '\0');
    std::memcpy(body.data(), form == 2 ? "SUP2" : "SUP1", 4);
    std::memcpy(body.data() + 4, &flags, sizeof flags);
    codec->name().copy(body.data() + 8, 8);
    std::memcpy(body.data() + 16, &floats, sizeof floats);
  }
  body += input;
  if (const auto update = train::Update::read(body, *codec, size)) {
    const auto values = decoded(*update);
    CHECK(values.size() == size && update->size() == size);
    (void)train::stats_of(*update);
    (void)train::direction_of(*update);
    pack_again(values, *codec);
  }
  std::vector<float> values(input.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), input.data(), values.size() * sizeof(float));
  pack_again(values, *codec);
}
