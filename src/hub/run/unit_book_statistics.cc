#include <utility>

#include "hub/run/unit_book.h"

// The model's state (running means and variances), measured anew by workers before a check. Agents
// get an ordinary unit of training at a rate of nothing, from exactly the version under check, and
// only the state is taken from its update. What comes of it is a version of its own, which the
// check looks at and the training ends with; the parameters that are trained on stay as they are.

namespace souk::hub {

wire::UnitVerdict UnitBook::state_measured(OpenReport& report, const wire::UnitDone& done,
                                           const train::Update& change) {
  const auto& unit = report.unit();
  if (done.base != unit.version)
    return refuse(report, "the statistics are of another version of the parameters");
  // It was told to stop: those of fewer samples cannot be compared.
  if (done.steps != unit.steps) return give_back(report);
  const auto base = kept(unit.version);
  if (!base) return refuse(report, "the check is over", false);
  auto state = train::measured_state(model_.state_runs, *base, change);
  if (!state) return refuse(report, state.error().message);
  const std::lock_guard lock(mutex_);
  if (!counts(report)) return close(report, not_counted(report));
  auto& training = session_.training();
  std::vector<bool> agrees;
  for (const auto before : training.measured_before(unit.id))
    agrees.push_back(train::same_state(model_.states.at(before), *state));
  model_.states.emplace(unit.id, *std::move(state));
  check_wages_.emplace(unit.id, report.wage(done.epoch));
  training.state_measured(unit.id, agrees, clock_.now());
  use_measured_states();
  if (pay_settled_checks().contains(unit.id))
    return close(report, {false, std::string(kOthersDiffer)});
  return close(report, {true, ""});
}

void UnitBook::use_measured_states() {
  for (const auto& [version, unit] : session_.training().take_measured())
    if (const auto it = kept_.find(version); it != kept_.end())
      kept_.insert_or_assign(
          unit, train::with_state(it->second, model_.state_runs, model_.states.at(unit), unit));
}

void UnitBook::use_layout(train::Layout layout) {
  model_.layout = std::make_shared<train::Layout>(std::move(layout));
  model_.state_runs = train::state_runs(*model_.layout);
  if (!model_.state_runs.empty()) session_.training().measure_state();
}

}  // namespace souk::hub
