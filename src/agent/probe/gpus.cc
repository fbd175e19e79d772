#include "agent/probe/gpus.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace souk::agent {
namespace {

std::string node(const std::string& root, int index) {
  return fmt::format("{}/dev/nvidia{}", root, index);
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace

Gpus::Gpus(int count, std::string root) : root_(std::move(root)) {
  for (int i = 0; i < count && exists(node(root_, i)); ++i) free_.push_back(true);
}

base::Result<Gpus::Grant> Gpus::take(int count) {
  const std::lock_guard lock(mutex_);
  const auto left = std::ranges::count(free_, true);
  if (left < count)
    return base::fail(base::Code::exhausted, fmt::format("{} GPUs are free, not {}", left, count),
                      "wait for a lease to end");
  Grant out;
  out.gpus_ = this;
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
}

std::vector<std::string> Gpus::Grant::devices() const {
  std::vector<std::string> out;
  if (indexes_.empty()) return out;
  for (const auto i : indexes_) out.push_back(node(gpus_->root_, i));
  for (const auto* shared : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"})
    if (exists(gpus_->root_ + shared)) out.push_back(gpus_->root_ + shared);
  return out;
}

std::string Gpus::Grant::visible() const { return fmt::format("{}", fmt::join(indexes_, ",")); }

}  // namespace souk::agent
