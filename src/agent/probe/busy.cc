#include "agent/probe/busy.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "wire/api/machine.h"

namespace souk::agent {

using base::Time;

std::optional<double> worked_seconds(const std::string& root, std::span<const int> cores) {
  std::ifstream in(root + "/proc/stat");
  double ticks = 0;
  bool found = false;
  for (std::string line; std::getline(in, line) && line.starts_with("cpu");) {
    std::istringstream columns(line.substr(3));
    // The first line, which has no number, is about all of them.
    int core = -1;
    if (line.size() > 3 && line[3] != ' ') columns >> core;
    if (cores.empty() != (core < 0)) continue;
    if (core >= 0 && std::ranges::find(cores, core) == cores.end()) continue;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0;
    if (!(columns >> user >> nice >> system >> idle >> wait >> irq >> soft)) return std::nullopt;
    ticks += user + nice + system + irq + soft;
    found = true;
  }
  if (!found) return std::nullopt;
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

bool BusyWatch::too_busy(double others) const {
  const auto half = (options_.lent + 1) / 2;
  return others > static_cast<double>(std::ssize(options_.cores) - half) + 0.5;
}

void BusyWatch::look(double own_cpu_seconds, Time now) {
  if (options_.cores.empty()) return;
  const auto worked = worked_seconds(options_.root, options_.cores);
  if (!worked) return;
  const Look here{now, *worked, own_cpu_seconds};
  const auto before = last_.value_or(here);
  const auto elapsed = now - before.at;
  if (last_ && elapsed >= base::Duration() && elapsed < kShortestLook) return;
  last_ = here;
  if (elapsed < kShortestLook) return;  // The first, or the clock was set back.
  const auto used = (here.worked - before.worked) - (here.own - before.own);
  others_ =
      std::clamp(used / elapsed.seconds(), 0.0, static_cast<double>(std::ssize(options_.cores)));
  if (too_busy(others_)) {
    if (!since_) since_ = before.at;
    return;
  }
  since_.reset();
  put_off_ = Time();
}

void BusyWatch::challenge_met() {
  pause_ = kFirstPause;
  put_off_ = Time();
  told_.reset();
}

std::string BusyWatch::challenge_failed(const std::string& reason, Time now) {
  if (!unproved_ || !since_) return reason;
  put_off_ = now + pause_;
  pause_ = std::min(pause_ * 2, kLongestPause);
  if (told_ && std::abs(*told_ - others_) < kNews) return "";
  told_ = others_;
  return reason + "; not yet proved: " +
         wire::busy_text({.cores = others_,
                          .of = static_cast<std::int32_t>(std::ssize(options_.cores)),
                          .since = *since_,
                          .again = put_off_},
                         now);
}

std::optional<wire::BusyReport> BusyWatch::report(Time now) const {
  if (!unproved_ || !since_) return std::nullopt;
  wire::BusyReport out{.cores = std::round(others_ * 100) / 100,
                       .of = static_cast<std::int32_t>(std::ssize(options_.cores)),
                       .lasting = std::max(base::Duration(), now - *since_)};
  if (put_off_ > now) out.put_off = put_off_ - now;
  return out;
}

}  // namespace souk::agent
