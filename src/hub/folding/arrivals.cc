#include "hub/folding/arrivals.h"

#include <fmt/format.h>

namespace souk::hub {
namespace {

using base::Code;
using base::fail;

constexpr std::int64_t kMostPiece = 8 << 20;
constexpr auto kLookEvery = base::seconds(10);

}  // namespace

base::Result<std::int64_t> Arrivals::add(base::LeaseId worker, std::int64_t unit,
                                         std::int64_t offset, std::string_view piece,
                                         std::size_t most, base::Time now) {
  if (std::ssize(piece) > kMostPiece)
    return fail(Code::too_large, fmt::format("a piece of {} bytes", piece.size()),
                fmt::format("send at most {} bytes at once", kMostPiece));
  std::shared_ptr<PartialUpdate> update;
  {
    const std::lock_guard lock(mutex_);
    drop_idle(now);
    auto& known = by_worker_[worker];
    if (!known) known = std::make_shared<PartialUpdate>(spill_);
    update = known;
  }
  const std::lock_guard lock(update->mutex);
  if (update->left || unit < update->unit)
    return fail(Code::conflict, "the worker was given another unit since", "ask for another");
  if (unit > update->unit) {
    drop(*update);
    update->unit = unit;
  }
  update->last = now;
  return add(*update, offset, piece, most);
}

base::Result<std::int64_t> Arrivals::add(PartialUpdate& update, std::int64_t offset,
                                         std::string_view piece, std::size_t most) {
  const auto have = static_cast<std::int64_t>(update.body.size());
  if (offset > have || offset < 0)
    return fail(Code::conflict, fmt::format("{} bytes have arrived", have), "go on from there");
  if (static_cast<std::size_t>(offset) + piece.size() > most)
    return fail(Code::too_large, fmt::format("an update of more than {} bytes", most));
  if (offset + std::ssize(piece) > have) {
    SOUK_TRY(append(update, static_cast<std::size_t>(offset), piece));
    bytes_ += offset + std::ssize(piece) - have;
  }
  return static_cast<std::int64_t>(update.body.size());
}

base::Result<> Arrivals::append(PartialUpdate& update, std::size_t at, std::string_view piece) {
  auto& body = update.body;
  const auto before = body.in_memory();
  const auto more = body.stays_in_memory(at + piece.size()) ? at + piece.size() - before : 0;
  SOUK_TRY(memory_.arrive(more));
  auto written = body.write(at, piece);
  // It did not arrive, or it lies in a file now.
  if (body.in_memory() < before + more) memory_.leave(before + more - body.in_memory());
  return written;
}

base::Result<std::shared_ptr<const train::KeptBytes>> Arrivals::take(base::LeaseId worker,
                                                                     std::int64_t unit) {
  std::unique_lock lock(mutex_);
  const auto it = by_worker_.find(worker);
  if (it == by_worker_.end()) return train::kept({});
  const auto update = it->second;
  const std::lock_guard whole(update->mutex);  // Whoever reports has sent all: nobody writes now.
  if (update->unit != unit) return train::kept({});
  by_worker_.erase(it);
  lock.unlock();
  update->left = true;
  memory_.leave(update->body.in_memory());  // From here on the model counts for it.
  return update->body.finish();
}

void Arrivals::drop_idle(base::Time now) {
  if (now - looked_ < kLookEvery) return;
  looked_ = now;
  for (auto it = by_worker_.begin(); it != by_worker_.end();) {
    const auto at = it++;
    const auto update = at->second;
    const std::unique_lock lock(update->mutex, std::try_to_lock);
    if (!lock || now - update->last <= kForgottenAfter) continue;  // Busy ones are not idle.
    drop(*update);
    update->left = true;
    by_worker_.erase(at);
  }
}

void Arrivals::forget(base::LeaseId worker) {
  std::shared_ptr<PartialUpdate> update;
  {
    const std::lock_guard lock(mutex_);
    auto node = by_worker_.extract(worker);
    if (!node) return;
    update = std::move(node.mapped());
  }
  const std::lock_guard lock(update->mutex);
  if (update->left) return;
  drop(*update);
  update->left = true;
}

void Arrivals::drop(PartialUpdate& update) {
  memory_.leave(update.body.in_memory());
  update.body = ArrivingBytes(spill_);
}

}  // namespace souk::hub
