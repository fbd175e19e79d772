#include "base/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.h"

namespace souk::base {
namespace {

Result<std::uint64_t> parse_amount(std::string_view text, BudgetUnit unit) {
  const auto whole = text;
  std::uint64_t scale = 1;
  if (unit == BudgetUnit::bytes && !text.empty()) {
    const auto letter = text.back();
    const auto at = std::string_view("KMGT").find(letter);
    if (at != std::string_view::npos) {
      scale = std::uint64_t{1} << (10 * (at + 1));
      text.remove_suffix(1);
    }
  }
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() ||
      value > (1ull << 60) / scale)
    return fail(Code::invalid, fmt::format("'{}' is not an amount", whole),
                unit == BudgetUnit::bytes ? "write bytes, or 512K, 64M, 2G, 1T" : "write a number");
  return value * scale;
}

}  // namespace

std::string describe_amount(std::uint64_t amount, BudgetUnit unit) {
  constexpr std::uint64_t endless = 1ull << 60;  // What nobody reaches.
  if (amount >= endless) return "no limit";
  if (unit == BudgetUnit::bytes) return bytes_text(amount);
  auto digits = std::to_string(amount);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

Result<BudgetLimit> parse_budget(std::string_view text, BudgetUnit unit, BudgetLimit before) {
  const auto slash = text.find('/');
  SOUK_ASSIGN(const auto each, parse_amount(text.substr(0, slash), unit));
  auto all = before.all;
  if (slash != std::string_view::npos) {
    SOUK_ASSIGN(all, parse_amount(text.substr(slash + 1), unit));
  }
  return BudgetLimit{.each = each, .all = std::max(each, all)};
}

Budget::Budget(std::string name, std::string what, BudgetUnit unit, BudgetLimit limit)
    : name_(std::move(name)), what_(std::move(what)), unit_(unit), limit_(limit) {}

Result<> Budget::fits(std::uint64_t used, std::uint64_t amount) const {
  const auto more = [&](std::uint64_t n) { return describe_amount(n, unit_); };
  if (amount > limit_.each || used > limit_.each - amount)
    return fail(
        Code::exhausted,
        fmt::format("budget '{}': {} of your {} {} are used, {} more do not fit", name_, more(used),
                    more(limit_.each), what_, more(amount)),
        fmt::format("free some, or ask the operator for more: souk serve --budget {}=...", name_));
  if (amount > limit_.all || all_used_ > limit_.all - amount)
    return fail(
        Code::exhausted,
        fmt::format("budget '{}': all accounts together use {} of {} {}, {} more do not fit", name_,
                    more(all_used_), more(limit_.all), what_, more(amount)),
        "try again later, or ask the operator for more room");
  return {};
}

Result<> Budget::take(std::string_view party, std::uint64_t amount) {
  const std::scoped_lock lock(mutex_);
  const auto it = used_.find(party);
  SOUK_TRY(fits(it == used_.end() ? 0 : it->second, amount));
  if (amount == 0) return {};
  if (it == used_.end())
    used_.emplace(party, amount);
  else
    it->second += amount;
  all_used_ += amount;
  return {};
}

void Budget::give_back(std::string_view party, std::uint64_t amount) {
  const std::scoped_lock lock(mutex_);
  const auto it = used_.find(party);
  if (it == used_.end()) return;
  amount = std::min(amount, it->second);
  all_used_ -= amount;
  it->second -= amount;
  if (it->second == 0) used_.erase(it);
}

void Budget::charge(std::string_view party, std::uint64_t amount) {
  const std::scoped_lock lock(mutex_);
  if (amount == 0) return;
  used_.try_emplace(std::string(party)).first->second += amount;
  all_used_ += amount;
}

void Budget::set_used(std::string_view party, std::uint64_t amount) {
  const std::scoped_lock lock(mutex_);
  const auto it = used_.try_emplace(std::string(party)).first;
  all_used_ = all_used_ - it->second + amount;
  it->second = amount;
  if (amount == 0) used_.erase(it);
}

void Budget::set_used(std::map<std::string, std::uint64_t, std::less<>> by_party) {
  std::erase_if(by_party, [](const auto& used) { return used.second == 0; });
  const std::scoped_lock lock(mutex_);
  used_ = std::move(by_party);
  all_used_ = 0;
  for (const auto& [party, amount] : used_) all_used_ += amount;
}

Result<> Budget::would_take(std::string_view party, std::uint64_t amount) const {
  const std::scoped_lock lock(mutex_);
  const auto it = used_.find(party);
  return fits(it == used_.end() ? 0 : it->second, amount);
}

std::uint64_t Budget::used(std::string_view party) const {
  const std::scoped_lock lock(mutex_);
  const auto it = used_.find(party);
  return it == used_.end() ? 0 : it->second;
}

std::uint64_t Budget::used_in_all() const {
  const std::scoped_lock lock(mutex_);
  return all_used_;
}

Result<BudgetShare> BudgetShare::take(Budget& budget, std::string_view party,
                                      std::uint64_t amount) {
  SOUK_TRY(budget.take(party, amount));
  BudgetShare out;
  out.budget_ = &budget;
  out.party_ = party;
  out.amount_ = amount;
  return out;
}

BudgetShare::BudgetShare(BudgetShare&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)),
      party_(std::move(other.party_)),
      amount_(other.amount_) {}

BudgetShare& BudgetShare::operator=(BudgetShare&& other) noexcept {
  std::swap(budget_, other.budget_);
  std::swap(party_, other.party_);
  std::swap(amount_, other.amount_);
  return *this;
}

BudgetShare::~BudgetShare() {
  if (budget_ != nullptr) budget_->give_back(party_, amount_);
}

}  // namespace souk::base
