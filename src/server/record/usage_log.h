#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/id.h"
#include "journal/records/records.h"
#include "wire/api/usage.h"

namespace souk::server {

inline constexpr journal::RecordKind kUsageRecords{"usage", true};
inline constexpr journal::RecordKind kForecastRecords{"forecasts", true};
inline constexpr journal::RecordKind kLabRunRecords{"lab_runs", false};
inline constexpr journal::RecordKind kLabResultRecords{"lab_results", false};

// Writes down what leases use, and whatever else is to be in the records without anybody waiting
// for it, every few seconds on a thread of its own; and forgets what is older than is to be kept.
// Of a lease it writes fewer and fewer samples as it grows older: some 240 of each doubling of its
// life. add() and note() never wait for the database: what does not fit until the next writing is
// dropped, and counted. A database that fails is tried again. Thread-safe.
class UsageLog {
 public:
  static constexpr std::size_t kMostWaiting = 100'000;
  static constexpr std::size_t kSamples = 240;

  struct Options {
    base::Duration keep = base::days(90);
    base::Duration every = base::seconds(5);    // Between two writings.
    base::Duration closest = base::seconds(5);  // Two samples of a lease, at first.
  };
  // `records` outlives it.
  UsageLog(journal::Records& records, const base::Clock& clock, Options options);
  ~UsageLog();  // stop()

  void add(base::LeaseId lease, const wire::UsageSample& sample);
  void ended(base::LeaseId lease);
  void note(const journal::RecordKind& kind, journal::Record record);

  // What was written of a lease, in order. Waits for the database.
  [[nodiscard]] std::vector<wire::UsageSample> read(base::LeaseId lease, base::Time from,
                                                    base::Time to) const;
  // Writes what waits, and ends.
  void stop();
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  struct Pace {
    base::Time last;
    base::Duration every;
    std::size_t written = 0;  // Since it was last halved.
  };
  void run();
  void write();
  void forget();
  void tell(const base::Result<>& done, std::string_view what);

  journal::Records& records_;
  const base::Clock& clock_;
  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<base::LeaseId, Pace> paces_;
  std::vector<std::pair<journal::RecordKind, journal::Record>> waiting_;
  std::uint64_t dropped_ = 0;
  bool stopping_ = false;
  std::string trouble_;  // What was told last; of the thread alone.
  std::thread thread_;
};

}  // namespace souk::server
