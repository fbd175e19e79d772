#pragma once

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>

#include <cmath>
#include <string>

#include "parameters.h"

namespace souk::trainer {

// The layers models are made of. Each declares its tensors as `<name>.<tensor>` when constructed.

// Begins like PyTorch's: uniform within 1 / sqrt(inputs).
struct Linear {
  Linear(Parameters& parameters, const std::string& name, std::int64_t in, std::int64_t out)
      : weight(parameters.trained(name + ".weight", {out, in}, init(in))),
        bias(parameters.trained(name + ".bias", {out}, init(in))) {}

  at::Tensor operator()(const at::Tensor& x) const { return at::linear(x, weight, bias); }

  static Init init(std::int64_t in) {
    return {Init::Kind::uniform, 1 / std::sqrt(static_cast<double>(in))};
  }

  at::Tensor weight, bias;
};

// A convolution without bias, for layers that batch normalisation follows. Begins after He et al.
struct Convolution {
  Convolution(Parameters& parameters, const std::string& name, std::int64_t in, std::int64_t out,
              std::int64_t size, std::int64_t step)
      : weight(parameters.trained(name + ".weight", {out, in, size, size},
                                  {Init::Kind::normal, he(in * size * size)})),
        stride(step),
        padding(size / 2) {}

  at::Tensor operator()(const at::Tensor& x) const {
    return at::conv2d(x, weight, {}, stride, padding);
  }

  static double he(std::int64_t in) { return std::sqrt(2 / static_cast<double>(in)); }

  at::Tensor weight;
  std::int64_t stride, padding;
};

// How far a step of training moves the running statistics to those of its batch.
inline constexpr double kStatisticsStep = 0.1;

struct BatchNorm {
  BatchNorm(Parameters& parameters, const std::string& name, std::int64_t channels)
      : weight(parameters.trained(name + ".weight", {channels}, {Init::Kind::constant, 1})),
        bias(parameters.trained(name + ".bias", {channels}, {Init::Kind::constant, 0})),
        mean(parameters.state(name + ".running_mean", {channels}, 0)),
        variance(parameters.state(name + ".running_var", {channels}, 1)) {}

  at::Tensor operator()(const at::Tensor& x, bool training) const {
    // Folded from many machines, a variance may come out a little below zero.
    return at::batch_norm(x, weight, bias, mean, training ? variance : variance.clamp_min(0),
                          training, kStatisticsStep, 1e-5, false);
  }

  at::Tensor weight, bias, mean, variance;
};

struct LayerNorm {
  LayerNorm(Parameters& parameters, const std::string& name, std::int64_t width)
      : weight(parameters.trained(name + ".weight", {width}, {Init::Kind::constant, 1})),
        bias(parameters.trained(name + ".bias", {width}, {Init::Kind::constant, 0})) {}

  at::Tensor operator()(const at::Tensor& x) const {
    return at::layer_norm(x, weight.sizes(), weight, bias);
  }

  at::Tensor weight, bias;
};

}  // namespace souk::trainer
