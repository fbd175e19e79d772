#pragma once

#include <cstddef>
#include <span>
#include <string_view>

// Matrix products in plain loops. Matrices are square, row by row, and padded with zeros to `n`, a
// multiple of kPad. Stateless; any thread.

namespace souk::base {

inline constexpr std::size_t kPad = 32;

// B in the order in which the products read it; `packed` has n x n elements.
void pack(const float* b, float* packed, std::size_t n);

// C = A x B for the rows [first, last) of C, multiples of 4.
void multiply(const float* a, const float* packed, float* c, std::size_t n, std::size_t first,
              std::size_t last);

// The same loops compiled for one vector width.
struct Kernel {
  std::string_view name;
  void (*real)(const float*, const float*, float*, std::size_t, std::size_t, std::size_t);
};
// Those that this processor can run, the fastest last: that is the one multiply() takes.
std::span<const Kernel> kernels();

}  // namespace souk::base
