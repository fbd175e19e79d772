#include "advisor/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/planners/cost_opt.h"
#include "advisor/planners/scala_opt.h"
#include "advisor/planners/scala_opt_m.h"
#include "advisor/planners/time_opt.h"
#include "base/check.h"
#include "base/text.h"

namespace souk::advisor {
namespace {

using base::Code;
using base::fail;

constexpr std::int32_t kMostWorkers = 1'000'000;

template <class Type>
Result<Type> find(const std::vector<Type>& types, std::string_view name, std::string_view noun) {
  const auto at = std::ranges::find(types, name, &Type::name);
  if (at != types.end()) return *at;
  std::vector<std::string_view> known;
  known.reserve(types.size());
  for (const auto& type : types) known.emplace_back(type.name);
  return fail(Code::invalid, fmt::format("the catalog has no {} '{}'", noun, name),
              base::suggest(name, known));
}

Result<ServerType> server_of(const Catalog& catalog, const ClusterRequest& request) {
  if (!request.server.empty()) return find(catalog.servers, request.server, "parameter server");
  const auto best = std::ranges::max_element(catalog.servers, {}, &ServerType::bandwidth_mbps);
  if (best == catalog.servers.end())
    return fail(Code::invalid, "the catalog has no parameter servers", "add one under \"ps\"");
  return *best;
}

Result<> check(const ClusterRequest& r) {
  if (!(r.share > 0 && r.share <= 1))
    return fail(Code::invalid, fmt::format("p is {}", r.share),
                "the share of the server's bandwidth to fill: above 0, at most 1");
  if (r.max_workers && (*r.max_workers < 1 || *r.max_workers > kMostWorkers))
    return fail(Code::invalid, fmt::format("at most {} workers", *r.max_workers),
                fmt::format("use 1 to {}", kMostWorkers));
  for (const auto& [type, mbps] : r.bandwidth_mbps)
    if (!(mbps > 0 && std::isfinite(mbps)))
      return fail(Code::invalid, fmt::format("the bandwidth of {} is {} Mbps", type, mbps),
                  "measure it with one worker; it is above 0");
  return {};
}

Result<std::vector<WorkerType>> candidates(const Catalog& catalog, const ClusterRequest& request,
                                           Bandwidth bandwidth) {
  for (const auto& [type, mbps] : request.bandwidth_mbps)
    SOUK_TRY(find(catalog.workers, type, "worker type"));
  std::vector<WorkerType> out;
  for (const auto& name : request.types) {
    SOUK_ASSIGN(auto type, find(catalog.workers, name, "worker type"));
    if (bandwidth == Bandwidth::counts && !request.bandwidth_mbps.contains(name))
      return fail(Code::invalid, fmt::format("nobody measured the bandwidth of {}", name),
                  fmt::format("give its Mbps with one worker: {{\"{}\":150}}", name));
    out.push_back(std::move(type));
  }
  if (request.types.empty())
    std::ranges::copy_if(catalog.workers, std::back_inserter(out), [&](const WorkerType& type) {
      return bandwidth == Bandwidth::ignored || request.bandwidth_mbps.contains(type.name);
    });
  if (!out.empty()) return out;
  if (catalog.workers.empty())
    return fail(Code::invalid, "the catalog has no worker types", "add one under \"workers\"");
  return fail(
      Code::invalid, "nobody measured the bandwidth of any worker type",
      fmt::format("give its Mbps with one worker: {{\"{}\":150}}", catalog.workers.front().name));
}

// Rounded down; a quotient that is whole but for the last bits counts as whole.
std::int32_t whole(double quotient) {
  return static_cast<std::int32_t>(
      std::clamp(std::floor(quotient * (1 + 1e-12)), 0.0, double{kMostWorkers}));
}

std::int32_t affordable(Credits budget, const ServerType& server, const WorkerType& type) {
  const auto left = (budget - server.price).micro;
  if (left < 0) return 0;
  if (type.price <= Credits()) return kMostWorkers;
  return static_cast<std::int32_t>(std::min<std::int64_t>(left / type.price.micro, kMostWorkers));
}

Sizing size_of(const WorkerType& type, const ServerType& server, const ClusterRequest& request,
               Bandwidth bandwidth) {
  Sizing out{.type = type, .by_max_workers = request.max_workers};
  if (bandwidth == Bandwidth::counts) {
    out.bandwidth_mbps = request.bandwidth_mbps.at(type.name);
    out.by_bandwidth = whole(server.bandwidth_mbps * request.share / *out.bandwidth_mbps);
  }
  if (request.budget) out.by_budget = affordable(*request.budget, server, type);
  return out;
}

}  // namespace

std::string_view to_string(Binding binding) {
  switch (binding) {
    case Binding::bandwidth:
      return "bandwidth";
    case Binding::budget:
      return "budget";
    case Binding::max_workers:
      return "max-workers";
  }
  CHECK(false);
}

std::int32_t Sizing::workers() const {
  CHECK(by_bandwidth || by_budget || by_max_workers);
  return std::min({by_bandwidth.value_or(kMostWorkers), by_budget.value_or(kMostWorkers),
                   by_max_workers.value_or(kMostWorkers)});
}

Binding Sizing::binding() const {
  if (by_bandwidth == workers()) return Binding::bandwidth;
  return by_budget == workers() ? Binding::budget : Binding::max_workers;
}

Credits ClusterChoice::per_hour() const {
  return server.price + Credits(size.type.price.micro * size.workers());
}

Result<Sized> size_all(const Catalog& catalog, const ClusterRequest& request, Bandwidth bandwidth) {
  SOUK_TRY(check(request));
  SOUK_ASSIGN(auto server, server_of(catalog, request));
  SOUK_ASSIGN(const auto types, candidates(catalog, request, bandwidth));
  if (bandwidth == Bandwidth::ignored && !request.budget && !request.max_workers)
    return fail(Code::invalid, "nothing limits the number of workers",
                "give a budget for an hour, or the largest number of workers");
  Sized out{.server = std::move(server)};
  for (const auto& type : types) out.sizes.push_back(size_of(type, out.server, request, bandwidth));
  return out;
}

base::Failure too_small(const Catalog& catalog, const ClusterRequest& request,
                        const ServerType& server, const Sizing& size) {
  CHECK(size.workers() < 1);
  if (size.by_budget == 0)
    return fail(Code::invalid,
                fmt::format("a budget of {} an hour buys no {} beside {}",
                            base::to_string(*request.budget), size.type.name, server.name),
                fmt::format("the least that works is {} ({} + {})",
                            base::to_string(server.price + size.type.price),
                            base::to_string(server.price), base::to_string(size.type.price)));
  std::string hint = "no server of the catalog carries it";
  for (const auto& other : catalog.servers)
    if (other.bandwidth_mbps * request.share >= *size.bandwidth_mbps) {
      hint = fmt::format("{} would carry it", other.name);
      break;
    }
  return fail(Code::invalid,
              fmt::format("one {} asks for {} Mbps, more than {} ({} of {}'s {})", size.type.name,
                          *size.bandwidth_mbps, server.bandwidth_mbps * request.share,
                          request.share, server.name, server.bandwidth_mbps),
              std::move(hint));
}

std::span<const ClusterRecommender> cluster_recommenders() {
  static constexpr ClusterRecommender kTable[] = {
      {"cost-opt", "the cheapest type", &cost_opt, Bandwidth::ignored},
      {"time-opt", "the dearest type", &time_opt, Bandwidth::ignored},
      {"scala-opt", "the type that fills the server's network with the fewest workers", &scala_opt,
       Bandwidth::counts},
      {"scala-opt-m", "the type that was named", &scala_opt_m, Bandwidth::counts},
  };
  return kTable;
}

}  // namespace souk::advisor
