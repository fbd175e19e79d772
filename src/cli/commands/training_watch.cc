#include "cli/commands/training_watch.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "cli/commands/job_flags.h"
#include "cli/shell/human.h"
#include "cli/shell/session.h"

namespace souk::cli {

namespace {

std::string short_loss(double value) {
  const auto size = std::abs(value);
  return size != 0 && (size < 0.001 || size >= 100'000) ? fmt::format("{:.4g}", value)
                                                        : fmt::format("{:.4f}", value);
}

// "accuracy 0.9100 (0.9000 to 0.9200), f1 0.8800": what the checks are judged by comes first. The
// loss of training has its own place; that of validation is one of these where it decides.
std::string row_figures(const wire::Training& t, const wire::TrainRow& r) {
  std::string out;
  const auto add = [&](std::string_view name, double value) {
    out += fmt::format("{} {}", name, short_loss(value));
  };
  const auto judged = t.figure ? t.figure->name : std::string();
  const auto it = r.metrics.find(judged);
  if (judged == "loss")
    add("validation loss", r.validation_loss);
  else if (it != r.metrics.end())
    add(judged, it->second);
  if (!out.empty() && r.low && r.high && *r.high > *r.low)
    out += fmt::format(" ({} to {})", short_loss(*r.low), short_loss(*r.high));
  for (const auto& [name, value] : r.metrics) {
    if (name == judged) continue;
    if (!out.empty()) out += ", ";
    add(name, value);
  }
  return out;
}

}  // namespace

std::string figures(const wire::Training& t) {
  return t.rows.empty() ? std::string() : row_figures(t, t.rows.back());
}

std::string unmeasured(const wire::Training& t) {
  if (!t.target || !t.figure || t.figure->value || t.rows.empty()) return {};
  std::string names = "loss";
  for (const auto& [name, _] : t.rows.back().metrics) names += ", " + name;
  return fmt::format(
      "the target is of {0}, which the trainer does not measure: it gives {1}. Give a target of "
      "one "
      "of these, or return {0} from evaluate",
      t.figure->name, names);
}

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
    auto told = row_figures(t, r);
    if (!told.empty()) told += ", ";
    c.note(fmt::format("epoch {} of {}: {}loss {}, {} after {}", r.epoch, t.epochs, told,
                       short_loss(r.loss), plural(r.workers, "worker"), rough(r.at)));
  }
  if (const auto warning = unmeasured(t); !warning.empty() && !std::exchange(missed_, true))
    c.note(warning);
  if (!progress || t.state != wire::TrainingState::training) return {};
  progress->say(fmt::format("epoch {} of {}{}{}, {}, {}{}", t.epoch, t.epochs,
                            t.figure && t.figure->value ? fmt::format(", {} {}", t.figure->name,
                                                                      short_loss(*t.figure->value))
                                                        : "",
                            t.target ? fmt::format(" (target {})", short_loss(*t.target)) : "",
                            plural(t.workers, "worker"), spent_so_far(job),
                            t.left ? ", at most " + rough(*t.left) + " left" : ""));
  progress->update(static_cast<std::uint64_t>(100 * t.progress));
  return {};
}

std::string codecs_in_use(const wire::Training& training) {
  std::map<std::string, int> workers;
  for (const auto& w : training.by_worker)
    if (!w.codec.empty()) ++workers[w.codec];
  std::string out;
  for (const auto& [codec, count] : workers)
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", codec, plural(count, "worker"));
  return out;
}

std::string measured(const wire::Training& t) {
  auto out = figures(t);
  if (out.empty()) return out;
  if (t.target) out += fmt::format(" (target {})", short_loss(*t.target));
  if (!t.confirmed.value_or(true)) out += ", by one owner alone: a second one would confirm it";
  return out;
}

}  // namespace souk::cli
