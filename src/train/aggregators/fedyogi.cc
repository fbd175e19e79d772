#include "train/aggregators/adaptive_step.h"

namespace souk::train {
namespace {

// FedYogi: v <- v - (1 - beta2) D*D sign(v - D*D). Where changes shrink, v does so no faster than
// they do, and steps do not jump up as Adam's may.
struct Yogi {
  static constexpr std::string_view kName = "fedyogi";
  static float second(float v, float square, float beta2) {
    const auto above = static_cast<float>(v > square) - static_cast<float>(v < square);
    return v - (1 - beta2) * square * above;
  }
};

}  // namespace

std::unique_ptr<Aggregator> make_fedyogi(const base::Arguments& given, std::int32_t workers) {
  return std::make_unique<AdaptiveStep<Yogi>>(given, workers);
}

}  // namespace souk::train
