#include "train/pull.h"

#include <algorithm>
#include <cstring>

namespace souk::train {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kHead = 3 * sizeof(std::uint64_t);

std::size_t indices_bytes(std::size_t count) { return (count * sizeof(std::uint32_t) + 7) / 8 * 8; }

std::size_t length_of(std::size_t i, std::size_t size) {
  return std::min(kBlock, size - i * kBlock);
}

}  // namespace

std::size_t ParameterSnapshot::size() const {
  return blocks.empty() ? 0 : (blocks.size() - 1) * kBlock + blocks.back()->size();
}

ParameterSnapshot take(const Parameters& parameters) {
  ParameterSnapshot out{.blocks = parameters.blocks(), .version = parameters.version()};
  for (std::size_t i = 0; i < parameters.count(); ++i)
    out.versions.push_back(parameters.version(i));
  return out;
}

std::string pack_changed(const ParameterSnapshot& taken, std::int64_t since) {
  std::vector<std::uint32_t> changed;
  std::size_t floats = 0;
  for (std::size_t i = 0; i < taken.blocks.size(); ++i) {
    if (taken.versions[i] <= since) continue;
    changed.push_back(static_cast<std::uint32_t>(i));
    floats += taken.blocks[i]->size();
  }
  std::string out;
  out.reserve(kHead + indices_bytes(changed.size()) + floats * sizeof(float));
  const std::uint64_t head[3] = {static_cast<std::uint64_t>(taken.version), taken.size(),
                                 changed.size()};
  out.append(reinterpret_cast<const char*>(head), sizeof head);
  out.append(reinterpret_cast<const char*>(changed.data()), changed.size() * sizeof(std::uint32_t));
  out.resize(kHead + indices_bytes(changed.size()));
  for (const auto i : changed)
    out.append(reinterpret_cast<const char*>(taken.blocks[i]->data()),
               taken.blocks[i]->size() * sizeof(float));
  return out;
}

base::Result<std::int64_t> unpack_changed(std::string_view bytes, std::span<float> values) {
  std::uint64_t head[3];
  const auto damaged = [] { return fail(Code::damaged, "the parameters arrived damaged"); };
  if (bytes.size() < sizeof head) return damaged();
  std::memcpy(head, bytes.data(), sizeof head);
  const auto version = static_cast<std::int64_t>(head[0]);
  const auto blocks = (values.size() + kBlock - 1) / kBlock;
  if (version < 0 || head[1] != values.size() || head[2] > blocks) return damaged();
  const auto count = static_cast<std::size_t>(head[2]);
  if (bytes.size() < kHead + indices_bytes(count)) return damaged();
  std::vector<std::uint32_t> changed(count);
  if (count > 0) std::memcpy(changed.data(), bytes.data() + kHead, count * sizeof(std::uint32_t));
  bytes.remove_prefix(kHead + indices_bytes(count));
  std::size_t floats = 0, next = 0;
  for (const auto i : changed) {
    if (i < next || i >= blocks) return damaged();
    next = i + 1;
    floats += length_of(i, values.size());
  }
  if (bytes.size() != floats * sizeof(float)) return damaged();
  for (const auto i : changed) {
    const auto n = length_of(i, values.size()) * sizeof(float);
    std::memcpy(values.data() + i * kBlock, bytes.data(), n);
    bytes.remove_prefix(n);
  }
  return version;
}

}  // namespace souk::train
