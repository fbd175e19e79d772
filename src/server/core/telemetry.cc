#include "server/core/telemetry.h"

namespace souk::server {

Telemetry::Series& Telemetry::place(base::LeaseId lease) {
  auto& out = series_[lease];
  if (series_.size() > kLeases && series_.begin()->first != lease) series_.erase(series_.begin());
  return out;
}

std::optional<std::string> Telemetry::doing(base::LeaseId lease) const {
  const auto it = series_.find(lease);
  if (it == series_.end() || it->second.doing.empty()) return std::nullopt;
  return it->second.doing;
}

void Telemetry::add(base::LeaseId lease, const wire::UsageSample& sample) {
  add_to(place(lease), sample);
  if (log_ != nullptr) log_->add(lease, sample);
}

void Telemetry::recall(base::LeaseId lease, const std::vector<wire::UsageSample>& samples) {
  if (samples.empty()) return;
  auto& s = place(lease);
  for (const auto& sample : samples) add_to(s, sample);
}

std::vector<wire::UsageSample> Telemetry::thinned(const std::vector<wire::UsageSample>& samples) {
  Series s;
  for (const auto& sample : samples) add_to(s, sample);
  return std::move(s.samples);
}

void Telemetry::add_to(Series& s, const wire::UsageSample& sample) {
  const auto n = s.samples.size();
  if (n >= 2 && sample.at - s.samples[n - 2].at < s.every) s.samples.pop_back();
  s.samples.push_back(sample);
  if (s.samples.size() < kSamples) return;
  s.every = (s.samples.back().at - s.samples.front().at) / (kSamples / 2);
  std::vector<wire::UsageSample> half;
  for (std::size_t i = 0; i < s.samples.size(); i += 2) half.push_back(s.samples[i]);
  if (half.back().at != sample.at) half.push_back(sample);
  s.samples = std::move(half);
}

std::vector<wire::UsageSample> Telemetry::series(base::LeaseId lease) const {
  const auto it = series_.find(lease);
  return it == series_.end() ? std::vector<wire::UsageSample>{} : it->second.samples;
}

}  // namespace souk::server
