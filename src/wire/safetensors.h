#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// The file format of parameters, updates and shards: 8 bytes with the length of the header, the
// header (JSON: name -> dtype, shape, data_offsets), then the tensors. Little endian.

namespace souk::wire {

struct SafeTensor {
  std::string name;
  std::string dtype;  // F32, U8, I64
  std::vector<std::int64_t> shape;
  std::size_t begin = 0, end = 0;  // In the data.
  [[nodiscard]] std::int64_t count() const;
  bool operator==(const SafeTensor&) const = default;
};

struct SafeTensors {
  std::vector<SafeTensor> tensors;  // In the order of their data.
  std::size_t data = 0;             // Where it begins in the file.

  [[nodiscard]] const SafeTensor* find(std::string_view name) const;
};

// Of a file of these bytes, or of its beginning if `file_size` says how long it is. Refuses offsets
// outside it, gaps, overlaps, and shapes that do not fit their data.
[[nodiscard]] base::Result<SafeTensors> read_safetensors(std::string_view bytes,
                                                         std::size_t file_size);
// Length and header for tensors that follow each other in this order; begin and end are set here.
[[nodiscard]] std::string safetensors_head(std::vector<SafeTensor> tensors);

}  // namespace souk::wire
