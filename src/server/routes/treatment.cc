#include "server/routes/treatment.h"

#include <algorithm>
#include <map>
#include <vector>

#include "lab/report/metrics.h"

namespace souk::server {
namespace {

using base::Time;
using market::Job;
using market::JobState;
using market::Lease;
using market::State;

constexpr double kLeastRunTime = 60;  // Nobody minds to wait a minute, however short the job.

double seconds_between(Time from, Time until) { return std::max(0.0, (until - from).seconds()); }
Time or_now(Time t, Time now) { return t == Time() ? now : t; }

struct Borrower {
  double had = 0, missed = 0;             // Slot-seconds.
  double run_time = 0, longest_wait = 0;  // Seconds; run times summed over `ran` jobs.
  int ran = 0;
};

// What the borrower's jobs take on average, if any has ended, else any job of the class.
std::optional<double> usual_run_time(const Borrower& b, const market::PriceHistory& history) {
  const auto median = history.median_run_time();
  if (b.ran == 0 && !median) return std::nullopt;
  return std::max(kLeastRunTime, b.ran > 0 ? b.run_time / b.ran : median->seconds());
}

class Watch {
 public:
  Watch(const State& s, market::ClassId slot_class, Time now) : now_(now) {
    s.jobs.for_each([&](const Job& j) {
      if (j.slot_class == slot_class) add(j);
    });
    s.leases.for_each([&](const Lease& l) {
      if (l.slot_class == slot_class)
        borrowers_[l.borrower].had += l.slots * seconds_between(l.granted, or_now(l.ended, now_));
    });
  }

  [[nodiscard]] wire::Treatment result(const market::PriceHistory& history) const {
    wire::Treatment out{.borrowers = static_cast<std::int64_t>(borrowers_.size()), .ended = ended_};
    std::vector<double> access;
    int known = 0, defectors = 0;
    for (const auto& [id, b] : borrowers_) {
      if (b.had + b.missed > 0) access.push_back(b.had / (b.had + b.missed));
      const auto usual = usual_run_time(b, history);
      if (!usual) continue;
      ++known;
      if (b.longest_wait > lab::kPatience * *usual) ++defectors;
    }
    if (!access.empty()) out.gini_access = lab::gini(access);
    if (known > 0) out.defection = static_cast<double>(defectors) / known;
    if (ended_ > 0) out.completed = static_cast<double>(succeeded_) / ended_;
    return out;
  }

 private:
  void add(const Job& j) {
    auto& b = borrowers_[j.owner];
    const auto waited = seconds_between(j.created, or_now(j.started, or_now(j.ended, now_)));
    b.missed += j.terms.workers.min * waited;
    b.longest_wait = std::max(b.longest_wait, waited);
    if (!market::is_final(j.state) || j.state == JobState::cancelled) return;
    ++ended_;
    if (j.state != JobState::succeeded) return;
    ++succeeded_;
    ++b.ran;
    b.run_time += seconds_between(j.started, j.ended);
  }

  Time now_;
  std::map<base::AccountId, Borrower> borrowers_;
  int ended_ = 0, succeeded_ = 0;
};

}  // namespace

wire::Treatment treatment_of(const State& s, market::ClassId slot_class, Time now) {
  auto out = Watch(s, slot_class, now).result(s.prices[slot_class.value - 1]);
  std::vector<double> credits;
  s.accounts.for_each([&](const market::Account& a) {
    const auto& b = s.ledger.balance(a.id);
    credits.push_back(static_cast<double>((b.available + b.bonus + b.escrow).micro));
  });
  if (!credits.empty()) out.gini_credits = lab::gini(credits);
  return out;
}

}  // namespace souk::server
