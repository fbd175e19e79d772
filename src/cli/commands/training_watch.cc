#include "cli/commands/training_watch.h"

#include <fmt/format.h>

#include "cli/shell/human.h"
#include "cli/shell/session.h"

namespace souk::cli {

Result<> TrainingWatch::step(Context& c, const wire::Job& job, std::optional<Progress>& progress) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto t, parsed<wire::Training>(
                                api->get(path_of("/v1/jobs", to_string(job.id), "/training"))));
  if (c.json()) return {};
  for (; told_ < t.rows.size(); ++told_) {
    const auto& r = t.rows[told_];
    // Checks of an epoch may still come; its line is written once the next has begun.
    if (told_ + 1 == t.rows.size() && t.state != wire::TrainingState::finished &&
        t.epoch <= r.epoch)
      break;
    c.note(fmt::format("epoch {} of {}: accuracy {:.4f}{}, loss {:.4f}, {} after {}", r.epoch,
                       t.epochs, r.accuracy,
                       r.high > r.low ? fmt::format(" ({:.4f} to {:.4f})", r.low, r.high) : "",
                       r.loss, plural(r.workers, "worker"), rough(r.at)));
  }
  if (!progress || t.state != wire::TrainingState::training) return {};
  progress->say(fmt::format("epoch {} of {}{}{}, {}, {} credits{}", t.epoch, t.epochs,
                            t.accuracy ? fmt::format(", accuracy {:.4f}", *t.accuracy) : "",
                            t.target ? fmt::format(" (target {:.4f})", *t.target) : "",
                            plural(t.workers, "worker"), brief(job.spent),
                            t.left ? ", at most " + rough(*t.left) + " left" : ""));
  progress->update(static_cast<std::uint64_t>(100 * t.progress));
  return {};
}

}  // namespace souk::cli
