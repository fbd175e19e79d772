#include "wire/safetensors.h"

#include <set>

#include "fuzz/target.h"

// A safetensors file: of a program's parameters, an update, a shard. Tensors that are accepted fill
// the data without gaps, and a head that is made of them is read the same.

using namespace souk;

SOUK_FUZZ(safetensors, .input_bytes = 4096, .malloc_mb = 4) {
  const auto read = wire::read_safetensors(input, input.size());
  if (!read) return;
  std::size_t at = 0;
  for (const auto& tensor : read->tensors) {
    CHECK(tensor.begin == at && tensor.end >= tensor.begin);
    CHECK(tensor.count() >= 0);
    at = tensor.end;
    CHECK(read->find(tensor.name) != nullptr);
  }
  CHECK(read->data + at == input.size());
  const auto head = wire::safetensors_head(read->tensors);
  const auto again = wire::read_safetensors(head, head.size() + at);
  CHECK(again.has_value() && again->tensors.size() == read->tensors.size());
  // Of tensors without data the order is free.
  std::set<std::string> names;
  for (const auto& tensor : again->tensors) names.insert(tensor.name);
  CHECK(names.size() == read->tensors.size());
}
