#include "train/opinions.h"

#include <algorithm>

#include "base/check.h"

namespace souk::train {

void Opinions::add(const std::vector<bool>& agrees) {
  CHECK(agrees.size() == count());
  agree_.push_back(agrees);
}

std::optional<std::size_t> Opinions::right() const {
  for (const auto& row : agree_)
    if (const auto it = std::ranges::find(row, true); it != row.end())
      return static_cast<std::size_t>(it - row.begin());
  return std::nullopt;
}

bool Opinions::is_right(std::size_t i) const {
  const auto first = right();
  return first && (i == *first || (i > *first && agree_[i][*first]));
}

}  // namespace souk::train
