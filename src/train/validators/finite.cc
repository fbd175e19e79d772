#include "train/validators/makers.h"

namespace souk::train {
namespace {

// Refuses updates with a value that is infinite or no number: one would spoil the parameters for
// good.
class Finite final : public Validator {
 public:
  std::string_view name() const override { return "finite"; }
  std::string judge(const Evidence& e, const History& /*h*/) const override {
    return e.stats.finite ? "" : "it contains values that are infinite or not numbers";
  }
};

}  // namespace

std::unique_ptr<Validator> make_finite(const base::Arguments& /*given*/) {
  return std::make_unique<Finite>();
}

}  // namespace souk::train
