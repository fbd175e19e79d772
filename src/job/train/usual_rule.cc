#include "job/train/usual_rule.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "train/validators/validator.h"

namespace souk::job {
namespace {

constexpr std::string_view kRounds = "rounds";
// They normalise by batches: parameters of different ages spoil their statistics.
constexpr std::array<std::string_view, 2> kNormalised{R"("resnet20")", R"("preresnet")"};

}  // namespace

std::string usual_rule(const wire::Train& train, std::int32_t workers) {
  // One worker alone is serial training anyway, with its exchange hidden.
  if (workers < 2) return "";
  // What is done twice, or tried out before it counts, cannot wait for a round.
  const bool tried_out = std::ranges::any_of(
      train.validators, [](const auto& name) { return train::score_share(name).has_value(); });
  if (train.replicate > 0 || tried_out) return "";
  const auto is = [&](std::string_view key, std::string_view json) {
    const auto it = train.config.find(std::string(key));
    return it != train.config.end() && it->second == json;
  };
  const bool transformers = is("trainer", R"("transformers")");
  // All parameters of a large model are more than the hub should hold of each worker at a time.
  if (transformers)
    return train.config.contains("lora") || is("model", R"("new-gpt")") ? std::string(kRounds) : "";
  const bool normalised =
      std::ranges::any_of(kNormalised, [&](auto model) { return is("model", model); });
  return normalised || is("optimizer", R"("adam")") ? std::string(kRounds) : "";
}

}  // namespace souk::job
