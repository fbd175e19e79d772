#include "optimizer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

namespace souk::trainer {
namespace {

constexpr double kSquareDecay = 0.999;
constexpr double kLeastScale = 1e-8;
constexpr double kWarmUpSteps = 10;

void sgd(const Config& config, double lr, Moments& moments, at::Tensor& trained,
         at::Tensor& gradient) {
  if (config.weight_decay > 0) gradient.add_(trained, config.weight_decay);
  moments.mean.mul_(config.momentum).add_(gradient);
  trained.add_(moments.mean, -lr);
}

// Kingma and Ba, arXiv 1412.6980, with the decay apart from the gradient (arXiv 1711.05101).
void adam(const Config& config, double lr, Moments& moments, at::Tensor& trained,
          const at::Tensor& gradient) {
  if (!moments.square.defined()) moments.square = at::zeros_like(gradient);
  moments.mean.mul_(config.momentum).add_(gradient, 1 - config.momentum);
  moments.square.mul_(kSquareDecay).addcmul_(gradient, gradient, 1 - kSquareDecay);
  const auto t = static_cast<double>(moments.steps);
  const double mean_seen = 1 - std::pow(config.momentum, t);
  const double square_seen = 1 - std::pow(kSquareDecay, t);
  const at::Tensor scale = moments.square.sqrt().div_(std::sqrt(square_seen)).add_(kLeastScale);
  if (config.weight_decay > 0) trained.mul_(1 - lr * config.weight_decay);
  trained.addcdiv_(moments.mean, scale, -lr / mean_seen);
}

}  // namespace

void step(const Config& config, double lr, bool warm_up, Moments& moments, at::Tensor& trained,
          at::Tensor& gradient) {
  if (!moments.mean.defined()) moments.mean = at::zeros_like(gradient);
  ++moments.steps;
  if (config.optimizer == Optimizer::sgd) return sgd(config, lr, moments, trained, gradient);
  const double share = static_cast<double>(moments.steps) / kWarmUpSteps;
  adam(config, warm_up ? lr * std::min(1.0, share) : lr, moments, trained, gradient);
}

}  // namespace souk::trainer
