#include "journal/chain.h"

#include <array>
#include <cstring>

namespace souk::journal {

const base::Digest& root() {
  static const base::Digest digest = base::blake2b("souk journal 1");
  return digest;
}

base::Digest Link::operator()(const Batch& batch, const base::Digest& key) {
  std::array<char, 12> numbers{};
  for (std::size_t i = 0; i < 8; ++i) numbers[i] = static_cast<char>(batch.first >> 8 * i);
  for (std::size_t i = 0; i < 4; ++i) numbers[8 + i] = static_cast<char>(batch.count >> 8 * i);
  scratch_.assign(numbers.data(), numbers.size());
  scratch_ += batch.bytes;
  return base::blake2b(scratch_, key);
}

std::string_view view(const base::Digest& d) {
  return {reinterpret_cast<const char*>(d.bytes.data()), d.bytes.size()};
}

base::Digest to_digest(std::string_view bytes) {
  base::Digest d;  // Bytes of another length can never match: all zero stands for them.
  if (bytes.size() == d.bytes.size()) std::memcpy(d.bytes.data(), bytes.data(), bytes.size());
  return d;
}

}  // namespace souk::journal
