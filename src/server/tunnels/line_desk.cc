#include "server/tunnels/line_desk.h"

#include <poll.h>

#include <algorithm>
#include <vector>

namespace souk::server {
namespace {

bool is_gone(const net::Line& line) {
  pollfd event{line.fd(), POLLRDHUP, 0};
  return ::poll(&event, 1, 0) > 0;
}

// A few bytes into the empty buffer of a connection.
bool tell(net::Line& line, const std::string& wish) {
  const iovec piece{const_cast<char*>(wish.data()), wish.size()};
  const auto io = line.write({&piece, 1});
  return io.outcome == net::Line::Outcome::done && io.bytes == wish.size();
}

}  // namespace

void LineDesk::park(base::LeaseId lease, std::unique_ptr<net::Line> line) {
  if (!line) return;
  Taker taker;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    const auto waits = std::ranges::find(waiting_, lease, &Waiting::lease);
    if (waits == waiting_.end()) {
      auto& lines = parked_[lease];
      if (lines.size() >= kMostOfLease) lines.pop_front();
      lines.push_back(std::move(line));
    } else {
      if (!tell(*line, waits->wish)) return;
      taker = std::move(waits->taker);
      waiting_.erase(waits);
    }
  }
  if (taker)
    taker(std::move(line));
  else
    when_parked_(lease);
}

// Requires the mutex.
std::unique_ptr<net::Line> LineDesk::pop(base::LeaseId lease, const std::string& wish) {
  const auto it = parked_.find(lease);
  std::unique_ptr<net::Line> out;
  while (!out && it != parked_.end() && !it->second.empty()) {
    auto line = std::move(it->second.front());
    it->second.pop_front();
    if (!is_gone(*line) && tell(*line, wish)) out = std::move(line);
  }
  if (it != parked_.end() && it->second.empty()) parked_.erase(it);
  return out;
}

std::unique_ptr<net::Line> LineDesk::take_now(base::LeaseId lease, const std::string& wish) {
  const std::lock_guard lock(mutex_);
  return pop(lease, wish);
}

void LineDesk::take(base::LeaseId lease, const std::string& wish, Clock::duration patience,
                    Taker taker) {
  std::unique_ptr<net::Line> line;
  {
    const std::lock_guard lock(mutex_);
    line = pop(lease, wish);
    if (!line && !closed_ && waiting_.size() < kMostWaiting) {
      waiting_.push_back({lease, wish, Clock::now() + patience, std::move(taker)});
      return;
    }
  }
  taker(std::move(line));
}

bool LineDesk::has(base::LeaseId lease) const {
  const std::lock_guard lock(mutex_);
  return parked_.contains(lease);
}

void LineDesk::gone(base::LeaseId lease) {
  std::vector<Taker> takers;
  std::deque<std::unique_ptr<net::Line>> lines;  // Closed outside the lock.
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = parked_.find(lease); it != parked_.end()) {
      lines = std::move(it->second);
      parked_.erase(it);
    }
    waiting_.remove_if([&](Waiting& w) {
      if (w.lease != lease) return false;
      takers.push_back(std::move(w.taker));
      return true;
    });
  }
  for (auto& taker : takers) taker(nullptr);
}

void LineDesk::expire(Clock::time_point now) {
  std::vector<Taker> takers;
  {
    const std::lock_guard lock(mutex_);
    waiting_.remove_if([&](Waiting& w) {
      if (w.until > now) return false;
      takers.push_back(std::move(w.taker));
      return true;
    });
    for (auto& [lease, lines] : parked_)
      std::erase_if(lines, [](const auto& line) { return is_gone(*line); });
    std::erase_if(parked_, [](const auto& entry) { return entry.second.empty(); });
  }
  for (auto& taker : takers) taker(nullptr);
}

void LineDesk::close() {
  std::list<Waiting> waiting;
  std::map<base::LeaseId, std::deque<std::unique_ptr<net::Line>>> parked;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waiting.swap(waiting_);
    parked.swap(parked_);
  }
  for (auto& w : waiting) w.taker(nullptr);
}

}  // namespace souk::server
