#include "train/pull.h"

#include <algorithm>
#include <cstring>
#include <optional>

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

namespace {

// The blocks, with their numbers and what else is in the head.
PackedBlocks pack_blocks(const ParameterSnapshot& taken, const std::vector<std::uint32_t>& changed,
                         std::optional<std::size_t> next) {
  const auto head = kHead + (next ? sizeof(std::uint64_t) : 0);
  PackedBlocks out;
  const std::uint64_t numbers[4] = {static_cast<std::uint64_t>(taken.version), taken.size(),
                                    changed.size(), next.value_or(0)};
  out.head.append(reinterpret_cast<const char*>(numbers), head);
  out.head.append(reinterpret_cast<const char*>(changed.data()),
                  changed.size() * sizeof(std::uint32_t));
  out.head.resize(head + indices_bytes(changed.size()));
  for (const auto i : changed) out.blocks.push_back(taken.blocks[i]);
  return out;
}

// Reads `count` ascending numbers of blocks from `from` on and the blocks, which must be all of
// `bytes`.
base::Result<std::vector<PulledPiece::PulledBlock>> read_blocks(std::string_view bytes,
                                                                std::uint64_t count,
                                                                std::size_t size,
                                                                std::size_t from) {
  const auto damaged = [] { return fail(Code::damaged, "the parameters arrived damaged"); };
  if (count > count_blocks(size) || bytes.size() < indices_bytes(count)) return damaged();
  std::vector<std::uint32_t> changed(count);
  if (count > 0) std::memcpy(changed.data(), bytes.data(), count * sizeof(std::uint32_t));
  bytes.remove_prefix(indices_bytes(count));
  std::vector<PulledPiece::PulledBlock> out;
  for (const auto i : changed) {
    if (i < from || i >= count_blocks(size)) return damaged();
    from = i + 1;
    const auto n = length_of(i, size) * sizeof(float);
    if (bytes.size() < n) return damaged();
    out.push_back({i * kBlock, bytes.substr(0, n)});
    bytes.remove_prefix(n);
  }
  if (!bytes.empty()) return damaged();
  return out;
}

}  // namespace

std::size_t PackedBlocks::size() const {
  auto out = head.size();
  for (const auto& block : blocks) out += block->size() * sizeof(float);
  return out;
}

std::string PackedBlocks::joined() const {
  std::string out;
  out.reserve(size());
  out += head;
  for (const auto& block : blocks) {
    out.append(reinterpret_cast<const char*>(block->data()), block->size() * sizeof(float));
    block->let_go();
  }
  return out;
}

PackedBlocks share_changed(const ParameterSnapshot& taken, std::int64_t since) {
  std::vector<std::uint32_t> changed;
  for (std::size_t i = 0; i < taken.blocks.size(); ++i)
    if (taken.versions[i] > since) changed.push_back(static_cast<std::uint32_t>(i));
  return pack_blocks(taken, changed, std::nullopt);
}

std::string pack_changed(const ParameterSnapshot& taken, std::int64_t since) {
  return share_changed(taken, since).joined();
}

PackedBlocks share_piece(const ParameterSnapshot& taken, std::int64_t since, std::size_t from,
                         std::size_t most_bytes) {
  std::vector<std::uint32_t> changed;
  std::size_t bytes = 0, i = from;
  for (; i < taken.blocks.size(); ++i) {
    if (taken.versions[i] <= since) continue;
    const auto more = taken.blocks[i]->size() * sizeof(float);
    if (!changed.empty() && bytes + more > most_bytes) break;
    bytes += more;
    changed.push_back(static_cast<std::uint32_t>(i));
  }
  return pack_blocks(taken, changed, std::min(i, taken.blocks.size()));
}

std::string pack_piece(const ParameterSnapshot& taken, std::int64_t since, std::size_t from,
                       std::size_t most_bytes) {
  return share_piece(taken, since, from, most_bytes).joined();
}

base::Result<PulledPiece> read_piece(std::string_view bytes, std::size_t size, std::size_t from) {
  std::uint64_t head[4];
  const auto damaged = [] { return fail(Code::damaged, "the parameters arrived damaged"); };
  if (bytes.size() < sizeof head) return damaged();
  std::memcpy(head, bytes.data(), sizeof head);
  PulledPiece out{.version = static_cast<std::int64_t>(head[0])};
  if (out.version < 0 || head[1] != size || head[3] > count_blocks(size)) return damaged();
  out.next = static_cast<std::size_t>(head[3]);
  SOUK_ASSIGN(out.blocks, read_blocks(bytes.substr(sizeof head), head[2], size, from));
  // Whoever asks must get on.
  const auto last = out.blocks.empty() ? from : out.blocks.back().at / kBlock + 1;
  const bool gets_on = out.next == count_blocks(size) || (out.next > from && out.next >= last);
  if (!gets_on || out.next < last) return damaged();
  return out;
}

base::Result<std::int64_t> unpack_changed(std::string_view bytes, std::span<float> values) {
  std::uint64_t head[3];
  const auto damaged = [] { return fail(Code::damaged, "the parameters arrived damaged"); };
  if (bytes.size() < sizeof head) return damaged();
  std::memcpy(head, bytes.data(), sizeof head);
  const auto version = static_cast<std::int64_t>(head[0]);
  if (version < 0 || head[1] != values.size()) return damaged();
  SOUK_ASSIGN(const auto blocks, read_blocks(bytes.substr(sizeof head), head[2], values.size(), 0));
  for (const auto& block : blocks)
    std::memcpy(values.data() + block.at, block.floats.data(), block.floats.size());
  return version;
}

}  // namespace souk::train
