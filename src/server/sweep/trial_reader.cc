#include "server/sweep/trial_reader.h"

#include <cmath>

#include "blob/folder.h"
#include "job/sweep/metric_line.h"
#include "train/metrics.h"
#include "wire/json.h"

namespace souk::server {
namespace {

constexpr std::uint64_t kMostMetricsFile = 64 << 20;
constexpr std::size_t kMostLine = 4'096;

std::optional<wire::Training> training_of(const Services& services, const TrialQuestion& q) {
  if (const auto run = services.hub.find(q.job)) return run->view();
  const auto root = blob::parse_digest(q.result);
  if (!root) return std::nullopt;
  const auto manifest = blob::read_manifest(*root, *services.blobs);
  if (!manifest) return std::nullopt;
  const auto text = blob::read_file(*manifest, "metrics.json", *services.blobs, kMostMetricsFile);
  if (!text) return std::nullopt;
  auto out = wire::from_json<wire::Training>(*text);
  return out ? std::optional(*std::move(out)) : std::nullopt;
}

// A row of an epoch that is under way may still change.
std::vector<TrialReport> checks_of(const wire::Training& training, const TrialQuestion& q) {
  std::vector<TrialReport> out;
  const bool over = q.last || training.state == wire::TrainingState::finished;
  for (const auto& row : training.rows) {
    if (!over && row.epoch >= training.epoch) break;
    const auto it = row.metrics.find(q.metric);
    if (q.metric != train::kLoss && it == row.metrics.end()) continue;
    const auto value = q.metric == train::kLoss ? row.validation_loss : it->second;
    out.push_back({row.epoch, std::isfinite(value) ? std::optional(value) : std::nullopt});
  }
  return out;
}

void read_line(std::string_view line, std::string_view metric, LogPlace& place,
               std::vector<TrialReport>& out) {
  const auto report = job::read_metric_line(line, metric);
  if (!report) return;
  ++place.reported;
  out.push_back({report->epoch.value_or(place.reported), report->value});
}

// False: there is more.
bool read_log(const Services& services, const TrialQuestion& q, LogPlace& place,
              std::vector<TrialReport>& out) {
  for (std::int64_t read = 0; read < kMostLogBytes;) {
    const auto text = services.logs.read(q.job, place.lease, place.offset);
    if (!text || text->empty()) {
      if (q.last && !place.rest.empty()) read_line(place.rest, q.metric, place, out);
      return true;
    }
    place.offset += std::ssize(*text);
    read += std::ssize(*text);
    std::string_view left = *text;
    for (auto end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
      place.rest += left.substr(0, end);
      read_line(place.rest, q.metric, place, out);
      place.rest.clear();
      left.remove_prefix(end + 1);
    }
    place.rest += left.substr(0, kMostLine - std::min(kMostLine, place.rest.size()));
  }
  return false;
}

}  // namespace

TrialAnswer read_trial(const Services& services, TrialQuestion question) {
  TrialAnswer out{.sweep = question.sweep, .job = question.job, .last = question.last};
  if (question.trains) {
    if (const auto training = training_of(services, question))
      out.reports = checks_of(*training, question);
    return out;
  }
  for (auto& place : question.logs)
    out.last = read_log(services, question, place, out.reports) && out.last;
  out.logs = std::move(question.logs);
  return out;
}

}  // namespace souk::server
