#include "hub/staging.h"

#include <fmt/format.h>

namespace souk::hub {

using base::Code;
using base::fail;

// Requires mutex_.
void Staging::erase(std::map<std::string, StagedUpdate>::iterator at) {
  bytes_ -= at->second.size;
  updates_.erase(at);
}

// Requires mutex_.
void Staging::forget_old(base::Time now) {
  for (auto it = updates_.begin(); it != updates_.end();) {
    const auto at = it++;
    if (now - at->second.last > limits_.forgotten_after) erase(at);
  }
}

base::Result<std::int64_t> Staging::put(const std::string& name, std::int64_t offset,
                                        std::string_view piece, base::Time now) {
  const std::lock_guard lock(mutex_);
  forget_old(now);
  const auto it = updates_.find(name);
  const auto have = it == updates_.end() ? 0 : static_cast<std::int64_t>(it->second.size);
  if (offset > have || offset < 0)
    return fail(Code::conflict, fmt::format("{} bytes have arrived", have), "go on from there");
  const auto end = offset + std::ssize(piece);
  if (end <= have) return have;
  if (it != updates_.end() && it->second.taken)
    return fail(Code::conflict, "the update is being judged", "nothing can be added any more");
  if (static_cast<std::size_t>(end) > limits_.most_bytes)
    return fail(Code::too_large, fmt::format("an update of more than {} bytes", limits_.most_bytes),
                "start the hub with a greater --most");
  if (bytes_ + static_cast<std::size_t>(end - have) > limits_.most_in_all ||
      (it == updates_.end() && updates_.size() >= limits_.most))
    return fail(Code::exhausted, fmt::format("{} updates are waiting here", updates_.size()),
                "send it to the market");
  auto& update = updates_.try_emplace(name, ArrivingBytes(limits_.spill)).first->second;
  update.last = now;
  SOUK_TRY(update.arriving.write(static_cast<std::size_t>(offset), piece));
  update.size = static_cast<std::size_t>(end);
  bytes_ += static_cast<std::size_t>(end - have);
  return end;
}

base::Result<std::shared_ptr<const train::KeptBytes>> Staging::take(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto it = updates_.find(name);
  if (it == updates_.end())
    return fail(Code::not_found, fmt::format("no update {} has arrived", name),
                "it was never sent here, or too long ago");
  if (!it->second.taken) {
    SOUK_ASSIGN(it->second.taken, it->second.arriving.finish());
  }
  return it->second.taken;
}

void Staging::drop(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto it = updates_.find(name); it != updates_.end()) erase(it);
}

Staging::Usage Staging::usage() const {
  const std::lock_guard lock(mutex_);
  return {std::ssize(updates_), static_cast<std::int64_t>(bytes_)};
}

}  // namespace souk::hub
