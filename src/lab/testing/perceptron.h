#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "lab/worlds/train_sim.h"

namespace souk::lab::testing {

// A hidden layer over points in the corners of a cube, where two numbers decide and the others say
// nothing: alike or not, as XOR, and one in twenty is labelled wrongly. It begins near zero, so
// that it rests on a plateau and leaves it all at once, as large models do. Its optimiser keeps
// state between units. Every shard is drawn from its number.
class Perceptron final : public Learner {
 public:
  enum class Optimizer { sgd, momentum, adam };
  static constexpr std::size_t kInputs = 12, kHidden = 24;
  static constexpr std::size_t kSize = kHidden * (kInputs + 2) + 1;
  static constexpr std::int64_t kSamples = 640, kChecked = 200;
  static constexpr std::int32_t kBatch = 16;

  explicit Perceptron(Optimizer optimizer) : optimizer_(optimizer) {}

  base::Result<std::vector<float>> init(std::int64_t seed) override {
    base::Random random(static_cast<std::uint64_t>(seed));
    std::vector<float> w(kSize);
    for (auto& x : w) x = static_cast<float>(random.between(-1000, 1000)) * 1e-4F;
    return w;
  }

  base::Result<Trained> train(std::span<const float> base, const train::Unit& unit,
                              train::Sends send, double /*state_scale*/,
                              const std::string& memory) override {
    std::vector<float> w(base.begin(), base.end());
    base::Random random(static_cast<std::uint64_t>(unit.seed));
    Memory fresh;
    auto& state = memory.empty() ? fresh : memories_[memory];
    const auto parts = std::clamp(unit.parts, 1, kBatch);
    Trained out;
    for (std::int64_t step = 0; step < unit.first_step + unit.steps; ++step)
      for (int part = 0; part < parts; ++part) {
        std::array<float, kSize> gradient{};
        const auto count = kBatch / parts;
        for (int i = 0; i < count; ++i) {
          const auto point = draw(random);
          if (step < unit.first_step) continue;
          out.loss += add_gradient(w, point, gradient, static_cast<float>(count));
          ++out.samples;
        }
        if (step >= unit.first_step) change(w, gradient, static_cast<float>(unit.lr), state);
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
      std::array<float, kSize> unused{};
      const auto loss = add_gradient(values, point, unused, 1);
      out.loss += loss / kChecked;
      if (loss < std::log(2.0)) out.accuracy += 1.0 / kChecked;
    }
    return out;
  }

 private:
  struct Memory {
    std::array<float, kSize> first{}, second{};
    int steps = 0;
  };
  struct Point {
    std::array<float, kInputs> x;
    float label;  // 0 or 1
  };

  static Point draw(base::Random& random) {
    Point out{};
    for (auto& x : out.x) x = random.below(2) == 0 ? -1.F : 1.F;
    out.label = (out.x[0] * out.x[1] > 0) != (random.below(20) == 0) ? 1.F : 0.F;
    return out;
  }

  // Of the loss of one point among `count`; returns that loss.
  static double add_gradient(std::span<const float> w, const Point& p,
                             std::array<float, kSize>& gradient, float count) {
    std::array<float, kHidden> hidden{};
    float z = w[kSize - 1];
    for (std::size_t h = 0; h < kHidden; ++h) {
      const auto* in = &w[h * (kInputs + 2)];
      float sum = in[kInputs];
      for (std::size_t i = 0; i < kInputs; ++i) sum += in[i] * p.x[i];
      hidden[h] = std::tanh(sum);
      z += in[kInputs + 1] * hidden[h];
    }
    const auto chance = 1 / (1 + std::exp(-z));
    const auto error = (chance - p.label) / count;
    gradient[kSize - 1] += error;
    for (std::size_t h = 0; h < kHidden; ++h) {
      const auto* in = &w[h * (kInputs + 2)];
      auto* out = &gradient[h * (kInputs + 2)];
      const auto back = error * in[kInputs + 1] * (1 - hidden[h] * hidden[h]);
      for (std::size_t i = 0; i < kInputs; ++i) out[i] += back * p.x[i];
      out[kInputs] += back;
      out[kInputs + 1] += error * hidden[h];
    }
    return -std::log(std::max(1e-7F, p.label > 0 ? chance : 1 - chance));
  }

  void change(std::vector<float>& w, const std::array<float, kSize>& g, float lr, Memory& m) const {
    ++m.steps;
    const auto of_first = 1 - std::pow(0.9F, static_cast<float>(m.steps));
    const auto of_second = 1 - std::pow(0.999F, static_cast<float>(m.steps));
    for (std::size_t i = 0; i < kSize; ++i) switch (optimizer_) {
        case Optimizer::sgd:
          w[i] -= lr * g[i];
          break;
        case Optimizer::momentum:
          m.first[i] = 0.9F * m.first[i] + g[i];
          w[i] -= lr * m.first[i];
          break;
        case Optimizer::adam:
          m.first[i] = 0.9F * m.first[i] + 0.1F * g[i];
          m.second[i] = 0.999F * m.second[i] + 0.001F * g[i] * g[i];
          w[i] -= lr * m.first[i] / of_first / (std::sqrt(m.second[i] / of_second) + 1e-8F);
      }
  }

  const Optimizer optimizer_;
  std::map<std::string, Memory> memories_;
};

}  // namespace souk::lab::testing
