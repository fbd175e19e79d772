#include "cli/demo_agent.h"

#include <fmt/format.h>

#include <chrono>

#include "base/clock.h"

namespace souk::cli {
namespace {

base::Time now() { return base::SystemClock().now(); }

// A report about a lease that has been closed meanwhile is not a fault of the agent.
bool is_stale(const Error& error) { return error.code == base::Code::conflict; }

}  // namespace

DemoAgent::DemoAgent(const Target& target, Plan plan)
    : plan_(plan), thread_([this, target] { live(target); }) {}

DemoAgent::~DemoAgent() { stop(); }

void DemoAgent::stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void DemoAgent::live(const Target& target) {
  auto api = Api::connect(target, base::seconds(10));
  if (!api) {
    trouble_ = api.error();
    return;
  }
  while (!stop_ && !unplugged_) {
    if (const auto good = step(*api); !good) {
      if (!stop_) trouble_ = good.error();
      return;
    }
  }
}

Result<> DemoAgent::step(Api& api) {
  // While something runs, heartbeats must not wait for new work.
  const auto path = path_of("/v1/machines", to_string(plan_.machine), "/work");
  const auto query = asked_ && running_.empty()
                         ? query_string({{"seen", std::to_string(seen_)}, {"wait", "1s"}})
                         : std::string();
  SOUK_ASSIGN(const auto work, parsed<wire::Work>(api.get(path + query)));
  asked_ = true;
  seen_ = work.version;
  SOUK_TRY(take_up(api, work));
  for (const auto& [id, lease] : running_)
    if (plan_.unplugged_after && now() - lease.started > *plan_.unplugged_after) unplugged_ = true;
  if (unplugged_) return {};
  SOUK_TRY(beat(api));
  SOUK_TRY(finish(api));
  if (!running_.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  return {};
}

Result<> DemoAgent::take_up(Api& api, const wire::Work& work) {
  for (const auto& lease : work.leases) {
    if (lease.state != "granted" || running_.contains(lease.id)) continue;
    const auto started = api.post(path_of("/v1/leases", to_string(lease.id), "/start"),
                                  wire::to_json(wire::LeaseStart{lease.epoch}));
    if (started) {
      running_[lease.id] = {lease.epoch, now()};
    } else if (!is_stale(started.error())) {
      return std::unexpected(started.error());
    }
  }
  return {};
}

Result<> DemoAgent::beat(Api& api) {
  wire::Heartbeat heartbeat;
  for (const auto& [id, lease] : running_) heartbeat.leases.push_back({id, lease.epoch});
  SOUK_ASSIGN(
      const auto orders,
      parsed<wire::Orders>(api.post(path_of("/v1/machines", to_string(plan_.machine), "/heartbeat"),
                                    wire::to_json(heartbeat))));
  for (const auto& order : orders.orders)
    if (order.action == "stop") running_.erase(order.lease);
  return {};
}

Result<> DemoAgent::finish(Api& api) {
  for (auto it = running_.begin(); it != running_.end();) {
    const auto& [id, lease] = *it;
    if (now() - lease.started < plan_.work) {
      ++it;
      continue;
    }
    const auto finished =
        api.post(path_of("/v1/leases", to_string(id), "/finish"),
                 wire::to_json(wire::LeaseFinish{lease.epoch, "completed", "exit status 0"}));
    if (!finished && !is_stale(finished.error())) return std::unexpected(finished.error());
    it = running_.erase(it);
  }
  return {};
}

}  // namespace souk::cli
