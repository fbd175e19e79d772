#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "market/state.h"
#include "market/why.h"
#include "wire/api/account.h"
#include "wire/api/feedback.h"
#include "wire/api/job.h"
#include "wire/api/lease.h"
#include "wire/api/ledger.h"
#include "wire/api/machine.h"
#include "wire/api/mechanism.h"
#include "wire/api/prices.h"
#include "wire/api/slot_class.h"
#include "wire/api/system.h"
#include "wire/api/why.h"

// The state as the API shows it. Pure.

namespace souk::server {

using base::Time;

// Times that the market always has, and the API leaves out where they say nothing.
[[nodiscard]] inline std::optional<Time> unless_zero(Time t) {
  return t == Time() ? std::nullopt : std::optional(t);
}
[[nodiscard]] inline std::optional<Time> unless_never(Time t) {
  return t == base::kNever ? std::nullopt : std::optional(t);
}
[[nodiscard]] inline double share(std::int64_t ppm) { return static_cast<double>(ppm) / 1e6; }

[[nodiscard]] std::string account_name(const market::State& s, base::AccountId id);

[[nodiscard]] wire::Account view(const market::State& s, const market::Account& a);
[[nodiscard]] wire::Balance balance_view(const market::State& s, base::AccountId id);
[[nodiscard]] wire::Token view(const market::Token& t);
[[nodiscard]] wire::SlotClass view(const market::State& s, const market::SlotClass& c, Time now);
[[nodiscard]] wire::Machine view(const market::State& s, const market::Machine& m);
[[nodiscard]] wire::Job view(const market::State& s, const market::Job& j, base::Time now);
[[nodiscard]] wire::Lease view(const market::State& s, const market::Lease& l);
[[nodiscard]] wire::Settings view(const market::Settings& v);
[[nodiscard]] wire::AuditEntry view(const market::State& s, const market::AuditEntry& e);
[[nodiscard]] wire::Feedback view(const market::State& s, const market::Feedback& f);
[[nodiscard]] wire::StatementLine view(const market::StatementLine& l);
[[nodiscard]] wire::Why why_view(const market::State& s, const market::Job& j, Time now,
                                 std::span<const base::MachineId> unheard);
[[nodiscard]] wire::Ledger ledger_view(const market::State& s, base::AccountId who, bool all);
[[nodiscard]] wire::MechanismRecords records_view(const market::State& s,
                                                  const market::SlotClass& c, Time now);
// `bucket`: an hour or a day.
[[nodiscard]] wire::Prices prices_view(const market::State& s, const market::SlotClass& c, Time now,
                                       base::Duration history, base::Duration bucket);

// The class of this name, or an error that suggests the nearest.
[[nodiscard]] base::Result<market::ClassId> class_named(const market::State& s,
                                                        std::string_view name);
// Slots of machines that lend now, leased or free; windows are not looked at.
[[nodiscard]] std::int64_t slots_on_offer(const market::State& s, market::ClassId id);
// Those with the most on offer first, so that nobody has to look past empty ones; retired ones
// last.
[[nodiscard]] std::vector<const market::SlotClass*> classes_by_supply(const market::State& s);
[[nodiscard]] wire::CreditRequest view(const market::State& s, base::AccountId account,
                                       const market::CreditRequest& r);
[[nodiscard]] market::MachineSpec spec_from(const wire::MachineSpec& v);

}  // namespace souk::server
