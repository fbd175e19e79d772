#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "lab/worlds/train_sim.h"

namespace souk::lab::testing {

// Softmax regression on clouds of points around the corners of a polygon, one class each: the
// smallest thing that learns. Every shard is drawn from its number.
class Blobs final : public Learner {
 public:
  static constexpr std::size_t kClasses = 4, kFeatures = 3;  // The last one is always 1.
  static constexpr std::int64_t kSamples = 400, kChecked = 200;
  static constexpr std::int32_t kBatch = 10;

  base::Result<std::vector<float>> init(std::int64_t) override {
    return std::vector<float>(kClasses * kFeatures);
  }

  base::Result<Trained> train(std::span<const float> base, const train::Unit& unit,
                              train::Sends send, double /*state_scale*/,
                              const std::string& /*memory*/) override {
    std::vector<float> w(base.begin(), base.end());
    base::Random random(static_cast<std::uint64_t>(unit.seed));
    Trained out;
    for (std::int64_t step = 0; step < unit.first_step + unit.steps; ++step)
      for (std::int32_t i = 0; i < kBatch; ++i) {
        const auto point = draw(random);
        if (step < unit.first_step) continue;
        const auto chances = softmax(w, point);
        out.loss -= std::log(chances[point.label]);
        ++out.samples;
        for (std::size_t c = 0; c < kClasses; ++c)
          for (std::size_t f = 0; f < kFeatures; ++f)
            w[c * kFeatures + f] -= static_cast<float>(unit.lr / kBatch) *
                                    (chances[c] - (c == point.label ? 1.F : 0.F)) * point.x[f];
      }
    out.loss /= static_cast<double>(std::max<std::int64_t>(out.samples, 1));
    if (send == train::Sends::delta)
      for (std::size_t i = 0; i < w.size(); ++i) w[i] -= base[i];
    out.values = std::move(w);
    return out;
  }

  base::Result<Evaluated> evaluate(std::span<const float> values, std::int32_t shard) override {
    base::Random random(static_cast<std::uint64_t>(shard) + 99);
    Evaluated out{.samples = kChecked};
    for (std::int64_t i = 0; i < kChecked; ++i) {
      const auto point = draw(random);
      const auto chances = softmax(values, point);
      out.loss -= std::log(chances[point.label]) / kChecked;
      const auto best = std::ranges::max_element(chances) - chances.begin();
      if (static_cast<std::size_t>(best) == point.label) out.accuracy += 1.0 / kChecked;
    }
    return out;
  }

 private:
  struct Point {
    std::array<float, kFeatures> x;
    std::size_t label;
  };

  static float noise(base::Random& random) {
    return static_cast<float>(random.between(-1000, 1000)) / 1000;
  }

  static Point draw(base::Random& random) {
    const auto label = random.below(kClasses);
    const auto angle = static_cast<float>(label) * 6.2831853F / kClasses;
    return {{std::cos(angle) + noise(random), std::sin(angle) + noise(random), 1}, label};
  }

  static std::array<float, kClasses> softmax(std::span<const float> w, const Point& p) {
    std::array<float, kClasses> out{};
    float sum = 0;
    for (std::size_t c = 0; c < kClasses; ++c) {
      for (std::size_t f = 0; f < kFeatures; ++f) out[c] += w[c * kFeatures + f] * p.x[f];
      sum += out[c] = std::exp(out[c]);
    }
    for (auto& chance : out) chance /= sum;
    return out;
  }
};

// Six machines, three epochs of four shards.
inline SimConfig small(const std::string& rule) {
  SimConfig out{.rule = {.name = rule, .workers = 6}};
  out.plan.shards.assign(4, Blobs::kSamples);
  out.plan.validation.assign(1, Blobs::kChecked);
  out.plan.epochs = 3;
  out.plan.batch = Blobs::kBatch;
  out.plan.local_steps = 4;
  out.plan.validations = 2;
  out.plan.lr = out.plan.lr_end = 0.1;
  out.fleet.speeds = {1, 0.5, 0.25};
  out.fleet.step = base::milliseconds(50);
  return out;
}

}  // namespace souk::lab::testing
