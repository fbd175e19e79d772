#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "base/random.h"
#include "train/aggregators/aggregator.h"
#include "train/pull.h"
#include "train/update.h"

namespace souk::train {

// An update was tried on samples that nobody trains on: the loss of the parameters without it, and
// with it, in its worker's share, as a fold would add it.
struct Score {
  std::int64_t worker = 0;
  std::int64_t steps = 1;  // Behind the update.
  double before = 0, after = 0;
  // The part by which one step raised the loss; below zero where it lowered it.
  [[nodiscard]] double rise() const;
};

// What is measured of an update: `now` moved by it in its worker's share.
[[nodiscard]] ParameterSnapshot with_update(const ParameterSnapshot& now, const Update& update,
                                            Sends sends);

// Which updates are judged by what they do to the loss, and what is believed of them. How much an
// honest update lowers the loss differs from model to model and falls as training goes on, and in
// the end some raise it. So an update is compared with those of other workers that were scored
// lately, refused or not. Judges nothing before kEnoughScores of them.
//
// The first are all scored, to have something to compare with; then a share of each worker's, less
// of those that were right again and again, and all of one whose last score was refused. Pure.
class Scores {
 public:
  static constexpr std::size_t kEnoughScores = 8, kRemembered = 64;

  explicit Scores(double share) : share_(share) {}

  // Is the update of `worker`, that was accepted so often in a row, to be scored?
  [[nodiscard]] bool choose(std::int64_t worker, std::int64_t streak, base::Random& random) const;
  // Why the update must not be folded; empty: it may.
  [[nodiscard]] std::string judge(const Score& score) const;
  // What became of it.
  void note(const Score& score, bool refused);

 private:
  struct Note {
    std::int64_t worker = 0;
    double rise = 0;
  };
  double share_;
  std::deque<Note> notes_;                 // The last kRemembered.
  std::map<std::int64_t, int> suspected_;  // Workers, and how often they must be right.
};

}  // namespace souk::train
