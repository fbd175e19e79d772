#include "hub/folding/hub_folding.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace souk::hub {
namespace {

using base::Code;
using base::Result;
using wire::UnitVerdict;

// A ticket outlives its unit by what the clocks of a market and its hubs may differ.
constexpr auto kTicketMargin = base::minutes(5);
constexpr auto kFailedFor = base::seconds(5);  // Doubled each time,
constexpr int kMostFailures = 7;               // so often.
constexpr std::size_t kMostUnsettled = 1'000;

}  // namespace

HubFolding::HubFolding(Remote& hubs, Names names, UnitBook& book, ParameterStore& store,
                       Folding& folding, Turns& turns, const base::Clock& clock)
    : hubs_(hubs),
      names_(std::move(names)),
      book_(book),
      store_(store),
      folding_(folding),
      turns_(turns),
      clock_(clock) {}

// Units of different lives may have the same id; their updates must not be taken for each other.
Remote::Name HubFolding::name_of(std::int64_t unit, std::size_t hub) const {
  return {hub, names_.job, fmt::format("{}-{}", unit, names_.generation)};
}

std::optional<std::size_t> HubFolding::choose(base::LeaseId worker, const train::Unit& unit) {
  if (unit.kind != train::UnitKind::train) return std::nullopt;
  {
    const std::lock_guard lock(mutex_);
    const auto it = failures_.find(worker);
    if (it != failures_.end() && clock_.now() < it->second.until) return std::nullopt;
  }
  return hubs_.choose(unit.id);
}

wire::UnitHub HubFolding::pass(const train::Unit& unit, std::size_t hub) const {
  const auto name = name_of(unit.id, hub);
  return hubs_.pass(hub, name.job, name.update, unit.deadline + kTicketMargin);
}

Result<UnitVerdict> HubFolding::judge(OpenReport& report, const wire::UnitDone& done,
                                      const std::string& codec) {
  const auto& unit = report.unit();
  const auto name = name_of(unit.id, *report.hub());
  auto claim = unsettled(report);
  // Not in turn: this is where the time goes.
  auto measured = claim ? Measured{} : hubs_.measure(name, codec, book_.floats());
  Turn turn(turns_);
  SOUK_TRY(folding_.fold_waiting());
  std::optional<UnitVerdict> refused;
  if (!measured) {
    const auto code = measured.error().code;
    if (code == Code::not_found) failed(report.worker());
    refused = book_.refuse(report, measured.error().message, code == Code::invalid);
  } else if (!claim) {
    const auto worker = static_cast<std::int64_t>(report.worker().value);
    claim = {.worker = worker,
             .unit = unit,
             .base = done.base,
             .samples = done.samples,
             .evidence = {.stats = measured->stats,
                          .steps = done.steps,
                          .loss = done.loss,
                          .direction = std::move(measured->direction),
                          .worker = worker}};
    refused = book_.judge_there(report, *claim);
  }
  if (refused) {
    turn.unlock();
    drop(unit.id, *report.hub());
    return *std::move(refused);
  }
  const auto version = fold(name, *claim, codec);
  if (!version) {
    unsettle(report.worker(), *std::move(claim));
    return std::unexpected(version.error());
  }
  settle(report.worker(), version->has_value());
  if (!*version) return book_.refuse(report, "its hub was lost before it was folded", false);
  auto verdict = book_.accept_folded(report, *claim, report.wage(done.epoch));
  // If the store cannot be read now, a check that is due begins the next time.
  (void)folding_.advance(**version);
  return verdict;
}

// The new version; nothing: it is not folded, and never will be.
Result<std::optional<std::int64_t>> HubFolding::fold(const Remote::Name& name, const Claim& claim,
                                                     const std::string& codec) {
  const auto version = hubs_.fold(name, {.id = claim.unit.id,
                                         .base = claim.base,
                                         .epoch = claim.unit.epoch,
                                         .weight = static_cast<double>(claim.samples),
                                         .at_work = claim.unit.at_work,
                                         .codec = codec,
                                         .generation = names_.generation,
                                         .rule = names_.aggregator});
  if (version) return *version;
  SOUK_ASSIGN(const bool folded, store_.bar(claim.unit.id));
  if (!folded) return std::nullopt;
  SOUK_ASSIGN(const auto taken, store_.take());
  return taken.version;
}

void HubFolding::bypassed(const OpenReport& report) {
  drop(report.unit().id, *report.hub());  // A hub that is gone is noticed by this.
  failed(report.worker());
}

void HubFolding::drop(std::int64_t unit, std::size_t hub) { (void)hubs_.drop(name_of(unit, hub)); }

// Once may be the hub's fault, which is then left out. Later ones are perhaps the worker's: a hub
// that it cannot reach, or an update that it never sent.
void HubFolding::failed(base::LeaseId worker) {
  const std::lock_guard lock(mutex_);
  auto& f = failures_[worker];
  if (++f.times > 1)
    f.until = clock_.now() + kFailedFor * (std::int64_t{1} << std::min(f.times, kMostFailures));
}

std::optional<train::Session::Claim> HubFolding::unsettled(const OpenReport& report) const {
  const std::lock_guard lock(mutex_);
  const auto it = unsettled_.find(report.worker());
  if (it == unsettled_.end() || it->second.unit.id != report.unit().id) return std::nullopt;
  return it->second;
}

void HubFolding::unsettle(base::LeaseId worker, Claim claim) {
  const std::lock_guard lock(mutex_);
  unsettled_.insert_or_assign(worker, std::move(claim));
  if (unsettled_.size() > kMostUnsettled) unsettled_.erase(unsettled_.begin());
}

void HubFolding::settle(base::LeaseId worker, bool reached) {
  const std::lock_guard lock(mutex_);
  unsettled_.erase(worker);
  if (reached) failures_.erase(worker);
}

void HubFolding::forget(base::LeaseId worker) {
  const std::lock_guard lock(mutex_);
  unsettled_.erase(worker);
  failures_.erase(worker);
}

}  // namespace souk::hub
