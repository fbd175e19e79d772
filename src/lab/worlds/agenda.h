#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace souk::lab::sim {

// Things that people and machines will do.
enum class Act : std::uint8_t {
  start,    // A lease's program is ready.
  finish,   // It ends by itself.
  release,  // It was told to leave.
  beat,
  leave,
  expire,  // The market notices that a machine is silent.
  back,
  revise_offer,
  revise_jobs,
  defect,    // A user has waited too long,
  withdraw,  // or as long as it would.
};
inline constexpr std::size_t kActs = static_cast<std::size_t>(Act::withdraw) + 1;

struct Planned {
  double at;
  std::uint64_t order;  // Among those of one time: first planned, first done.
  std::uint64_t id;
  std::int32_t epoch;
  Act act;
  bool operator>(const Planned& o) const { return std::pair(at, order) > std::pair(o.at, o.order); }
};

// What is planned, by time. Acts of one kind mostly come in the order in which they are planned,
// such as a machine's next heartbeat: they wait in a line of their kind, the others in a heap.
class Agenda {
 public:
  void add(double at, Act act, std::uint64_t id, std::int32_t epoch) {
    const Planned p{at, ++order_, id, epoch, act};
    auto& line = lines_[static_cast<std::size_t>(act)];
    if (line.empty() || line.back().at <= at) {
      if (next_ != nullptr && at < next_->at) next_ = nullptr;
      line.push_back(p);
    } else {
      next_ = nullptr;  // What lies in a heap moves.
      heap_.push(p);
    }
  }

  // Null: nothing is planned. Good until the next call.
  [[nodiscard]] const Planned* next() {
    if (next_ != nullptr) return next_;
    if (!heap_.empty()) next_ = &heap_.top();
    for (const auto& line : lines_)
      if (!line.empty() && (next_ == nullptr || *next_ > line.front())) next_ = &line.front();
    return next_;
  }

  // Requires next().
  Planned take() {
    const auto out = *next();
    auto& line = lines_[static_cast<std::size_t>(out.act)];
    if (!line.empty() && line.front().order == out.order)
      line.pop_front();
    else
      heap_.pop();
    next_ = nullptr;
    return out;
  }

 private:
  std::array<std::deque<Planned>, kActs> lines_;
  std::priority_queue<Planned, std::vector<Planned>, std::greater<>> heap_;
  const Planned* next_ = nullptr;  // Known until something comes before it.
  std::uint64_t order_ = 0;
};

}  // namespace souk::lab::sim
