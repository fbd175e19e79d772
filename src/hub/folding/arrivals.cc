#include "hub/folding/arrivals.h"

#include <fmt/format.h>

namespace souk::hub {
namespace {

using base::Code;
using base::fail;

constexpr std::int64_t kMostPiece = 8 << 20;

}  // namespace

base::Result<std::int64_t> Arrivals::add(base::LeaseId worker, std::int64_t unit,
                                         std::int64_t offset, std::string_view piece,
                                         std::size_t most) {
  if (std::ssize(piece) > kMostPiece)
    return fail(Code::too_large, fmt::format("a piece of {} bytes", piece.size()),
                fmt::format("send at most {} bytes at once", kMostPiece));
  const std::lock_guard lock(mutex_);
  auto& update = by_worker_[worker];
  if (unit < update.unit)
    return fail(Code::conflict, "the worker was given another unit since", "ask for another");
  if (unit > update.unit) {
    drop(update);
    update.unit = unit;
  }
  auto& body = update.body;
  const auto have = std::ssize(body);
  if (offset > have || offset < 0)
    return fail(Code::conflict, fmt::format("{} bytes have arrived", have), "go on from there");
  if (static_cast<std::size_t>(offset) + piece.size() > most)
    return fail(Code::too_large, fmt::format("an update of more than {} bytes", most));
  if (offset + std::ssize(piece) > have) {
    SOUK_TRY(memory_.arrive(static_cast<std::size_t>(offset + std::ssize(piece) - have)));
    body.resize(static_cast<std::size_t>(offset));
    body.append(piece);
    bytes_ += offset + std::ssize(piece) - have;
  }
  return std::ssize(body);
}

std::string Arrivals::take(base::LeaseId worker, std::int64_t unit) {
  const std::lock_guard lock(mutex_);
  const auto it = by_worker_.find(worker);
  if (it == by_worker_.end() || it->second.unit != unit) return {};
  auto out = std::move(it->second.body);
  memory_.leave(out.size());  // From here on it is one of the updates that the model counts for.
  by_worker_.erase(it);
  return out;
}

void Arrivals::forget(base::LeaseId worker) {
  const std::lock_guard lock(mutex_);
  const auto it = by_worker_.find(worker);
  if (it == by_worker_.end()) return;
  drop(it->second);
  by_worker_.erase(it);
}

void Arrivals::drop(PartialUpdate& update) {
  memory_.leave(update.body.size());
  update = {};
}

std::int64_t Arrivals::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace souk::hub
