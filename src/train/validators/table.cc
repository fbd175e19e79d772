#include <array>

#include "train/validators/makers.h"

namespace souk::train {
namespace {

constexpr base::Parameter factor(std::string_view otherwise, std::string_view meaning) {
  return {.name = "factor",
          .low = 1,
          .high = 1e6,
          .above_low = true,
          .default_value = otherwise,
          .meaning = meaning};
}

// The one list of validators. To add one: a file, its test, its maker in makers.h, its row here.
constexpr std::array kValidators{
    ValidatorInfo{.name = "finite",
                  .what = "Refuses updates with a value that is infinite or not a number.",
                  .make = make_finite},
    ValidatorInfo{.name = "norm",
                  .what = "Refuses updates that are far longer than those accepted lately, and "
                          "updates that change nothing.",
                  .parameters = {factor("10", "How many times the median length is too long.")},
                  .make = make_norm},
    ValidatorInfo{.name = "loss",
                  .what = "Refuses updates whose reported loss is far from the usual.",
                  .parameters = {factor("20", "How many times the usual spread is too far.")},
                  .make = make_loss},
    ValidatorInfo{.name = "direction",
                  .what = "Refuses updates that do not point where those of other workers do.",
                  .make = make_direction},
    ValidatorInfo{
        .name = kScore,
        .what = "Refuses updates that raise the loss on validation data, as two other owners "
                "measured it; only where a job names it.",
        .parameters = {{.name = "share",
                        .low = 0,
                        .high = 1,
                        .above_low = true,
                        .default_value = "0.1",
                        .meaning = "The share of a newcomer's updates that are measured."}},
        .make = make_score,
        .by_default = false},
};

}  // namespace

std::span<const ValidatorInfo> validators() { return kValidators; }

std::vector<std::string_view> validator_names() {
  std::vector<std::string_view> names;
  for (const auto& info : kValidators) names.push_back(info.name);
  return names;
}

std::optional<double> score_share(std::string_view spec) {
  if (spec.substr(0, spec.find(':')) != kScore) return std::nullopt;
  const auto& row = kValidators.back();
  static_assert(kValidators.back().name == kScore);
  const auto given = base::read_suffix("validator", row.name, row.parameters, spec);
  return given ? std::optional(given->number("share")) : std::nullopt;
}

base::Result<std::unique_ptr<Validator>> make_validator(std::string_view spec) {
  SOUK_ASSIGN(const auto* info, base::find_named(validators(), spec.substr(0, spec.find(':')),
                                                 "validator", "validator"));
  SOUK_ASSIGN(const auto given, base::read_suffix("validator", info->name, info->parameters, spec));
  return info->make(given);
}

}  // namespace souk::train
