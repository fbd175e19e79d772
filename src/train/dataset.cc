#include "train/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/random.h"
#include "base/text.h"

namespace souk::train {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kCifarImage = 3'072;

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

// "\0\0\x08" and the number of dimensions, then each: 32 bits, big endian.
Result<std::vector<std::int64_t>> idx_head(std::string_view bytes, std::string_view what) {
  const auto bad = [&] {
    return fail(Code::invalid, fmt::format("the {} are not an idx file of bytes", what),
                "such a file begins with 00 00 08 and the number of dimensions");
  };
  if (bytes.size() < 4 || bytes.substr(0, 3) != std::string_view("\0\0\x08", 3)) return bad();
  const auto dimensions = static_cast<std::size_t>(bytes[3]);
  if (dimensions < 1 || dimensions > 4 || bytes.size() < 4 + 4 * dimensions) return bad();
  std::vector<std::int64_t> shape;
  std::size_t total = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    shape.push_back(big_endian(bytes, 4 + 4 * i));
    total *= static_cast<std::size_t>(shape.back());
    if (total == 0 || total > bytes.size()) return bad();
  }
  if (bytes.size() != 4 + 4 * dimensions + total) return bad();
  return shape;
}

}  // namespace

std::size_t Dataset::sample_bytes() const {
  std::size_t n = dtype == "F32" ? 4 : 1;
  for (const auto d : shape) n *= static_cast<std::size_t>(d);
  return n;
}

std::int64_t Dataset::samples() const {
  if (!amounts.empty()) return std::ssize(amounts);
  return y.empty() ? std::ssize(x) / static_cast<std::int64_t>(sample_bytes()) : std::ssize(y);
}

std::int64_t Dataset::classes() const {
  if (!amounts.empty()) return 0;
  if (y.empty()) return 256;
  return std::max<std::int64_t>(*std::ranges::max_element(y) + 1, std::ssize(names));
}

Dataset Dataset::pick(const std::vector<std::int64_t>& which) const {
  Dataset out{.dtype = dtype, .shape = shape, .names = names};
  const auto size = sample_bytes();
  out.x.reserve(which.size() * size);
  for (const auto i : which) {
    out.x.append(x, static_cast<std::size_t>(i) * size, size);
    if (!y.empty()) out.y.push_back(y[static_cast<std::size_t>(i)]);
    if (!amounts.empty()) out.amounts.push_back(amounts[static_cast<std::size_t>(i)]);
  }
  return out;
}

Result<Dataset> parse_idx(std::string_view images, std::string_view labels) {
  SOUK_ASSIGN(auto shape, idx_head(images, "images"));
  SOUK_ASSIGN(const auto count, idx_head(labels, "labels"));
  if (count.size() != 1 || shape.size() < 2)
    return fail(
        Code::invalid,
        fmt::format("the images have {} dimensions and the labels {}", shape.size(), count.size()),
        "give the images first, then the labels, which have one");
  if (count[0] != shape[0])
    return fail(Code::invalid, fmt::format("{} images and {} labels", shape[0], count[0]),
                "there is one label for each image");
  Dataset out;
  out.x = images.substr(4 + 4 * shape.size());
  for (const unsigned char label : labels.substr(8)) out.y.push_back(label);
  if (shape.size() == 3) shape.insert(shape.begin() + 1, 1);  // Grey: one channel.
  out.shape.assign(shape.begin() + 1, shape.end());
  return out;
}

Result<Dataset> parse_cifar10(std::string_view bytes) {
  if (bytes.empty() || bytes.size() % (kCifarImage + 1) != 0)
    return fail(Code::invalid,
                fmt::format("{} bytes are not CIFAR-10's binary format", bytes.size()),
                fmt::format("each image takes {} bytes", kCifarImage + 1));
  Dataset out{.shape = {3, 32, 32},
              .names = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse",
                        "ship", "truck"}};
  for (std::size_t at = 0; at < bytes.size(); at += kCifarImage + 1) {
    const auto label = static_cast<unsigned char>(bytes[at]);
    if (label > 9) return fail(Code::invalid, fmt::format("label {} is not 0 to 9", label));
    out.y.push_back(label);
    out.x += bytes.substr(at + 1, kCifarImage);
  }
  return out;
}

Scaling scaling_of(const Dataset& data) {
  CHECK(data.dtype == "F32");
  const auto width = data.sample_bytes() / sizeof(float);
  const auto rows = static_cast<double>(data.samples());
  std::vector<float> values(data.x.size() / sizeof(float));
  std::memcpy(values.data(), data.x.data(), data.x.size());
  Scaling out{std::vector<double>(width), std::vector<double>(width)};
  std::vector<bool> changes(width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.mean[i % width] += values[i] / rows;
    if (values[i] != values[i % width]) changes[i % width] = true;
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    out.deviation[i % width] += std::pow(values[i] - out.mean[i % width], 2) / rows;
  // A feature that never changes says nothing. Its mean is rounded, so its deviation would be tiny
  // rather than 0, and the first sample that differs would come out huge.
  for (std::size_t f = 0; f < width; ++f)
    out.deviation[f] = changes[f] ? std::sqrt(out.deviation[f]) : 1;
  return out;
}

AmountScaling amount_scaling_of(const Dataset& data) {
  CHECK(!data.amounts.empty());
  const auto n = static_cast<double>(data.amounts.size());
  AmountScaling out;
  for (const auto amount : data.amounts) out.mean += amount / n;
  double square = 0;
  for (const auto amount : data.amounts) square += std::pow(amount - out.mean, 2) / n;
  // Amounts that never change have nothing to be scaled by.
  const bool changes = std::ranges::any_of(
      data.amounts, [&](float amount) { return amount != data.amounts.front(); });
  out.deviation = changes && square > 0 ? std::sqrt(square) : 1;
  return out;
}

Dataset parse_text(std::string text) { return {.x = std::move(text)}; }

std::vector<Dataset> split(const Dataset& data, std::int32_t count, std::uint64_t seed) {
  const auto n = data.samples();
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  if (!data.is_text()) {
    base::Random random(seed);
    random.shuffle(order);
  }
  std::vector<Dataset> out;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto from = n * i / count, to = n * (i + 1) / count;
    if (from == to) continue;
    out.push_back(data.pick({order.begin() + from, order.begin() + to}));
  }
  return out;
}

}  // namespace souk::train
