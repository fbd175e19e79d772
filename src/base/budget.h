#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "base/result.h"

namespace souk::base {

SOUK_ENUM(BudgetUnit, bytes, count)

// How much of something one party (an account, an address) may use at a time, and all together.
struct BudgetLimit {
  std::uint64_t each = 0;
  std::uint64_t all = 0;

  bool operator==(const BudgetLimit&) const = default;
};

// "2 GiB" or "1,000" for people: an amount of a budget's unit.
std::string describe_amount(std::uint64_t amount, BudgetUnit unit);

// Reads "EACH" or "EACH/ALL", such as "2G/50G" or "100"; without ALL, `before.all` stays. ALL is
// raised to EACH where it is less.
Result<BudgetLimit> parse_budget(std::string_view text, BudgetUnit unit, BudgetLimit before);

// A bounded resource that strangers share: who uses how much of it, and the sentence that refuses
// more. Safe from any thread.
class Budget {
 public:
  // `name` is what the operator sets it by ("blob-bytes"); `what` completes "N of your N ... are
  // used" ("bytes of files").
  Budget(std::string name, std::string what, BudgetUnit unit, BudgetLimit limit);

  // Takes `amount` for `party`, or refuses with Code::exhausted and takes nothing.
  Result<> take(std::string_view party, std::uint64_t amount);
  void give_back(std::string_view party, std::uint64_t amount);
  // For what was used before anybody could refuse it: takes `amount` whatever the limit.
  void charge(std::string_view party, std::uint64_t amount);
  // For what is counted elsewhere: what `party` uses now, or all parties; others then use nothing.
  void set_used(std::string_view party, std::uint64_t amount);
  void set_used(std::map<std::string, std::uint64_t, std::less<>> by_party);
  // What would refuse `amount` more, if anything would.
  [[nodiscard]] Result<> would_take(std::string_view party, std::uint64_t amount) const;

  [[nodiscard]] std::uint64_t used(std::string_view party) const;
  [[nodiscard]] std::uint64_t used_in_all() const;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& what() const { return what_; }
  [[nodiscard]] BudgetUnit unit() const { return unit_; }
  [[nodiscard]] BudgetLimit limit() const { return limit_; }
  // Before anything is taken.
  void set_limit(BudgetLimit limit) { limit_ = limit; }

 private:
  [[nodiscard]] Result<> fits(std::uint64_t used, std::uint64_t amount) const;

  const std::string name_, what_;
  const BudgetUnit unit_;
  BudgetLimit limit_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> used_;  // By party; who uses nothing is absent.
  std::uint64_t all_used_ = 0;
};

// What was taken of a budget, until this goes.
class BudgetShare {
 public:
  BudgetShare() = default;
  static Result<BudgetShare> take(Budget& budget, std::string_view party, std::uint64_t amount);
  BudgetShare(BudgetShare&& other) noexcept;
  BudgetShare& operator=(BudgetShare&& other) noexcept;
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;
  ~BudgetShare();

 private:
  Budget* budget_ = nullptr;
  std::string party_;
  std::uint64_t amount_ = 0;
};

}  // namespace souk::base
