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
  const std::lock_guard lock(mutex_);
  drop_idle(now);
  auto& update = by_worker_.try_emplace(worker, 0, ArrivingBytes(spill_)).first->second;
  if (unit < update.unit)
    return fail(Code::conflict, "the worker was given another unit since", "ask for another");
  if (unit > update.unit) {
    drop(update);
    update.unit = unit;
  }
  update.last = now;
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
  const std::lock_guard lock(mutex_);
  const auto it = by_worker_.find(worker);
  if (it == by_worker_.end() || it->second.unit != unit) return train::kept({});
  memory_.leave(it->second.body.in_memory());  // From here on the model counts for it.
  auto out = it->second.body.finish();
  by_worker_.erase(it);
  return out;
}

void Arrivals::drop_idle(base::Time now) {
  if (now - looked_ < kLookEvery) return;
  looked_ = now;
  for (auto it = by_worker_.begin(); it != by_worker_.end();) {
    const auto at = it++;
    if (now - at->second.last <= kForgottenAfter) continue;
    drop(at->second);
    by_worker_.erase(at);
  }
}

void Arrivals::forget(base::LeaseId worker) {
  const std::lock_guard lock(mutex_);
  const auto it = by_worker_.find(worker);
  if (it == by_worker_.end()) return;
  drop(it->second);
  by_worker_.erase(it);
}

void Arrivals::drop(PartialUpdate& update) {
  memory_.leave(update.body.in_memory());
  update.body = ArrivingBytes(spill_);
}

std::int64_t Arrivals::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace souk::hub
