#include "mechanism/schedule/fifo_greedy.h"

#include <optional>

namespace souk::mechanism {

Result<Schedule> FifoGreedy::solve(const ScheduleInstance& s) const {
  const auto m = s.types();
  Schedule out{.shares = std::vector<double>(s.jobs() * m, 0), .prices = std::vector<double>(m, 0)};
  auto room = s.capacity;
  std::vector<bool> placed(s.jobs(), false);
  const auto place = [&](std::size_t job, std::size_t type) {
    out.shares[job * m + type] = 1;
    room[type] -= s.scale[job];
    placed[job] = true;
    ++out.objective;
  };
  const auto fits = [&](std::size_t job, std::size_t type) {
    return s.rates(job)[type] > 0 && s.scale[job] <= room[type];
  };
  const auto wish = [&](std::size_t job, std::size_t type) {
    return choice_ == Choice::fastest ? s.rates(job)[type] : room[type];
  };
  for (std::size_t i = 0; i < s.held.size(); ++i)
    if (choice_ == Choice::any && s.held[i] >= 0 && fits(i, static_cast<std::size_t>(s.held[i])))
      place(i, static_cast<std::size_t>(s.held[i]));
  for (std::size_t i = 0; i < s.jobs(); ++i) {
    if (placed[i]) continue;
    std::optional<std::size_t> best;
    for (std::size_t j = 0; j < m; ++j)
      if (fits(i, j) && (!best || wish(i, j) > wish(i, *best))) best = j;
    if (!best) break;
    place(i, *best);
  }
  out.bound = out.objective;
  return out;
}

}  // namespace souk::mechanism
