#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace souk::trainer {

using Shape = std::vector<std::int64_t>;

// "[6, 1, 5, 5]"
std::string to_string(const Shape& shape);

// Number of elements. Requires that it fits, which reading a file has checked.
std::int64_t count(const Shape& shape);

// One tensor of a file. `data` is not aligned: copy it out before using it as numbers.
struct TensorView {
  std::string dtype;  // "F32", "U8", "I64", ...
  Shape shape;
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
};

// A safetensors file. The views live as long as this object.
// https://github.com/huggingface/safetensors
class TensorFile {
 public:
  // Both throw Error on anything that is not a well-formed file: a header out of bounds, tensors
  // that overlap the end, sizes that do not match shape and dtype, unknown dtypes.

  // Into memory, whole: it may outlast the file.
  static TensorFile read(const std::string& path);
  // Where it lies. For as long as a request is under way: as soon as it is answered the agent may
  // overwrite the file.
  static TensorFile map(const std::string& path);

  // Throws Error when there is no such tensor.
  const TensorView& at(const std::string& name) const;
  const std::map<std::string, TensorView>& tensors() const { return tensors_; }

 private:
  void parse(std::size_t bytes);

  std::string path_;
  // Gives back the memory in the way it was had.
  std::unique_ptr<std::byte[], std::function<void(std::byte*)>> contents_;
  std::map<std::string, TensorView> tensors_;
};

struct NamedShape {
  std::string name;
  Shape shape;
};

// The length and header of a file that holds F32 tensors of these shapes in this order.
std::string f32_header(const std::vector<NamedShape>& tensors);

// Writes `header` and the tensors that follow it to the file at `path`, which is made if there is
// none. fill(values) writes the tensors in place, into the memory that the agent reads: what was
// there before is overwritten.
void write_f32(const std::string& path, const std::string& header, std::size_t values_count,
               const std::function<void(float* values)>& fill);

}  // namespace souk::trainer
