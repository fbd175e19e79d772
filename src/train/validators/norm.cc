#include <fmt/format.h>

#include <algorithm>

#include "train/validators/makers.h"

namespace souk::train {
namespace {

constexpr double kNothing = 1e-3;  // Of the smallest accepted lately.

// Refuses updates whose norm, per square root of their steps, is more than `factor` times what is
// usual for so many steps, or next to nothing beside the smallest of those accepted lately.
// The first are exploding or hostile; the second come from workers that send nothing and hope to be
// paid. Once a model fits its data honest changes shrink without end, ten thousand times within the
// memory of a History, but step by step: so the lower bound follows them down.
// Honest norms spread by about e^0.5. Judges nothing before kEnough updates; hence where all
// of those were zero, zero is usual.
class Norm final : public Validator {
 public:
  explicit Norm(double factor) : factor_(factor) {}
  std::string_view name() const override { return "norm"; }

  std::string judge(const Evidence& e, const History& h) const override {
    if (!e.stats.finite) return "its norm is not finite";
    const auto usual = h.usual_norm(e.steps), norm = norm_per_step(e);
    if (!h.enough() || usual == 0) return "";
    if (norm > factor_ * usual)
      return fmt::format("its norm is {:.3g} times the usual; at most {:g} times is accepted",
                         norm / usual, factor_);
    if (norm <= std::ranges::min(h.sizes(), {}, &Size::norm).norm * kNothing)
      return fmt::format("its norm is {:.3g} times the usual: it changes nothing", norm / usual);
    return "";
  }

 private:
  double factor_;
};

}  // namespace

std::unique_ptr<Validator> make_norm(const base::Arguments& given) {
  return std::make_unique<Norm>(given.number("factor"));
}

}  // namespace souk::train
