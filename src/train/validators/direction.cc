#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "train/validators/makers.h"

namespace souk::train {
namespace {

constexpr double kSpreadDeviation = 1.5;  // Spreads.
constexpr double kSpreads = 4 * kSpreadDeviation;
constexpr double kNoise = 5;    // Deviations of the agreement of noise, which is 1 / sqrt(n).
constexpr double kClear = 0.5;  // What agrees by this is neither, however alike the others are.
constexpr std::size_t kRecordFor = 6;
constexpr std::size_t kLately = 5;
constexpr double kSure = 3;     // Deviations of a mean, to accuse;
constexpr double kShown = 2.5;  // to see that the others agree.

// Refuses updates that do not point where the others do: an update turned round, or noise. How far
// honest ones agree differs from model to model and falls as training goes on: near its end each
// undoes some of the one before, and all disagree. So a machine is compared with what others send
// at the same time, refused or not: by what was accepted alone, all would be refused once they
// agree less than before. Early on one update tells: one turned round would lie outside of the
// others, unless the last ones all point elsewhere: with momentum at the hub all go too far at
// once, and come back together. Later honest ones agree by less than they spread; then a machine is
// told by its record, as long as the others' would show that they agree: honest work does on
// average, whatever its shard, and one odd update of a machine whose others agree is believed.
// Noise is told by agreeing with nothing at all, each time. An update of few numbers agrees by
// chance, and is judged by less. Judges nothing without kEnough updates of others.
class Pointing final : public Validator {
 public:
  std::string_view name() const override { return "direction"; }

  std::string judge(const Evidence& e, const History& h) const override {
    const auto agreed = h.agreement(e);
    const auto others = h.others(e.worker, kRecordFor);
    if (!agreed || others.size() < kEnough) return "";
    const auto noise =
        std::min(kClear, kNoise / std::sqrt(static_cast<double>(e.direction.size())));
    const auto usual = median(others), apart = spread(others);
    if (usual <= noise) return "";  // Others do not agree either: it says nothing.
    const auto record = h.record(e.worker);
    const auto before = record.first(record.size() - std::min<std::size_t>(1, record.size()));
    if (-usual < usual - kSpreads * apart && *agreed < std::min(noise, usual - kSpreads * apart) &&
        !(mean(before) > noise) && !all_turned(others, noise))
      return fmt::format("it points elsewhere: agreement {:.3f}, usual is {:.3f}", *agreed, usual);
    if (record.size() < kRecordFor) return "";
    const auto doubt =
        kShown * kSpreadDeviation * apart / std::sqrt(static_cast<double>(record.size()));
    if (usual > doubt && against(record))
      return "what comes from this machine points the other way";
    if (usual > 2 * noise && is_noise(record, noise))
      return "what comes from this machine points nowhere";
    return "";
  }

 private:
  static double mean(std::span<const double> values) {
    const auto sum = std::accumulate(values.begin(), values.end(), 0.0);
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
  }

  // The last of the others do not agree with what was accepted before them either.
  static bool all_turned(const std::deque<double>& others, double noise) {
    const auto from = others.end() - std::min<std::ptrdiff_t>(kLately, std::ssize(others));
    return median(std::vector<double>(from, others.end())) <= noise;
  }

  static bool against(std::span<const double> record) {
    const auto n = static_cast<double>(record.size());
    const auto middle = mean(record);
    double squares = 0;
    for (const auto a : record) squares += (a - middle) * (a - middle);
    return middle + kSure * std::sqrt(squares / n / n) < 0;
  }

  static bool is_noise(std::span<const double> record, double noise) {
    return std::ranges::all_of(record.last(kRecordFor),
                               [&](double a) { return std::abs(a) < noise; });
  }
};

}  // namespace

std::unique_ptr<Validator> make_direction(const base::Arguments& /*given*/) {
  return std::make_unique<Pointing>();
}

}  // namespace souk::train
