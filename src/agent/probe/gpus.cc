#include "agent/probe/gpus.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace souk::agent {
namespace {

std::vector<Gpus::Unit> numbered(int count) {
  std::vector<Gpus::Unit> out;
  for (int i = 0; i < count; ++i) out.push_back({{}, {fmt::format("/dev/nvidia{}", i)}, i});
  return out;
}

constexpr auto kPatience = std::chrono::seconds(30);

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace

Gpus::Gpus(std::vector<Unit> units, std::string root) : root_(std::move(root)) {
  for (auto& unit : units) {
    if (!std::ranges::all_of(unit.nodes, [&](const auto& n) { return exists(root_ + n); })) break;
    units_.push_back(std::move(unit));
    free_.push_back(true);
  }
}

Gpus::Gpus(int count, std::string root) : Gpus(numbered(count), std::move(root)) {}

std::unique_ptr<Gpus> Gpus::without_nodes(int count) {
  auto out = std::make_unique<Gpus>(0);
  out->units_ = numbered(count);
  out->free_.assign(out->units_.size(), true);
  return out;
}

base::Result<Gpus::Grant> Gpus::take(int count) { return take(count, false); }

base::Result<Gpus::Grant> Gpus::borrow(int count) { return take(count, true); }

base::Result<Gpus::Grant> Gpus::take(int count, bool borrow) {
  std::unique_lock lock(mutex_);
  if (!borrow)
    returned_.wait_for(lock, kPatience,
                       [&] { return borrowed_ == 0 || std::ranges::count(free_, true) >= count; });
  const auto left = std::ranges::count(free_, true);
  if (left < count)
    return base::fail(base::Code::exhausted, fmt::format("{} GPUs are free, not {}", left, count),
                      "wait for a lease to end");
  Grant out;
  out.gpus_ = this;
  out.borrowed_ = borrow;
  if (borrow) ++borrowed_;
  for (std::size_t i = 0; i < free_.size() && std::ssize(out.indexes_) < count; ++i) {
    if (!free_[i]) continue;
    free_[i] = false;
    out.indexes_.push_back(static_cast<int>(i));
  }
  return out;
}

Gpus::Grant::~Grant() {
  if (gpus_ == nullptr) return;
  const std::lock_guard lock(gpus_->mutex_);
  for (const auto i : indexes_) gpus_->free_[static_cast<std::size_t>(i)] = true;
  if (borrowed_) --gpus_->borrowed_;
  gpus_->returned_.notify_all();
}

std::vector<std::string> Gpus::Grant::devices() const {
  std::vector<std::string> out;
  if (indexes_.empty()) return out;
  for (const auto i : indexes_)
    for (const auto& node : gpus_->units_[static_cast<std::size_t>(i)].nodes)
      if (auto path = gpus_->root_ + node; std::ranges::find(out, path) == out.end())
        out.push_back(std::move(path));
  for (const auto* shared : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"})
    if (exists(gpus_->root_ + shared)) out.push_back(gpus_->root_ + shared);
  return out;
}

std::vector<int> Gpus::Grant::places() const {
  std::vector<int> out;
  for (const auto i : indexes_) out.push_back(gpus_->units_[static_cast<std::size_t>(i)].place);
  return out;
}

std::vector<std::string> Gpus::Grant::uuids() const {
  std::vector<std::string> out;
  for (const auto i : indexes_)
    if (const auto& uuid = gpus_->units_[static_cast<std::size_t>(i)].uuid; !uuid.empty())
      out.push_back(uuid);
  return out;
}

std::string Gpus::Grant::visible() const {
  const auto names = uuids();
  if (names.size() == indexes_.size()) return fmt::format("{}", fmt::join(names, ","));
  return fmt::format("{}", fmt::join(places(), ","));
}

}  // namespace souk::agent
