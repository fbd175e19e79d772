#include "agent/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "wire/problem.h"

namespace souk::agent {
namespace {

using base::Code;
using base::fail;

constexpr auto kFirstRetryPause = std::chrono::milliseconds(200);
constexpr auto kLongestRetryPause = std::chrono::seconds(5);
constexpr auto kLinkGlance = std::chrono::milliseconds(20);  // Is it still wanted?

// A gateway that speaks for a market it cannot reach is as good as no answer.
bool from_a_gateway(const net::Response& response) {
  const bool such = response.status == 502 || response.status == 503 || response.status == 504;
  return such && !response.content_type.starts_with("application/problem+json");
}

}  // namespace

base::Result<Link> Link::make(LinkOptions options) {
  if (options.servers.empty())
    return fail(Code::invalid, "there is no server to talk to", "give one with --server");
  Link out(std::move(options));
  for (const auto& server : out.options_.servers) {
    SOUK_ASSIGN(auto client, net::Client::make({.base_url = server,
                                                .total_timeout = out.options_.timeout,
                                                .ca_file = out.options_.ca_file,
                                                .pinned_sha256 = out.options_.pin,
                                                .user_agent = "souk-agent"}));
    out.clients_.push_back(std::move(client));
  }
  return out;
}

bool DirectStores::usable(const std::string& origin) const {
  const std::lock_guard lock(mutex_);
  const auto it = until_.find(origin);
  return it == until_.end() || std::chrono::steady_clock::now() >= it->second;
}

void DirectStores::failed(const std::string& origin) {
  constexpr std::size_t kMost = 64;
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(until_, [&](const auto& each) { return now >= each.second; });
  if (until_.size() < kMost) until_[origin] = now + kLeftAlone;
}

bool DirectStores::any_failed() const {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  return std::ranges::any_of(until_, [&](const auto& each) { return now < each.second; });
}

base::Result<std::string> Link::call(std::string_view method, std::string_view path,
                                     std::string_view body, std::string_view key) {
  SOUK_ASSIGN(auto response, ask(method, path, body, key));
  if (response.status < 300) return std::move(response.body);
  return std::unexpected(wire::refusal(response.status, response.body));
}

base::Result<net::Response> Link::get_or_redirect(std::string_view path) {
  SOUK_ASSIGN(auto response, ask("GET", path, {}, {}));
  if (response.status < 300 || response.status == 307) return response;
  return std::unexpected(wire::refusal(response.status, response.body));
}

// Any answer of the market.
base::Result<net::Response> Link::ask(std::string_view method, std::string_view path,
                                      std::string_view body, std::string_view key) {
  net::Headers headers{{"Authorization", "Bearer " + options_.token}};
  if (!key.empty()) headers.emplace_back("Idempotency-Key", std::string(key));
  base::Error last;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    auto response = clients_[current_].send(method, path, headers, body);
    if (response && !from_a_gateway(*response)) return response;
    last = response ? base::Error{Code::unavailable,
                                  fmt::format("a gateway at {} answered with status {}",
                                              options_.servers[current_], response->status),
                                  "the market behind it is down: try again"}
                    : std::move(response).error();
    if (last.code != Code::unavailable) break;
    current_ = (current_ + 1) % clients_.size();
  }
  return std::unexpected(std::move(last));
}

base::Result<std::string> Link::post(std::string_view path, std::string_view body) {
  return call("POST", path, body, net::fresh_key());
}

base::Result<std::string> Link::put(std::string_view path, std::string_view bytes) {
  return call("PUT", path, bytes, {});
}

base::Result<std::string> Link::insist(std::string_view path, std::string_view body,
                                       base::Duration patience,
                                       const std::function<bool()>& give_up) {
  using Clock = std::chrono::steady_clock;
  const auto key = net::fresh_key();
  const auto deadline = Clock::now() + std::chrono::microseconds(patience.us);
  for (auto pause = std::chrono::milliseconds(kFirstRetryPause);; pause *= 2) {
    auto answer = call("POST", path, body, key);
    const bool again = !answer && (answer.error().code == Code::unavailable ||
                                   answer.error().code == Code::exhausted);
    const auto over = [&] {
      return Clock::now() >= deadline || *cancelled_ || (give_up && give_up());
    };
    if (!again || over()) return answer;
    pause = std::min<std::chrono::milliseconds>(pause, kLongestRetryPause);
    const auto next = std::min(Clock::now() + pause, deadline);
    while (Clock::now() < next && !over()) std::this_thread::sleep_for(kLinkGlance);
    if (*cancelled_ || (give_up && give_up())) return answer;
  }
}

void Link::cancel() {
  *cancelled_ = true;
  for (auto& client : clients_) client.cancel();
}

}  // namespace souk::agent
