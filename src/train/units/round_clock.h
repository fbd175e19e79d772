#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/time.h"

namespace souk::train {

// Rounds by the clock (docs/decisions/0094-rounds-by-the-clock.md): all work from one version of
// the parameters for about as long, each on as much as it gets done meanwhile, and nobody waits for
// who is late. How long that is follows from the machines and their lines. Pure: time is passed in.
class RoundClock {
 public:
  // Seconds of a round; 0: chosen here.
  explicit RoundClock(double seconds = 0) : seconds_(seconds) {}

  // What is known of a worker: seconds that a step takes, and an exchange. 0: not known.
  struct Pace {
    double step_s = 0, exchange_s = 0;
  };

  // A worker as its rounds see it.
  struct Member {
    Pace pace = {};
    bool had_turn = false;  // It had work in this round, or no time for any.

    void gave(std::int64_t steps);
    // What it was given last was done in time, or not, so that its steps take longer than that. Who
    // is late gets half as much, whatever it says of its pace, until it is in time; who is late
    // with one step rests.
    void in_time();
    void late(base::Duration taken);
    // Where its time went since it said so last; it may have said before where it waited.
    void measured(base::Duration computed, base::Duration waited);

   private:
    friend class RoundClock;
    static constexpr std::int64_t kAnySteps = 1'000'000'000;
    std::int64_t steps_given_ = 0;  // Since then.
    std::int64_t last_ = 0, most_ = kAnySteps;
    base::Duration waited_ = {};
    int reports_ = 0;
    int left_out_ = 0, rests_ = 0;  // Rounds in a row without work; that it must do without.
    double carry_ = 0;  // The part of a step that it had time for beyond those of its last rounds.
  };

  // The first of a round has asked for work.
  void begin(base::Time now, std::span<const Pace> paces);
  void end() { under_way_ = false; }
  [[nodiscard]] bool under_way() const { return under_way_; }
  [[nodiscard]] base::Time over() const { return began_ + length_; }  // Then all should be done,
  // and from then on such a worker is not waited for: one of which nothing is known has longer, and
  // all the time there is as long as nothing is known of anybody.
  [[nodiscard]] base::Time late(const Pace& pace) const;

  // It is its turn, now: how many steps it has time for; 0: not for one.
  [[nodiscard]] std::int64_t steps(Member& worker, base::Time now) const;

  // The part of the one under way, or of the last.
  [[nodiscard]] base::Duration part(double share) const {
    return base::as_duration(share * length_.seconds());
  }
  // How long the next will be.
  [[nodiscard]] base::Duration length(std::span<const Pace> paces) const;

 private:
  [[nodiscard]] std::int64_t fitting(Member& worker, base::Time now) const;

  double seconds_;
  bool under_way_ = false, known_ = false;
  base::Time began_;
  base::Duration length_;
};

}  // namespace souk::train
