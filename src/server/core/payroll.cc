#include "server/core/payroll.h"

#include <spdlog/spdlog.h>

#include <set>

#include "base/kill_point.h"

namespace souk::server {

void Payroll::recall(const market::State& s) {
  s.jobs.for_each([&](const market::Job& job) {
    if (market::is_final(job.state) || !market::paid_by_work(job)) return;
    auto wages = hub_.saved_wages(job.id);
    if (!wages) {
      spdlog::warn("job {}: what its workers are owed cannot be read: {}", to_string(job.id),
                   wages.error().message);
      return;
    }
    std::erase_if(*wages, [&](const hub::Wage& w) { return w.number <= job.paid_through; });
    if (!wages->empty()) recalled_.emplace(job.id, *std::move(wages));
  });
}

void Payroll::pay(Core::Turn& turn, const hub::Wage& wage) {
  const auto paid = turn.execute(
      market::kSystem, market::AcceptWork{wage.lease, wage.epoch, wage.worked, wage.number});
  if (!paid)
    spdlog::error("a wage of lease {} for {} was not paid: {}", to_string(wage.lease),
                  to_string(wage.worked), paid.error().message);
}

bool Payroll::pay(Core::Turn& turn, const std::shared_ptr<hub::Run>& run) {
  const auto owed = run->owed();
  if (owed.empty()) return false;
  for (const auto& wage : owed) pay(turn, wage);
  base::kill_point("wage-decided");
  turn.after([run, last = owed.back().number] {
    run->acknowledge(last);
    base::kill_point("wage-settled");
  });
  return true;
}

bool Payroll::pay_recalled(Core::Turn& turn, base::JobId job) {
  const auto node = recalled_.extract(job);
  if (!node) return false;
  for (const auto& wage : node.mapped()) pay(turn, wage);
  return true;
}

void Payroll::pay_and_end(Core::Turn& turn, base::JobId job, const std::shared_ptr<hub::Run>& run,
                          const hub::TrainingResult& result) {
  pay(turn, run);
  // Refused only when the job was forgotten meanwhile.
  (void)turn.execute(market::kSystem,
                     market::ReportResult{job, result.result, true, result.reason});
}

bool Payroll::before_apply(Core::Turn& turn, const market::Events& events) {
  std::set<base::JobId> closing;
  for (const auto& event : events) {
    const auto* closed = std::get_if<market::LeaseClosed>(&event);
    if (closed == nullptr) continue;
    const auto& lease = turn.state().leases.at(closed->lease);
    if (!market::paid_by_work(turn.state().jobs.at(lease.job))) continue;
    closing.insert(lease.job);
    if (const auto run = hub_.find(lease.job)) run->seal(lease.id);
  }
  bool paid = false;
  for (const auto job : closing) {
    paid |= pay_recalled(turn, job);
    if (const auto run = hub_.find(job)) paid |= pay(turn, run);
  }
  return paid;
}

void Payroll::on_tick(Core::Turn& turn) {
  while (!recalled_.empty()) pay_recalled(turn, recalled_.begin()->first);
  for (const auto& run : hub_.open_runs()) pay(turn, run);
}

}  // namespace souk::server
