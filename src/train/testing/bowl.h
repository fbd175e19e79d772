#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "train/testing/updates.h"

namespace souk::train::testing {

// A convex problem and workers of different speeds that train on it: each number has its own
// curvature, gradients are noisy, and a unit takes `steps` steps of plain SGD from the parameters
// that were current when it began. Time is counted in steps of the fastest worker.
struct Bowl {
  std::size_t size = 40;
  std::int32_t workers = 10;
  std::size_t units = 3000;
  std::size_t steps = 10;
  float lr = 0.02F;
  float noise = 0.05F;
  // Every fifth unit sends its change times this.
  float hostile = 1;
  std::uint64_t seed = 1;
  // Of the updates; each worker keeps what it leaves out.
  std::string codec = "fp32";
};

class Training {
 public:
  Training(const Bowl& bowl, const Aggregator& rule)
      : bowl_(bowl),
        rule_(rule),
        codec_(*make_codec(bowl.codec)),
        random_(bowl.seed),
        p_(parameters(std::vector<float>(bowl.size), rule)) {
    for (std::size_t i = 0; i < bowl.size; ++i) {
      target_.push_back(uniform(random_) + (i % 2 == 0 ? 1.F : -1.F));
      curvature_.push_back(0.2F + 0.8F * static_cast<float>(i) / static_cast<float>(bowl.size));
    }
  }

  // How far from the optimum it ends, relative to the beginning.
  double run() {
    const auto before = distance();
    struct Worker {
      double done = 0;
      std::vector<float> base;
      std::int64_t version = 0;
      std::vector<float> residual;
    };
    std::vector<Worker> all(static_cast<std::size_t>(bowl_.workers));
    if (codec_->keeps_residual())
      for (auto& w : all) w.residual.resize(bowl_.size);
    const auto begin = [&](Worker& w, std::size_t k, double now) {
      w = {now + (k % 3 == 0   ? 1
                  : k % 3 == 1 ? 2
                               : 4) *
                     (1 + 0.1 * static_cast<double>(k)),
           values_of(p_), p_.version(), std::move(w.residual)};
    };
    for (std::size_t k = 0; k < all.size(); ++k) begin(all[k], k, 0);
    std::vector<Update> waiting;
    for (std::size_t unit = 0; unit < bowl_.units; ++unit) {
      std::size_t next = 0;
      for (std::size_t k = 1; k < all.size(); ++k)
        if (all[k].done < all[next].done) next = k;
      auto& w = all[next];
      // Where workers wait for each other, all begin from the parameters of the last fold.
      if (rule_.needs().synchronous) {
        w.base = values_of(p_);
        w.version = p_.version();
      }
      waiting.push_back(train(w.base, p_.version() - w.version, unit, w.residual));
      if (waiting.size() >= rule_.needs().arity) {
        rule_.fold(p_, waiting);
        waiting.clear();
      }
      begin(w, next, w.done);
    }
    return distance() / before;
  }

  const Parameters& parameters_now() const { return p_; }

 private:
  [[nodiscard]] double distance() const {
    double sum = 0;
    const auto w = values_of(p_);
    for (std::size_t i = 0; i < w.size(); ++i)
      sum += std::pow(static_cast<double>(w[i] - target_[i]), 2);
    return std::sqrt(sum);
  }

  Update train(const std::vector<float>& base, std::int64_t staleness, std::size_t unit,
               std::vector<float>& residual) {
    auto w = base;
    for (std::size_t s = 0; s < bowl_.steps; ++s)
      for (std::size_t i = 0; i < w.size(); ++i)
        w[i] -= bowl_.lr * (curvature_[i] * (w[i] - target_[i]) + bowl_.noise * normal(random_));
    const auto by = unit % 5 == 4 ? bowl_.hostile : 1;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const auto change = by * (w[i] - base[i]);
      w[i] = rule_.needs().sends == Sends::delta ? change : base[i] + change;
    }
    auto out = *Update::read(pack(w, *codec_, residual), *codec_, w.size());
    out.staleness = staleness;
    out.epoch = static_cast<std::int32_t>(1 + unit / 100);
    out.base = blocks_of(base);
    return out;
  }

  Bowl bowl_;
  const Aggregator& rule_;
  std::unique_ptr<Codec> codec_;
  base::Random random_;
  Parameters p_;
  std::vector<float> target_, curvature_;
};

}  // namespace souk::train::testing
