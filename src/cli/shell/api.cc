#include "cli/shell/api.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "wire/problem.h"

namespace souk::cli {
namespace {

constexpr auto kRetryAfter = std::chrono::milliseconds(300);
constexpr std::string_view kLogin = "/v1/login";

}  // namespace

Error refusal(const net::Response& response) {
  return {wire::refusal(response.status, response.body), Exit::refused};
}

Result<Api> Api::connect(const Target& target, base::Duration timeout) {
  SOUK_ASSIGN(auto client, net::Client::make({.base_url = target.server,
                                              .total_timeout = timeout,
                                              .ca_file = target.ca,
                                              .pinned_sha256 = target.pin,
                                              .user_agent = "souk-cli"}));
  return Api(std::move(client), target);
}

net::Headers Api::headers() const {
  net::Headers out{{"Accept", "application/json"}};
  if (!token_.empty()) out.emplace_back("Authorization", "Bearer " + token_);
  return out;
}

Result<std::string> Api::call(std::string_view method, std::string_view path,
                              std::string_view body) {
  auto sent = headers();
  if (method != "GET") sent.emplace_back("Idempotency-Key", net::fresh_key());
  if (!body.empty()) sent.emplace_back("Content-Type", "application/json");
  auto response = client_.send(method, path, sent, body);
  if (!response && response.error().code == base::Code::unavailable) {
    std::this_thread::sleep_for(kRetryAfter);
    response = client_.send(method, path, sent, body);
  }
  if (!response) {
    auto error = std::move(response).error();
    error.hint += error.hint.empty() ? "" : " ";
    error.hint += "(--server or SOUK_SERVER name another server)";
    return std::unexpected(Error(std::move(error), Exit::unreachable));
  }
  if (response->status < 300) return std::move(response->body);
  auto refused = refusal(*response);
  // The server's hint is for programs: it speaks of headers.
  if (response->status == 401 && path != kLogin) refused.hint = "log in with `souk login NAME`";
  return std::unexpected(std::move(refused));
}

Result<std::string> Api::get(std::string_view path) { return call("GET", path, {}); }
Result<std::string> Api::post(std::string_view path, std::string_view body) {
  return call("POST", path, body);
}
Result<std::string> Api::put(std::string_view path, std::string_view body) {
  return call("PUT", path, body);
}
Result<std::string> Api::patch(std::string_view path, std::string_view body) {
  return call("PATCH", path, body);
}
Result<std::string> Api::remove(std::string_view path) { return call("DELETE", path, {}); }

Result<> Api::events(std::string_view path, const std::string& last_id,
                     const std::function<bool(const net::Event&)>& on_event) {
  net::Headers sent{{"Accept", std::string(net::kEventStream)}};
  if (!token_.empty()) sent.emplace_back("Authorization", "Bearer " + token_);
  if (!last_id.empty()) sent.emplace_back("Last-Event-ID", last_id);
  net::EventParser parser;
  base::Result<> trouble;
  auto response = client_.stream(path, sent, [&](std::string_view bytes) {
    auto more = parser.feed(bytes, on_event);
    if (!more) trouble = std::unexpected(std::move(more).error());
    return more.value_or(false);
  });
  SOUK_TRY(std::move(trouble));
  if (!response) return std::unexpected(Error(std::move(response).error(), Exit::unreachable));
  if (response->status >= 300) return std::unexpected(refusal(*response));
  return {};
}

std::string query_string(const std::vector<std::pair<std::string, std::string>>& params) {
  std::string out;
  for (const auto& [key, value] : params) {
    if (value.empty()) continue;
    out += out.empty() ? '?' : '&';
    out += key + "=" + net::percent_encode(value);
  }
  return out;
}

std::string path_of(std::string_view prefix, std::string_view segment, std::string_view suffix) {
  return fmt::format("{}/{}{}", prefix, net::percent_encode(segment), suffix);
}

}  // namespace souk::cli
