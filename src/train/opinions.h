#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace souk::train {

// Answers of different owners to the same question, of which some agree. Two that agree decide: the
// others are wrong. Pure.
class Opinions {
 public:
  // With so many that all differ, the question stays open for good.
  static constexpr std::size_t kMost = 5;

  // One more answer; `agrees[i]`: with the i-th before.
  void add(const std::vector<bool>& agrees);
  [[nodiscard]] std::size_t count() const { return agree_.size(); }
  // The first of two that agree.
  [[nodiscard]] std::optional<std::size_t> right() const;
  // Does the i-th agree with what was decided?
  [[nodiscard]] bool is_right(std::size_t i) const;
  [[nodiscard]] bool hopeless() const { return !right() && count() >= kMost; }

 private:
  std::vector<std::vector<bool>> agree_;  // Of each, with those before.
};

}  // namespace souk::train
