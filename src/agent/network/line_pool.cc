#include "agent/network/line_pool.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <charconv>
#include <chrono>
#include <vector>

#include "base/containment.h"
#include "net/dial.h"

namespace souk::agent {
namespace {

using net::Line;

constexpr auto kPoolStepMs = 50;
constexpr auto kLook = std::chrono::milliseconds(500);
constexpr auto kPauseAfterTrouble = std::chrono::seconds(1);
constexpr auto kRenew = std::chrono::minutes(5);  // Routers forget what is quiet for longer.
constexpr std::size_t kMostWish = 64;
constexpr std::string_view kPort = "port ";
constexpr std::string_view kTerminal = "terminal";

}  // namespace

LinePool::LinePool(LinePoolOptions options)
    : options_(std::move(options)),
      carrier_(relay::Carrier::start().value_or(nullptr)),
      thread_([this] { run(); }) {}

LinePool::~LinePool() {
  stopping_ = true;
  thread_.join();
}

std::uint64_t LinePool::in_use() const { return carrier_ ? carrier_->counters().pairs.load() : 0; }
std::uint64_t LinePool::bytes() const { return carrier_ ? carrier_->counters().bytes.load() : 0; }

void LinePool::run() {
  Clock::time_point next_look = {}, next_dial = {};
  bool fit = false;
  while (!stopping_) {
    const auto now = Clock::now();
    if (now >= next_look) {
      fit = offering_ && options_.fit();
      next_look = now + kLook;
    }
    if (!fit || !offering_) waiting_.clear();
    if (fit && offering_ && std::cmp_less(waiting_.size(), options_.spare) && now >= next_dial) {
      const auto before = waiting_.size();
      (void)base::contained([this]() -> base::Result<> {
        dial();
        return {};
      });
      if (waiting_.size() == before) next_dial = Clock::now() + kPauseAfterTrouble;
    }
    open_ = !waiting_.empty() || in_use() > 0;
    std::vector<pollfd> events;
    for (const auto& w : waiting_) events.push_back({w.line->fd(), POLLIN, 0});
    const bool full = std::cmp_greater_equal(waiting_.size(), options_.spare) || !fit;
    ::poll(events.data(), events.size(), full ? kPoolStepMs : 1);
    waiting_.remove_if([this](Waiting& w) { return listen(w); });
  }
  waiting_.clear();
}

void LinePool::dial() {
  auto dialled = net::dial({.base_url = options_.link.servers.front(),
                            .connect_timeout = base::seconds(5),
                            .total_timeout = base::seconds(5),
                            .ca_file = options_.link.ca_file,
                            .pinned_sha256 = options_.link.pin,
                            .user_agent = "souk-agent"},
                           fmt::format("/v1/leases/{}/line", to_string(options_.lease)),
                           {{"Authorization", "Bearer " + options_.link.token}});
  if (dialled && dialled->line) waiting_.push_back({std::move(dialled->line), {}, Clock::now()});
}

// What the market wants of this line. True: it waits no more.
bool LinePool::listen(Waiting& waiting) {
  // Byte by byte: what follows the wish is for the program.
  std::array<char, 1> byte;
  while (true) {
    const auto io = waiting.line->read(byte);
    if (io.outcome == Line::Outcome::closed) return true;
    if (io.outcome != Line::Outcome::done)
      return waiting.said.empty() && Clock::now() - waiting.since > kRenew;
    if (byte[0] == '\n') break;
    waiting.said += byte[0];
    if (waiting.said.size() > kMostWish) return true;
  }
  (void)base::contained([&]() -> base::Result<> {
    connect(waiting);
    return {};
  });
  return true;
}

void LinePool::connect(Waiting& waiting) {
  const std::string_view said = waiting.said;
  if (said == kTerminal && options_.on_terminal)
    return options_.on_terminal(std::move(waiting.line));
  if (!said.starts_with(kPort) || options_.porter == nullptr || !carrier_) return;
  std::uint16_t port = 0;
  const auto digits = said.substr(kPort.size());
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size()) return;
  auto program = options_.porter->connect(port);
  if (program) carrier_->carry(std::move(waiting.line), net::line_of(*std::move(program)));
}

}  // namespace souk::agent
