#include "agent/limits/cores.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "agent/limits/claims.h"
#include "base/text.h"

namespace souk::agent {

using base::Code;
using base::fail;
using base::Result;

namespace {

std::string name_of(int core) { return fmt::format("core/{}", core); }

std::string described(const std::vector<CoreClaims::Held>& held) {
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < held.size();) {
    std::vector<int> cores;
    const auto first = i;
    for (; i < held.size() && held[i].by == held[first].by; ++i) cores.push_back(held[i].core);
    pieces.push_back(fmt::format("{} by {}", core_list(cores), held[first].by));
  }
  constexpr std::size_t most = 6;
  const auto more = pieces.size() > most ? pieces.size() - most : 0;
  pieces.resize(std::min(pieces.size(), most));
  return base::join(pieces, "; ") + (more > 0 ? fmt::format("; and {} more", more) : "");
}

}  // namespace

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> out;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) out.push_back(core);
  return out;
}

std::string core_list(const std::vector<int>& cores) {
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < cores.size();) {
    auto last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    pieces.push_back(i == last ? std::to_string(cores[i])
                               : fmt::format("{}-{}", cores[i], cores[last]));
    i = last + 1;
  }
  return base::join(pieces, ",");
}

Result<CoreClaims> CoreClaims::take(int least, int most, const std::vector<int>& allowed,
                                    const std::string& scope) {
  if (least > std::ssize(allowed))
    return fail(Code::invalid,
                fmt::format("this process may use {} core{} ({}), not {}", allowed.size(),
                            allowed.size() == 1 ? "" : "s", core_list(allowed), least),
                fmt::format("--cores {} at most", allowed.size()));
  CoreClaims out;
  for (const auto core : allowed) {
    if (std::ssize(out.cores_) >= most) break;
    auto socket = claim(name_of(core), scope);
    if (socket.get() < 0) continue;
    out.cores_.push_back(core);
    out.sockets_.push_back(std::move(socket));
  }
  if (std::ssize(out.cores_) >= least) return out;
  std::vector<int> others;
  for (const auto core : allowed)
    if (std::ranges::find(out.cores_, core) == out.cores_.end()) others.push_back(core);
  const auto who = described(held(others, scope));
  return fail(
      Code::exhausted,
      out.cores_.empty()
          ? fmt::format("all cores ({}) are lent already: {}", core_list(allowed), who)
          : fmt::format("{} of the cores {} are free, not {}: other agents of this machine lend {}",
                        out.cores_.size(), core_list(allowed), least, who),
      "end one of them, or lend with --share-cores, which keeps nobody's cores apart");
}

std::vector<CoreClaims::Held> CoreClaims::held(const std::vector<int>& cores,
                                               const std::string& scope) {
  std::vector<Held> out;
  for (const auto core : cores)
    if (const auto by = claimed_by(name_of(core), scope)) out.push_back({core, *by});
  return out;
}

std::string cores_text() {
  const auto allowed = allowed_cores();
  const auto held = CoreClaims::held(allowed, claim_scope());
  if (held.empty())
    return fmt::format("{} may be lent, and no agent lends them.", core_list(allowed));
  return fmt::format("{} may be lent. Agents of this machine lend {}.", core_list(allowed),
                     described(held));
}

Result<> stay_on(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const auto core : cores) CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) == 0) return {};
  return fail(Code::unavailable, fmt::format("cannot stay on the cores {}: {}", core_list(cores),
                                             std::strerror(errno)));
}

CoreDesk& CoreDesk::of_machine() {
  static CoreDesk desk;
  return desk;
}

CoreDesk::Grant CoreDesk::take(int count, const std::vector<int>& allowed) {
  const std::lock_guard lock(mutex_);
  std::vector<std::tuple<int, std::size_t, int>> load;  // Leases, place in turn, core.
  // Agents that share cores begin with different ones.
  const auto first = static_cast<std::size_t>(getpid());
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    const auto core = allowed[(first + i) % allowed.size()];
    const auto at = std::ranges::find(leases_on_, core, &std::pair<int, int>::first);
    load.emplace_back(at == leases_on_.end() ? 0 : at->second, i, core);
  }
  std::ranges::sort(load);
  Grant out;
  out.desk_ = this;
  const auto most = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1, count)), 1,
                                            std::max<std::size_t>(1, load.size()));
  for (std::size_t i = 0; i < most && i < load.size(); ++i) {
    const auto core = std::get<2>(load[i]);
    out.cores_.push_back(core);
    const auto at = std::ranges::find(leases_on_, core, &std::pair<int, int>::first);
    if (at == leases_on_.end())
      leases_on_.emplace_back(core, 1);
    else
      ++at->second;
  }
  return out;
}

CoreDesk::Grant::~Grant() {
  if (desk_ == nullptr) return;
  const std::lock_guard lock(desk_->mutex_);
  for (const auto core : cores_)
    if (const auto at = std::ranges::find(desk_->leases_on_, core, &std::pair<int, int>::first);
        at != desk_->leases_on_.end())
      --at->second;
}

cpu_set_t CoreDesk::Grant::set() const {
  cpu_set_t out;
  CPU_ZERO(&out);
  for (const auto core : cores_) CPU_SET(core, &out);
  return out;
}

}  // namespace souk::agent
