#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/id.h"
#include "base/time.h"
#include "market/state.h"

namespace souk::server {

// A budget of what is used in one day (UTC); the next day everybody begins with nothing. For one
// thread, but what is used may be read from any.
class DailyBudget : public base::Budget {
 public:
  using Budget::Budget;

  [[nodiscard]] base::Result<> would_take(std::string_view party, base::Time now,
                                          std::uint64_t amount) {
    begin_day(now);
    return Budget::would_take(party, amount);
  }
  void charge(std::string_view party, base::Time now, std::uint64_t amount) {
    begin_day(now);
    Budget::charge(party, amount);
  }

 private:
  void begin_day(base::Time now) {
    const auto day = now.us / base::days(1).us;
    if (day != day_) set_used(std::map<std::string, std::uint64_t, std::less<>>());
    day_ = day;
  }
  std::int64_t day_ = 0;
};

// What members share of one server, a member each. Who uses a resource takes it from here first;
// the operator sets the limits (`souk serve --budget NAME=EACH[/ALL]`), and `souk account show`,
// /metrics and the console show every row of `all`.
struct Budgets {
  using Unit = base::BudgetUnit;
  static constexpr std::uint64_t kNoLimit = 1ull << 60;

  // Of what accounts brought. The same content may count for several, so there is no limit on the
  // sum of it: the store has its own (`souk serve --blobs`).
  base::Budget blob_bytes{
      "blob-bytes", "of files", Unit::bytes, {.each = 10ull << 30, .all = kNoLimit}};
  base::Budget blob_chunks{
      "blob-chunks", "pieces of files", Unit::count, {.each = 200'000, .all = kNoLimit}};
  // What live jobs keep in the store, weighed by what it takes to remember it (files/pins.h).
  base::Budget pins{
      "pins", "pieces of files of live jobs", Unit::count, {.each = 400'000, .all = 4'000'000}};
  base::Budget log_bytes{
      "log-bytes", "of logs", Unit::bytes, {.each = 1ull << 30, .all = 10ull << 30}};
  base::Budget live_jobs{
      "live-jobs", "jobs at a time", Unit::count, {.each = 1'000, .all = 200'000}};
  base::Budget training_bytes{"training-bytes",
                              "of memory for trainings",
                              Unit::bytes,
                              {.each = 2ull << 30, .all = 8ull << 30}};
  // Of large models: updates on their way, and versions that are being checked (hub/spill.h).
  base::Budget training_disk{"training-disk",
                             "of files of trainings under way",
                             Unit::bytes,
                             {.each = 16ull << 30, .all = 64ull << 30}};

  // Idempotency keys that are remembered: each is for a day, so this is changes a day.
  base::Budget keys{"keys", "changes a day", Unit::count, {.each = 1'000'000, .all = 10'000'000}};
  DailyBudget journal_bytes{"journal-bytes",
                            "of the journal a day",
                            Unit::bytes,
                            {.each = 1ull << 30, .all = 20ull << 30}};

  // By address (net::address_key), not by account. The server takes less in all where the system
  // does not give it so many descriptors.
  base::Budget connections{
      "connections", "connections from one address", Unit::count, {.each = 1'000, .all = 20'000}};
  base::Budget downloads{
      "downloads", "downloads of results at a time", Unit::count, {.each = 8, .all = 128}};
  // Of the bundle for lenders, by address: strangers may have it, and take nothing from members.
  base::Budget bundle_downloads{
      "bundle-downloads", "downloads of souk at a time", Unit::count, {.each = 4, .all = 64}};
  base::Budget request_bytes{"request-bytes",
                             "of requests being read",
                             Unit::bytes,
                             {.each = 128ull << 20, .all = 1ull << 30}};
  base::Budget answer_bytes{"answer-bytes",
                            "of answers on their way",
                            Unit::bytes,
                            {.each = 256ull << 20, .all = 2ull << 30}};

  const std::array<base::Budget*, 14> all{
      &blob_bytes,       &blob_chunks,   &pins,          &log_bytes,    &live_jobs,
      &training_bytes,   &keys,          &journal_bytes, &connections,  &downloads,
      &bundle_downloads, &request_bytes, &answer_bytes,  &training_disk};

  // Sets limits as the operator wrote them, such as "blob-bytes=2G/50G". All or none.
  base::Result<> set(const std::vector<std::string>& limits);
  // What is counted in the market's state: live jobs, keys.
  void recount(const market::State& s);
};

// How budgets count an account.
inline std::string party(base::AccountId account) { return to_string(account); }

}  // namespace souk::server
