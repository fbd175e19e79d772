#include "agent/hub_links.h"

#include <fmt/format.h>

#include "wire/api/log.h"
#include "wire/json.h"
#include "wire/problem.h"

namespace souk::agent {
namespace {

constexpr auto kHubConnect = base::seconds(5);
constexpr auto kPause = base::seconds(30);  // Until one that failed is tried again.
constexpr std::size_t kMostHubs = 64;

}  // namespace

HubLinks::HubLinks(base::JobId job, LinkOptions market, const base::Clock& clock,
                   std::function<void(std::string_view)> say)
    : job_(job), market_(std::move(market)), clock_(clock), say_(std::move(say)) {}

HubLinks::HubLink* HubLinks::find(const wire::UnitHub& hub) {
  if (const auto it = hubs_.find(hub.url); it != hubs_.end()) return &it->second;
  const net::ClientOptions options{.base_url = hub.url,
                                   .connect_timeout = kHubConnect,
                                   .total_timeout = market_.timeout,
                                   .ca_file = market_.ca_file,
                                   .pinned_sha256 = hub.pinned.value_or(""),
                                   .user_agent = "souk-agent"};
  auto pulls = net::Client::make(options), pushes = net::Client::make(options);
  if (!pulls || !pushes) return nullptr;
  const std::lock_guard lock(mutex_);
  if (cancelled_) pulls->cancel();
  if (hubs_.size() >= kMostHubs) hubs_.clear();
  return &hubs_.emplace(hub.url, HubLink{*std::move(pulls), *std::move(pushes)}).first->second;
}

void HubLinks::cancel_pulls() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  for (auto& [_, link] : hubs_) link.pulls.cancel();
}

std::optional<std::string> HubLinks::call(HubLink& link, net::Client& client,
                                          const wire::UnitHub& hub, std::string_view method,
                                          const std::string& path, std::string_view body) {
  if (clock_.now() < link.not_before) return std::nullopt;
  auto answer = client.move(method, fmt::format("/v1/hub/{}/{}", to_string(job_), path),
                            {{"Authorization", "Bearer " + hub.ticket}}, body, {});
  if (answer && answer->status < 300) return std::move(answer->body);
  if (const std::lock_guard lock(mutex_); cancelled_ && method == "GET") return std::nullopt;
  const auto why = answer ? wire::refusal(answer->status, answer->body) : answer.error();
  say_(fmt::format("hub {}: {}; the market is used instead", hub.url, why.message));
  link.not_before = clock_.now() + kPause;
  return std::nullopt;
}

std::optional<std::string> HubLinks::pull(const wire::UnitHub& hub, const std::string& path) {
  auto* link = find(hub);
  return link == nullptr ? std::nullopt : call(*link, link->pulls, hub, "GET", path, {});
}

bool HubLinks::push(const wire::UnitHub& hub, train::Packing update,
                    const std::function<void(std::size_t bytes)>& sent) {
  auto* link = find(hub);
  if (link == nullptr) return false;
  std::size_t at = 0;
  for (auto piece = update.next(); !piece.empty(); piece = update.next()) {
    const auto answer = call(*link, link->pushes, hub, "PUT",
                             fmt::format("updates/{}?offset={}", hub.update, at), piece);
    if (!answer) return false;
    at += piece.size();
    const auto size = wire::from_json<wire::LogSize>(*answer);
    if (!size || static_cast<std::size_t>(size->size) != at) return false;
    sent(piece.size());
  }
  return true;
}

}  // namespace souk::agent
