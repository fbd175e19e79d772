#include "train/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <utility>

#include "base/check.h"

namespace souk::train {
namespace {

using base::Code;
using base::fail;

std::span<float> writable(std::shared_ptr<Block>& block) {
  if (block.use_count() > 1 || block->is_elsewhere())
    block = std::make_shared<Block>(std::span<const float>(*block));
  return block->change();
}

}  // namespace

Block::Block(std::size_t size) : own_(size * sizeof(float)) {
  if (size > 0) std::memset(own_.data(), 0, own_.size());
  values_ = {reinterpret_cast<const float*>(own_.data()), size};
}

Block::Block(std::span<const float> values) : own_(values.size_bytes()) {
  if (!values.empty()) std::memcpy(own_.data(), values.data(), own_.size());
  values_ = {reinterpret_cast<const float*>(own_.data()), values.size()};
}

Block::Block(std::shared_ptr<const KeptBytes> keeper, std::size_t at, std::size_t floats)
    : keeper_(std::move(keeper)) {
  const auto bytes = keeper_->bytes().substr(at, floats * sizeof(float));
  CHECK(bytes.size() == floats * sizeof(float) &&
        reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(float) == 0);
  values_ = {reinterpret_cast<const float*>(bytes.data()), floats};
}

std::span<float> Block::change() {
  CHECK(!keeper_);
  return {reinterpret_cast<float*>(own_.data()), size()};
}

void Block::let_go() const {
  if (!keeper_) return;
  const auto* from = reinterpret_cast<const char*>(values_.data());
  keeper_->let_go(static_cast<std::size_t>(from - keeper_->bytes().data()), values_.size_bytes());
}

std::size_t Layout::size() const {
  std::size_t total = 0;
  for (const auto& t : tensors) {
    std::size_t n = 1;
    for (const auto d : t.shape) n *= static_cast<std::size_t>(d);
    total += n;
  }
  return total;
}

base::Result<> check_layout(const Layout& layout, std::size_t most) {
  std::set<std::string_view> names;
  std::size_t total = 0;
  for (const auto& t : layout.tensors) {
    if (!names.insert(t.name).second)
      return fail(Code::invalid, fmt::format("tensor '{}' is given twice", t.name.substr(0, 80)));
    std::size_t n = 1;
    for (const auto d : t.shape) {
      if (d < 1 || static_cast<std::size_t>(d) > most / n)
        return fail(Code::invalid,
                    fmt::format("tensor '{}' has a dimension of {}", t.name.substr(0, 80), d),
                    fmt::format("all tensors together may have {} numbers", most));
      n *= static_cast<std::size_t>(d);
    }
    total += n;
    if (total > most)
      return fail(Code::too_large, fmt::format("the parameters are more than {} numbers", most));
  }
  if (total == 0) return fail(Code::invalid, "the model has no parameters");
  return {};
}

Parameters::Parameters(std::size_t size, std::size_t planes) : size_(size), planes_(planes + 1) {
  CHECK(size > 0);
  const auto zeros = blocks_of_zeros(size);
  versions_.resize(zeros.size());
  for (auto& plane : planes_)
    for (const auto& block : zeros) plane.push_back(std::const_pointer_cast<Block>(block));
}

std::span<float> Parameters::change(std::size_t i) {
  versions_[i] = version_ + 1;
  return writable(planes_[0][i]);
}

std::span<float> Parameters::change_plane(std::size_t p, std::size_t i) {
  return writable(planes_[p + 1][i]);
}

void Parameters::advance() { ++version_; }

Parameters Parameters::only(std::size_t i) const {
  Parameters out;
  out.size_ = planes_[0][i]->size();
  out.planes_.clear();
  for (const auto& plane : planes_) out.planes_.push_back({plane[i]});
  out.versions_ = {versions_[i]};
  out.version_ = version_;
  return out;
}

void Parameters::put(std::size_t i, Parameters one) {
  CHECK(one.count() == 1 && one.size_ == planes_[0][i]->size() &&
        one.planes_.size() == planes_.size());
  for (std::size_t p = 0; p < planes_.size(); ++p) planes_[p][i] = std::move(one.planes_[p][0]);
  versions_[i] = version_ + 1;
}

void Parameters::load(const Blocks& values, const std::vector<Blocks>& planes,
                      std::int64_t version) {
  CHECK(values.size() == count() && planes.size() == this->planes());
  const auto fill = [](Plane& to, const Blocks& from) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      CHECK(to[i]->size() == from[i]->size());
      to[i] = std::const_pointer_cast<Block>(from[i]);
    }
  };
  fill(planes_[0], values);
  for (std::size_t p = 0; p < planes.size(); ++p) fill(planes_[p + 1], planes[p]);
  version_ = version;
  std::ranges::fill(versions_, version);
}

Blocks blocks_of(std::span<const float> values) {
  Blocks out;
  for (std::size_t at = 0; at < values.size(); at += kBlock) {
    const auto part = values.subspan(at, std::min(kBlock, values.size() - at));
    out.push_back(std::make_shared<Block>(part));
  }
  return out;
}

Blocks blocks_of_zeros(std::size_t floats) {
  Blocks out;
  for (std::size_t at = 0; at < floats; at += kBlock) {
    const auto size = std::min(kBlock, floats - at);
    if (!out.empty() && size == kBlock)
      out.push_back(out.front());
    else
      out.push_back(std::make_shared<Block>(size));
  }
  return out;
}

void copy_out(const Blocks& blocks, std::span<float> out) {
  std::size_t at = 0;
  for (const auto& block : blocks) {
    CHECK(at + block->size() <= out.size());
    std::ranges::copy(*block, out.begin() + static_cast<std::ptrdiff_t>(at));
    at += block->size();
  }
  CHECK(at == out.size());
}

}  // namespace souk::train
