#include "server/advice/earnings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "market/prices.h"

namespace souk::server {
namespace {

using base::Credits;

constexpr auto kHour = base::hours(1);
constexpr double kHoursOfWeek = 168;

// Of Student's t, two-sided, 90%; by degrees of freedom from 1.
constexpr std::array kStudent{6.31, 2.92, 2.35, 2.13, 2.02, 1.94};

struct Demand {
  double hours = 0;
  double leased = 0, offered = 0, unfilled = 0;  // Sums over the hours, in slots.
  std::vector<double> days;                      // The share of new slots used, by day.
  double used = 0;                               // The same over all hours.
};

// From when on the market could know anything.
base::Time began(const market::State& s, base::Time now) {
  const auto first = s.accounts.after({});
  const auto opened = first ? s.accounts.at(first).created : now;
  return std::max(opened, now - kEarningsLookBack);
}

Demand demand_for(const market::State& s, const market::SlotClass& slot_class, std::int32_t slots,
                  base::Time now) {
  const auto from = began(s, now);
  Demand out{.hours = static_cast<double>((now - from).us) / static_cast<double>(kHour.us)};
  std::map<std::int64_t, double> by_day;  // Sums of shares.
  double sum = 0;
  for (const auto& hour : s.prices[slot_class.id.value - 1].hours()) {
    if (hour.samples == 0 || base::Time((hour.hour + 1) * kHour.us) <= from) continue;
    const auto n = static_cast<double>(hour.samples);
    const auto leased = static_cast<double>(hour.leased) / n;
    const auto free = static_cast<double>(hour.supply) / n;
    const auto wanted = static_cast<double>(hour.demand) / n;
    const auto share = std::min(1.0, (leased + wanted) / (leased + free + slots));
    out.leased += leased;
    out.offered += leased + free;
    out.unfilled += std::max(0.0, wanted - free);
    by_day[hour.hour / 24] += share;
    sum += share;
  }
  out.used = out.hours > 0 ? std::min(1.0, sum / out.hours) : 0;
  const auto day_of = [](base::Time t) { return t.us / kHour.us / 24; };
  for (auto day = day_of(from); day <= day_of(now); ++day) {
    // The first and the last day are not whole.
    const auto begin = std::max(from.us, day * 24 * kHour.us);
    const auto end = std::min(now.us, (day + 1) * 24 * kHour.us);
    const auto hours = static_cast<double>(end - begin) / static_cast<double>(kHour.us);
    const auto it = by_day.find(day);
    if (hours >= 1)
      out.days.push_back(std::min(1.0, (it == by_day.end() ? 0 : it->second) / hours));
  }
  return out;
}

// How far a week's share may be from the mean, either way.
double spread(const std::vector<double>& days) {
  const auto n = static_cast<double>(days.size());
  double mean = 0, squares = 0;
  for (const auto d : days) mean += d / n;
  for (const auto d : days) squares += (d - mean) * (d - mean);
  const auto deviation = std::sqrt(squares / (n - 1));
  const auto freedom = std::min(days.size() - 1, kStudent.size());
  return kStudent[freedom - 1] * deviation * std::sqrt(1.0 / 7 + 1 / n);
}

}  // namespace

wire::ClassEarnings expected_earnings(const market::State& s, const market::SlotClass& slot_class,
                                      std::int32_t slots, base::Time now) {
  const auto demand = demand_for(s, slot_class, slots, now);
  wire::ClassEarnings out{
      .class_ = slot_class.name,
      .cores = slot_class.cores,
      .memory_mib = slot_class.memory_mib,
      .gpus = slot_class.gpus,
      .gpu_memory_mib = slot_class.gpu_memory_mib,
      .slots = slots,
      .price = market::anchor_price(s.prices[slot_class.id.value - 1], slot_class.price, now),
      .hours = std::round(demand.hours * 10) / 10};
  if (demand.hours < 1) return out;
  if (demand.offered > 0) out.used = demand.leased / demand.offered;
  out.unfilled = demand.unfilled / demand.hours;
  const auto most =
      static_cast<double>(out.price.micro) * (1 - s.settings.fee_ppm / 1e6) * kHoursOfWeek * slots;
  const auto earned = [&](double share) {
    return Credits(std::llround(most * std::clamp(share, 0.0, 1.0)));
  };
  out.week = wire::WeekEarnings{.expected = earned(demand.used), .low = {}, .high = earned(1)};
  if (demand.days.size() >= 2) {
    const auto off = spread(demand.days);
    out.week->low = earned(demand.used - off);
    out.week->high = earned(demand.used + off);
  }
  return out;
}

}  // namespace souk::server
