#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "agent/coach.h"
#include "train/lanes.h"
#include "train/pull.h"

// What units begin from: parameters on their way from the market or a hub into the trainer's
// folder.

namespace souk::agent {

using base::Code;
using base::fail;
using base::Result;

Result<std::string> Coach::fetch(const wire::Unit& unit, std::int64_t since) {
  if (unit.hub)
    if (auto bytes = hubs_.pull(*unit.hub, fmt::format("parameters?since={}", since)))
      return *std::move(bytes);
  auto query = fmt::format("parameters?epoch={}", options_.lease.epoch);
  if (since >= 0) query += fmt::format("&since={}", since);
  return patiently([&] { return down_->get(path(query)); }, no_more_);
}

Result<> Coach::pull(const wire::Unit& unit) {
  doing("pulling parameters");
  SOUK_ASSIGN(const auto bytes, fetch(unit, version_));
  options_.moved(std::ssize(bytes), 0);
  SOUK_ASSIGN(const auto version, train::unpack_changed(bytes, values_));
  // A hub that lost its latest versions in a crash has gone back: nothing that we have is of use.
  if (version < version_) {
    version_ = -1;
    return pull(unit);
  }
  version_ = version;
  lap(&wire::TimeSpent::download);
  return {};
}

// What is under check, beside the parameters that we have.
Result<std::vector<float>> Coach::pull_exactly(std::int64_t version) {
  doing("pulling parameters");
  const auto query = fmt::format("parameters?epoch={}&version={}", options_.lease.epoch, version);
  SOUK_ASSIGN(const auto bytes, patiently([&] { return down_->get(path(query)); }, no_more_));
  options_.moved(std::ssize(bytes), 0);
  std::vector<float> values(values_.size());
  SOUK_TRY(train::unpack_changed(bytes, values));
  lap(&wire::TimeSpent::download);
  return values;
}

Result<std::string> Coach::fetch_piece(const wire::Unit& unit, std::size_t from,
                                       std::optional<std::int64_t> at) {
  const bool exactly = unit.version > 0 || unit.kind == base::UnitKind::evaluate;
  if (unit.hub && !exactly)
    if (auto bytes = hubs_.pull(*unit.hub, fmt::format("parameters?from={}", from)))
      return *std::move(bytes);
  auto query = fmt::format("parameters?epoch={}&from={}", options_.lease.epoch, from);
  if (exactly)
    query += fmt::format("&version={}", unit.version);
  else if (at)
    query += fmt::format("&at={}", *at);
  return patiently([&] { return down_->get(path(query)); }, no_more_);
}

// Gives the version. Pieces may be of different ones, unless what the unit began from matters: then
// it is the oldest, as what came in between counts for the staleness of the update.
Result<std::int64_t> Coach::pull_to_file(const wire::Unit& unit, const std::string& file) {
  doing("pulling parameters");
  std::optional<std::int64_t> version;
  const auto blocks = train::count_blocks(trainer_.size());
  for (std::size_t from = 0, next = 0; from < blocks; from = next) {
    SOUK_ASSIGN(const auto bytes, fetch_piece(unit, from, version));
    options_.moved(std::ssize(bytes), 0);
    SOUK_ASSIGN(const auto piece, train::read_piece(bytes, trainer_.size(), from));
    lap(&wire::TimeSpent::download);
    next = piece.next;
    if (piece.blocks.size() != next - from)
      return fail(Code::damaged, "the parameters arrived damaged");
    for (const auto& block : piece.blocks) SOUK_TRY(write_part(file, block.at, block.floats));
    lap(&wire::TimeSpent::prepare);
    version = std::min(version.value_or(piece.version), piece.version);
  }
  return *version;
}

Result<> Coach::write_part(const std::string& file, std::size_t at, std::string_view floats) {
  auto written = trainer_.write_part(file, at, floats);
  if (!written && written.error().code == Code::exhausted && busy_) {
    // There is room for one only.
    busy_->answer.wait();
    trainer_.remove(busy_->task.base);
    written = trainer_.write_part(file, at, floats);
  }
  if (!written) trainer_.remove(file);
  return written;
}

Result<> Coach::write_base(const std::string& file, std::span<const float> values) {
  auto written = trainer_.write(file, values);
  if (!written && written.error().code == Code::exhausted && busy_) {
    // There is room for one only.
    busy_->answer.wait();
    trainer_.remove(busy_->task.base);
    written = trainer_.write(file, values);
  }
  lap(&wire::TimeSpent::prepare);
  return written;
}

// What was fetched while the trainer worked lacks what it has just computed: where the rule says
// so, the next unit begins where that led to.
Result<> Coach::go_on_from(const Computed& before, const Task& next) {
  const bool trained = before.task.unit.kind == base::UnitKind::train && before.answer &&
                       before.answer->steps > 0 && before.task.unit.send == base::Sends::delta;
  if (next.unit.own == 0 || !trained || before.task.unit.measure || large()) return {};
  SOUK_TRY(trainer_.read_update(before.task.out, before.task.unit.state_scale, update_));
  auto values = values_;
  train::add_times(values.data(), update_.data(), static_cast<float>(next.unit.own), values.size());
  return write_base(next.base, values);
}

}  // namespace souk::agent
