#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "train/aggregators/aggregator.h"
#include "train/codecs/codec.h"
#include "train/update.h"

namespace souk::train::testing {

inline const Codec& fp32() {
  static const auto codec = *make_codec("fp32");
  return *codec;
}

struct About {
  double weight = 1;
  std::int64_t staleness = 0;
  std::int32_t epoch = 1;
  std::vector<float> base = {};
};

inline Update update(const std::vector<float>& values, const About& about = {}) {
  auto out = *Update::read(pack(values, fp32(), {}), fp32(), values.size());
  out.weight = about.weight;
  out.staleness = about.staleness;
  out.epoch = about.epoch;
  if (!about.base.empty()) out.base = blocks_of(about.base);
  return out;
}

inline std::unique_ptr<Aggregator> rule(std::string name, AggregatorParams params = {},
                                        std::int32_t workers = 1) {
  return *make_aggregator({std::move(name), std::move(params), workers});
}

// At version 0, with the planes that `rule` keeps.
inline Parameters parameters(const std::vector<float>& values, const Aggregator& rule) {
  Parameters p(values.size(), rule.needs().planes);
  const std::vector<float> zeros(values.size());
  p.load(blocks_of(values), std::vector<Blocks>(p.planes(), blocks_of(zeros)), 0);
  return p;
}

inline std::vector<float> values_of(const Parameters& p) {
  std::vector<float> out(p.size());
  copy_out(p.blocks(), out);
  return out;
}

// Folds `updates` into `from` at once.
inline std::vector<float> folded(const Aggregator& rule, const std::vector<float>& from,
                                 const std::vector<Update>& updates) {
  auto p = parameters(from, rule);
  rule.fold(p, updates);
  return values_of(p);
}

// What arrives of `values`; `residual` gets what `codec` leaves out.
inline std::vector<float> through(const Codec& codec, const std::vector<float>& values,
                                  std::vector<float>& residual) {
  std::string bytes;
  codec.encode(values, residual, bytes);
  std::vector<float> out(values.size());
  EXPECT_TRUE(codec.decode(bytes, out));
  return out;
}

// 0, 1, 2, ...
inline std::vector<float> counting(std::size_t size) {
  std::vector<float> out(size);
  std::iota(out.begin(), out.end(), 0.F);
  return out;
}

// Uniform in [-1, 1).
inline float uniform(base::Random& random) {
  return static_cast<float>(static_cast<double>(random.next() >> 11) * 0x1p-52 - 1);
}

// Near enough to normal, with variance 1.
inline float normal(base::Random& random) {
  float sum = 0;
  for (int i = 0; i < 12; ++i) sum += uniform(random);
  return sum / 2;
}

inline std::vector<float> noise(std::size_t size, std::uint64_t seed, float scale = 1) {
  base::Random random(seed);
  std::vector<float> out(size);
  for (auto& v : out) v = scale * normal(random);
  return out;
}

}  // namespace souk::train::testing
