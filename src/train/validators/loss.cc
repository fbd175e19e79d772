#include <fmt/format.h>

#include <cmath>

#include "train/validators/makers.h"

namespace souk::train {
namespace {

constexpr double kSlack = 0.05;  // Of the median itself, where all losses are nearly the same.

// Refuses updates whose reported loss is not finite, or further from the median of those accepted
// lately than `factor` times their spread: the median distance from the median,
// plus a twentieth of the median's size. Up to twice what was ever accepted is usual, too:
// where a model fits its data losses are next to nothing, and a step too far is back where it was.
// A loss is only what the worker says, so this finds broken machines rather than liars. Judges
// nothing but finiteness before kEnough updates.
class Loss final : public Validator {
 public:
  explicit Loss(double factor) : factor_(factor) {}
  std::string_view name() const override { return "loss"; }

  std::string judge(const Evidence& e, const History& h) const override {
    if (!std::isfinite(e.loss)) return "its loss is not a finite number";
    if (!h.enough()) return "";
    const auto usual = h.median_loss();
    const auto most = factor_ * (h.spread_loss() + kSlack * std::abs(usual));
    // Where all were the same zero there is nothing to compare with.
    if (most == 0 || std::abs(e.loss - usual) <= most || h.had_loss(e.loss)) return "";
    return fmt::format("its loss is {:.4g}; usual is {:.4g}, and up to {:.3g} off is accepted",
                       e.loss, usual, most);
  }

 private:
  double factor_;
};

}  // namespace

std::unique_ptr<Validator> make_loss(const base::Arguments& given) {
  return std::make_unique<Loss>(given.number("factor"));
}

}  // namespace souk::train
