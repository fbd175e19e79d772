#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "safetensors.h"

namespace souk::trainer {

// How a tensor begins: at `value` everywhere, or drawn from (-value, value), or from a normal
// distribution around 0 with the deviation `value`.
struct Init {
  enum class Kind { constant, uniform, normal } kind = Kind::constant;
  double value = 0;
};

// All tensors of a model, in one stretch of memory: what is trained first, then state that is
// averaged along with it. So reading and writing a file is one copy, and an optimiser's step three
// operations, whatever the number of layers. A model declares its tensors, then allocate() is
// called once, and from then on the handles it was given are views of that memory.
class Parameters {
 public:
  at::Tensor trained(const std::string& name, const Shape& shape, Init init);
  at::Tensor state(const std::string& name, const Shape& shape, double value);
  void allocate();

  // The rest is for after allocate().

  // In the order of memory, and how many of them, from the front, are trained.
  const std::vector<NamedShape>& shapes() const { return shapes_; }
  std::size_t trained_count() const { return trained_count_; }
  // The same values for the same seed.
  void initialise(std::uint64_t seed);
  // Takes all tensors from the file, which must hold exactly these. Throws Error and changes
  // nothing otherwise.
  void load(const std::string& path);
  // Writes all(), or its change since `base`, which is laid out like it.
  void save(const std::string& path) const;
  void save_change(const std::string& path, const at::Tensor& base) const;

  at::Tensor& all() { return all_; }
  // The trained part of all(), and what backward() adds to: the caller clears it.
  at::Tensor& trained() { return trained_; }
  at::Tensor& gradient() { return gradient_; }

 private:
  struct Entry {
    std::string name;
    Shape shape;
    Init init;
    at::Tensor tensor;
  };

  std::vector<Entry> entries_;  // What is trained; after allocate() state follows.
  std::vector<Entry> states_;
  std::vector<NamedShape> shapes_;
  std::size_t trained_count_ = 0;
  std::string header_;
  at::Tensor all_, trained_, gradient_;
};

}  // namespace souk::trainer
