#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "server/record/usage_log.h"
#include "wire/api/usage.h"

namespace souk::server {

// What machines say of their leases: what they are doing, and what the program uses over time. For
// quick answers: all of it is in memory, and what is used is written down as well (usage_log.h).
// Nothing here decides about credits, and it may be lost. Bounded: a series keeps `kSamples`,
// thinned to half whenever it is full, so it covers the whole life of a lease; and of all leases
// the newest `kLeases` are kept. Core thread only.
class Telemetry {
 public:
  // `log`: where samples are written down too; null: nowhere.
  explicit Telemetry(UsageLog* log = nullptr) : log_(log) {}
  static constexpr std::size_t kSamples = 240;
  static constexpr std::size_t kLeases = 20'000;

  void set_doing(base::LeaseId lease, std::string doing) { place(lease).doing = std::move(doing); }
  [[nodiscard]] std::optional<std::string> doing(base::LeaseId lease) const;
  void add(base::LeaseId lease, const wire::UsageSample& sample);
  // What was written down of it before this process began.
  void recall(base::LeaseId lease, const std::vector<wire::UsageSample>& samples);
  // The same samples as a series that is not longer than those here.
  [[nodiscard]] static std::vector<wire::UsageSample> thinned(
      const std::vector<wire::UsageSample>& samples);
  [[nodiscard]] std::vector<wire::UsageSample> series(base::LeaseId lease) const;

 private:
  struct Series {
    std::string doing;
    base::Duration every;  // Samples closer than this replace the last.
    std::vector<wire::UsageSample> samples;
  };
  Series& place(base::LeaseId lease);
  static void add_to(Series& s, const wire::UsageSample& sample);

  UsageLog* const log_;
  std::map<base::LeaseId, Series> series_;
};

}  // namespace souk::server
