#include "train/aggregators/adaptive_step.h"

namespace souk::train {
namespace {

// FedAdam: v <- beta2 v + (1 - beta2) D*D.
struct Adam {
  static constexpr std::string_view kName = "fedadam";
  static float second(float v, float square, float beta2) {
    return beta2 * v + (1 - beta2) * square;
  }
};

}  // namespace

std::unique_ptr<Aggregator> make_fedadam(const base::Arguments& given, std::int32_t workers) {
  return std::make_unique<AdaptiveStep<Adam>>(given, workers);
}

}  // namespace souk::train
