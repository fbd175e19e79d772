#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameter.h"
#include "base/random.h"
#include "base/result.h"
#include "train/update.h"

namespace souk::train {

// What one pass over an update's values tells. The norm is exact to about 1e-5 and finite just when
// all values are.
struct Stats {
  bool finite = true;
  double norm = 0;  // Euclidean.
};
[[nodiscard]] Stats stats_of(const Update& update);

// The same block by block, in their order, as they arrive.
class StatsSum {
 public:
  void add(const Update& update, std::size_t block);
  [[nodiscard]] Stats stats() const;

 private:
  double squares_ = 0;
  std::vector<float> scratch_;
};

// Some of an update's values, from the same places in each update of a training: enough to tell
// where it points. Its length is 1, or it is empty where all of them are zero or not finite.
using Direction = std::vector<float>;
inline constexpr std::size_t kDirection = std::size_t{1} << 15;  // At most so many.
[[nodiscard]] Direction direction_of(const Update& update);

// An update as validators see it.
struct Evidence {
  Stats stats;
  std::int64_t steps = 0;
  double loss = 0;  // As the worker reports it.
  Direction direction = {};
  std::int64_t worker = 0;
};

// The lower of the two in the middle where there are two; 0 without any.
[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] double median(const std::deque<double>& values);
// The median distance from the median.
[[nodiscard]] double spread(const std::deque<double>& values);

// How many updates a History remembers, and how many make medians worth judging by.
inline constexpr std::size_t kRemembered = 64, kEnough = 8;
inline constexpr std::size_t kNotes = 256;

// A norm, per square root of the steps that it came from. 0 steps: so many that it is compared as
// it is.
struct Size {
  double norm = 0;
  std::int64_t steps = 0;
};

// What was accepted lately: enough for medians. Copyable, small.
class History {
 public:
  void accept(const Evidence& e);
  [[nodiscard]] std::size_t size() const { return sizes_.size(); }
  [[nodiscard]] bool enough() const { return size() >= kEnough; }
  // What is usual for so many steps: the median of what was accepted, or of what was judged lately,
  // refused or not, where that is more: when a model leaves a plateau the changes of all grow at
  // once, and what was accepted says nothing of it. Of several machines the last of each
  // counts, so that fewer than half of them cannot move it; of one its last five. 0 without
  // history.
  [[nodiscard]] double usual_norm(std::int64_t steps) const;
  [[nodiscard]] double median_loss() const;  // 0 without history.
  [[nodiscard]] double spread_loss() const;
  // Is it between the least that was ever accepted and twice the most?
  [[nodiscard]] bool had_loss(double loss) const {
    return loss >= least_loss_ && loss <= std::max(most_loss_, 2 * most_loss_);
  }
  // How long updates are and where they point is forgotten: it says nothing of what comes now.
  void forget();
  // How far `e` points where those of others do that were accepted lately: from 1, the same way, to
  // -1. A machine's own agree with each other through its momentum, and say nothing. Nothing where
  // it cannot be said.
  [[nodiscard]] std::optional<double> agreement(const Evidence& e) const;
  // Every update is noted before it is judged: what a worker's last ones agreed by, refused or not.
  // Notes are not in snapshots: they come back by themselves.
  void note(const Evidence& e);
  [[nodiscard]] std::span<const double> record(std::int64_t worker) const;
  // What those of others agreed by while `worker` made its last `own`; the last kNotes, if it has
  // not made so many among them. As they would agree in units of at most so many steps.
  [[nodiscard]] std::deque<double> others(std::int64_t worker, std::size_t own,
                                          std::int64_t steps) const;

  // The last kRemembered, in order of arrival. restore() forgets what is too much, the oldest
  // first.
  [[nodiscard]] const std::deque<Size>& sizes() const { return sizes_; }
  [[nodiscard]] const std::deque<double>& losses() const { return losses_; }
  void restore(std::deque<Size> sizes, std::deque<double> losses);

 private:
  struct Note {
    std::int64_t worker = 0;
    double agreed = 0;
    std::int64_t steps = 0;
  };
  struct Headed {
    std::int64_t worker = 0;
    Direction direction;
  };
  struct Judged {
    std::int64_t worker = 0;
    Size size;
  };
  [[nodiscard]] double judged_norm(std::int64_t steps) const;

 public:
  mutable std::deque<double> ages;

 private:
  std::deque<Size> sizes_;
  std::deque<double> losses_;
  double least_loss_ = 0, most_loss_ = 0;
  std::deque<Judged> judged_;  // The last kRemembered, but what is not finite.
  std::deque<Headed> headed_;  // The last of those accepted that point somewhere.
  std::map<std::int64_t, std::vector<double>> records_;  // Of workers.
  std::deque<Note> notes_;
};

// An update's norm per square root of its steps: local steps with independent noise add up so.
[[nodiscard]] double norm_per_step(const Evidence& e);

// Says why an update must not be folded, or nothing. One file each, listed in table.cc. Pure and
// thread-safe.
class Validator {
 public:
  virtual ~Validator() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Empty: accepted. Else why not, for people.
  [[nodiscard]] virtual std::string judge(const Evidence& e, const History& h) const = 0;
};

using MakeValidator = std::unique_ptr<Validator>(const base::Arguments& given);

// One row of the table of validators.
struct ValidatorInfo {
  std::string_view name;
  std::string_view what;                // One sentence: which updates it refuses.
  base::ParameterList parameters = {};  // At most one: what follows the colon of a spec.
  MakeValidator* make;
  bool by_default = true;  // Used where a job names none.
};

[[nodiscard]] std::span<const ValidatorInfo> validators();
[[nodiscard]] std::vector<std::string_view> validator_names();
// Of the validator `score` ("score", "score:0.2"), which needs more than an update's values: the
// share of updates that it looks at (train/scores.h). Nothing: it is another one.
inline constexpr std::string_view kScore = "score";
[[nodiscard]] std::optional<double> score_share(std::string_view spec);
// A name, or a name and a value behind a colon: "finite", "norm", "norm:10".
[[nodiscard]] base::Result<std::unique_ptr<Validator>> make_validator(std::string_view spec);

// Replication as BOINC does it: of a worker with fewer than `trusted_after` consecutive valid
// results a share `newcomers` of its units is checked, of a trusted one with probability 1/n, n
// being its consecutive valid results, but never more often than a newcomer; an invalid one sends
// it back to zero.
class Replication {
 public:
  explicit Replication(double newcomers = 0.1, std::int32_t trusted_after = 10)
      : newcomers_(newcomers), trusted_after_(trusted_after) {}
  [[nodiscard]] bool check(std::int64_t consecutive_valid, base::Random& random) const;
  // Are two answers to the same unit the same, up to rounding of different processors? Not for
  // codecs that keep residuals: what they send depends on units before.
  [[nodiscard]] static bool agree(const Update& a, const Update& b);

 private:
  double newcomers_;
  std::int32_t trusted_after_;
};

}  // namespace souk::train
