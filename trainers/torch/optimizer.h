#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "config.h"

namespace souk::trainer {

// What an optimiser remembers from step to step: the momentum of SGD, or Adam's two moments.
// Begins at zero. Lies on the worker and never travels.
struct Moments {
  at::Tensor mean;
  at::Tensor square;  // Adam's alone.
  std::int64_t steps = 0;
};

// Moves `trained` one step against `gradient`, which it may change. `warm_up`: Adam's first steps
// with fresh moments are shorter, because the scale they divide by is known from few gradients.
void step(const Config& config, double lr, bool warm_up, Moments& moments, at::Tensor& trained,
          at::Tensor& gradient);

}  // namespace souk::trainer
