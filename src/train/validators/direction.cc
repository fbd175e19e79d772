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
constexpr double kMostAlike = 0.9;
constexpr double kSure = 3;     // Deviations of a mean, to accuse;
constexpr double kShown = 2.5;  // to see that the others agree.

// Refuses updates that do not point where the others do: an update turned round, or noise. How far
// honest ones agree differs from model to model and falls as training goes on: near its end each
// undoes some of the one before, and all disagree. So a machine is compared with what others send
// at the same time, refused or not, and would in units as short as its own: by what was accepted
// alone, all would be refused once they agree less than before. Early on the second such update
// tells: one turned round would lie outside of the others, unless the last ones all point
// elsewhere: with momentum at the hub all go too far at once, and come back together. Later honest
// ones agree by less than they spread; then a machine is told by its record, as long as the others'
// would show that they agree: honest work does on average, whatever its shard. One odd update of a
// machine is believed, and more of one whose others agree. Noise is told by agreeing with nothing
// at all, each time. An update of few numbers agrees by chance, and is judged by less. Judges
// nothing without kEnough updates of others.
class Pointing final : public Validator {
 public:
  std::string_view name() const override { return "direction"; }

  std::string judge(const Evidence& e, const History& h) const override {
    const auto agreed = h.agreement(e);
    const auto others = h.others(e.worker, kRecordFor, e.steps);
    if (!agreed || others.size() < kEnough) return "";
    const auto noise =
        std::min(kClear, kNoise / std::sqrt(static_cast<double>(e.direction.size())));
    const auto usual = median(others), apart = spread(others);
    if (usual <= noise) return "";  // Others do not agree either: it says nothing.
    const auto record = h.record(e.worker);
    const auto before = record.first(record.size() - std::min<std::size_t>(1, record.size()));
    const auto least = std::min(noise, usual - kSpreads * apart);
    const auto say = weight(record);
    if (-usual < least && *agreed < least && was_odd(before, least) && !agrees(before, noise) &&
        !all_turned(others, noise))
      return fmt::format("it points elsewhere: agreement {:.3f}, usual is {:.3f}", *agreed, usual);
    if (record.size() < kRecordFor) return "";
    const auto doubt = kShown * kSpreadDeviation * apart / std::sqrt(say);
    if (usual > doubt && against(record, say))
      return "what comes from this machine points the other way";
    if (usual > 2 * noise && is_noise(record, noise))
      return "what comes from this machine points nowhere";
    return "";
  }

 private:
  // One of its last did not agree either.
  static bool was_odd(std::span<const double> before, double least) {
    const auto last = before.last(std::min(before.size(), kRecordFor - 1));
    return std::ranges::any_of(last, [&](double a) { return a < least; });
  }

  // On average, by more than noise would.
  static bool agrees(std::span<const double> before, double noise) {
    return mean(before) * std::sqrt(static_cast<double>(before.size())) > noise;
  }

  static double mean(std::span<const double> values) {
    const auto sum = std::accumulate(values.begin(), values.end(), 0.0);
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
  }

  // The last of the others do not agree with what was accepted before them either.
  static bool all_turned(const std::deque<double>& others, double noise) {
    const auto from = others.end() - std::min<std::ptrdiff_t>(kLately, std::ssize(others));
    return median(std::vector<double>(from, others.end())) <= noise;
  }

  // As how many that know nothing of each other they count: through a machine's momentum, units in
  // a row say the same. From how alike neighbours are.
  static double weight(std::span<const double> record) {
    const auto n = static_cast<double>(record.size());
    const auto middle = mean(record);
    double squares = 0, neighbours = 0;
    for (std::size_t i = 0; i < record.size(); ++i) {
      squares += (record[i] - middle) * (record[i] - middle);
      if (i > 0) neighbours += (record[i] - middle) * (record[i - 1] - middle);
    }
    const auto by_chance = 1 / std::sqrt(n);
    const auto alike =
        squares > 0 ? std::clamp(neighbours / squares - by_chance, 0.0, kMostAlike) : 0;
    return n * (1 - alike) / (1 + alike);
  }

  static bool against(std::span<const double> record, double weight) {
    const auto middle = mean(record);
    double squares = 0;
    for (const auto a : record) squares += (a - middle) * (a - middle);
    return middle + kSure * std::sqrt(squares / static_cast<double>(record.size()) / weight) < 0;
  }

  static bool is_noise(std::span<const double> record, double noise) {
    const auto last = record.last(kRecordFor);
    return !agrees(last, noise) &&
           std::ranges::all_of(last, [&](double a) { return std::abs(a) < noise; });
  }
};

}  // namespace

std::unique_ptr<Validator> make_direction(const base::Arguments& /*given*/) {
  return std::make_unique<Pointing>();
}

}  // namespace souk::train
