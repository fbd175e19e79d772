#include "relay/joiner.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/check.h"
#include "base/text.h"

namespace souk::relay {
namespace {

constexpr std::chrono::seconds kSeldom{1};

bool is_meeting(std::string_view text) {
  return !text.empty() && text.size() <= 100 && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-';
  });
}

}  // namespace

std::string sign(const MeetingTicket& ticket, const base::Digest& key) {
  CHECK(is_meeting(ticket.meeting));
  const auto text = fmt::format("{}/{}/{}", ticket.meeting, ticket.side, ticket.until.us);
  return fmt::format("{}/{}", text, to_string(base::blake2b(text, key)));
}

base::Result<MeetingTicket> read_meeting_ticket(std::string_view text, const base::Digest& key,
                                                base::Time now) {
  const auto forged = [] {
    return base::fail(base::Code::unauthenticated, "the ticket is not one of this relay's market",
                      "ask the market for one");
  };
  constexpr std::size_t longest = 250;
  const auto parts = base::split(text.substr(0, longest + 1), '/');
  if (text.size() > longest || parts.size() != 4 || !is_meeting(parts[0]) ||
      (parts[1] != "0" && parts[1] != "1"))
    return forged();
  std::int64_t until = 0;
  if (std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), until).ec != std::errc{})
    return forged();
  MeetingTicket out{std::string(parts[0]), parts[1] == "1" ? 1 : 0, base::Time(until)};
  // Hashed: what is compared byte by byte is nothing that a caller can steer.
  if (base::blake2b(sign(out, key)) != base::blake2b(text)) return forged();
  if (now >= out.until)
    return base::fail(base::Code::unauthenticated, "the ticket has expired",
                      "ask the market for another");
  return out;
}

bool Joiner::gone(const Waiting& w, std::chrono::steady_clock::time_point now) {
  if (!w.line) return true;
  if (now - w.since > kPatience) return true;
  pollfd event{w.line->fd(), POLLRDHUP, 0};
  return ::poll(&event, 1, 0) > 0;
}

void Joiner::drop_gone(std::chrono::steady_clock::time_point now) {
  if (now - tidied_ < kSeldom) return;
  tidied_ = now;
  std::erase_if(room_, [&](const auto& entry) {
    return gone(entry.second[0], now) && gone(entry.second[1], now);
  });
}

void Joiner::tidy() {
  const std::lock_guard lock(mutex_);
  drop_gone(std::chrono::steady_clock::now());
}

void Joiner::bring(const std::string& meeting, int side, std::unique_ptr<net::Line> line,
                   base::Duration idle) {
  CHECK(side == 0 || side == 1);
  if (!line) return;
  const auto now = std::chrono::steady_clock::now();
  std::unique_ptr<net::Line> other;
  {
    const std::lock_guard lock(mutex_);
    drop_gone(now);
    const auto it = room_.find(meeting);
    if (it == room_.end() && room_.size() >= kMostWaiting) return;  // Closed: there is no room.
    auto& sides = it == room_.end() ? room_[meeting] : it->second;
    auto& across = sides[static_cast<std::size_t>(1 - side)];
    if (gone(across, now)) {
      across.line.reset();
      sides[static_cast<std::size_t>(side)] = {std::move(line), now};
      return;
    }
    other = std::move(across.line);
    room_.erase(meeting);
  }
  carrier_.carry(std::move(line), std::move(other), idle);
}

std::size_t Joiner::waiting() const {
  const std::lock_guard lock(mutex_);
  return room_.size();
}

void Joiner::close() {
  const std::lock_guard lock(mutex_);
  room_.clear();
}

}  // namespace souk::relay
