#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "base/result.h"
#include "market/commands.h"
#include "market/state.h"
#include "server/core/parsed_works.h"

namespace souk::server {

// Looks at the trainings now and then, at the pace they have shown. Those that may be in several
// classes move where another is better (advisor/move.h). Those with a deadline are resized when
// they would be late, or done far too early (advisor/resize.h). Never beyond the workers and
// classes that the job's owner allowed, and never where the credits left would not pay for it. Each
// change is an event with its reason. On the core thread.
class Replan {
 public:
  using Execute = std::function<base::Result<>(market::Command)>;

  // `progress`: how much of a job is done, 0 to 1.
  Replan(std::function<double(base::JobId)> progress, ParsedWorks& works)
      : progress_(std::move(progress)), works_(works) {}

  void on_tick(const market::State& s, base::Time now, const Execute& execute);

 private:
  // What a training did while it was watched.
  struct Watched {
    // Since when it has had these workers in this class, and how far it was then.
    base::Time at;
    market::ClassId slot_class;
    std::int32_t workers = 0;
    double progress = 0;
    base::Time changed;  // By us.
    // Of a worker and second, in the classes it has been in.
    struct PaceAndPrice {
      double pace = 0, price = 0;
    };
    std::map<market::ClassId, PaceAndPrice> been;
  };
  // One training, at one moment.
  struct Look {
    const market::State& s;
    const market::Job& job;
    base::Time now;
    const Execute& execute;
    double left = 1;           // Of the work.
    std::int32_t workers = 0;  // That run.
    double pace = 0;           // Of each; 0: not known.
  };
  void look(Look at, Watched& seen);
  bool move(const Look& at, Watched& seen);
  static void resize(const Look& at, Watched& seen);

  const std::function<double(base::JobId)> progress_;
  ParsedWorks& works_;
  base::Time next_;
  std::map<base::JobId, Watched> seen_;
};

}  // namespace souk::server
