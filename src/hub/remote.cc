#include "hub/remote.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>

#include "base/check.h"
#include "hub/service.h"
#include "hub/ticket.h"
#include "net/client.h"
#include "wire/json.h"
#include "wire/problem.h"

namespace souk::hub {
namespace {

using base::Code;
using base::fail;
using base::Result;

// A thread of the market waits for these: a hub that is slow is one to leave out.
constexpr auto kConnect = base::seconds(2);
constexpr auto kAnswer = base::seconds(20);
constexpr auto kLeftOut = base::seconds(30);

struct Version {
  std::int64_t version = 0;
  SOUK_FIELDS(Version, version)
};

std::string path_of(const Remote::Name& name) {
  return fmt::format("/v1/hub/{}/updates/{}", net::percent_encode(name.job),
                     net::percent_encode(name.update));
}

}  // namespace

struct Remote::Hub {
  HubAddress address;
  std::atomic<std::int64_t> left_out_until = 0;
  std::mutex mutex;  // Guards client.
  net::Client client;

  Hub(HubAddress a, net::Client c) : address(std::move(a)), client(std::move(c)) {}
};

Result<HubAddress> parse_hub(std::string_view text) {
  const auto hash = text.find('#');
  HubAddress out{.url = std::string(text.substr(0, hash))};
  if (hash != text.npos) out.pin = text.substr(hash + 1);
  while (out.url.ends_with('/')) out.url.pop_back();
  const bool pinned_nothing = !out.pin.empty() && !out.url.starts_with("https://");
  if (pinned_nothing)
    return fail(Code::invalid, fmt::format("'{}' has no certificate to pin", out.url),
                "write https://, or leave out what follows '#'", "hub");
  SOUK_TRY(net::Client::make({.base_url = out.url, .pinned_sha256 = out.pin}));
  return out;
}

Remote::Remote(std::string secret, const base::Clock& clock)
    : secret_(std::move(secret)), key_(key_of(secret_)), clock_(clock) {}
Remote::~Remote() = default;

Result<std::unique_ptr<Remote>> Remote::make(const std::vector<HubAddress>& hubs,
                                             std::string secret, const base::Clock& clock) {
  if (secret.size() < kLeastSecret)
    return fail(Code::invalid, fmt::format("the hubs' secret has {} characters", secret.size()),
                fmt::format("at least {}, the same as the hubs'", kLeastSecret), "hub-secret-file");
  std::unique_ptr<Remote> out(new Remote(std::move(secret), clock));
  for (const auto& hub : hubs) {
    SOUK_ASSIGN(auto client, net::Client::make({.base_url = hub.url,
                                                .connect_timeout = kConnect,
                                                .total_timeout = kAnswer,
                                                .pinned_sha256 = hub.pin,
                                                .user_agent = "souk-market"}));
    out->hubs_.push_back(std::make_unique<Hub>(hub, std::move(client)));
  }
  return out;
}

std::optional<std::size_t> Remote::choose(std::int64_t unit) const {
  const auto now = clock_.now();
  for (std::size_t i = 0; i < hubs_.size(); ++i) {
    const auto at = (static_cast<std::size_t>(unit) + i) % hubs_.size();
    if (hubs_[at]->left_out_until.load() <= now.us) return at;
  }
  return std::nullopt;
}

wire::UnitHub Remote::pass(std::size_t hub, const std::string& job, const std::string& update,
                           base::Time expires) const {
  const auto& address = hubs_[hub]->address;
  return {.url = address.url,
          .update = update,
          .ticket = sign({job, update, expires}, key_),
          .pinned = address.pin.empty() ? std::nullopt : std::optional(address.pin)};
}

// Refusals that are the worker's fault say nothing about the hub.
Result<std::string> Remote::call(std::size_t hub, std::string_view method,
                                 const std::string& path) {
  auto& h = *hubs_[hub];
  const auto answer = [&]() -> Result<std::string> {
    const std::lock_guard lock(h.mutex);
    SOUK_ASSIGN(auto response,
                h.client.send(method, path, {{"Authorization", "Bearer " + secret_}}));
    if (response.status >= 300)
      return std::unexpected(wire::refusal(response.status, response.body));
    return std::move(response.body);
  }();
  if (!answer && answer.error().code != Code::invalid && answer.error().code != Code::not_found)
    h.left_out_until = (clock_.now() + kLeftOut).us;
  return answer;
}

Result<Measured> Remote::measure(const Name& name, std::string_view codec, std::size_t floats) {
  SOUK_ASSIGN(const auto bytes, call(name.hub, "GET",
                                     fmt::format("{}?codec={}&size={}", path_of(name),
                                                 net::percent_encode(codec), floats)));
  return unpack_measured(bytes);
}

Result<std::int64_t> Remote::fold(const Name& name, const Fold& fold) {
  auto path = fmt::format(
      "/v1/hub/{}/fold?id={}&base={}&epoch={}&weight={}&at_work={}&codec={}&generation={}"
      "&staged={}&rule={}&workers={}",
      net::percent_encode(name.job), fold.id, fold.base, fold.epoch, fold.weight, fold.at_work,
      net::percent_encode(fold.codec), net::percent_encode(fold.generation),
      net::percent_encode(name.update), net::percent_encode(fold.rule.name), fold.rule.workers);
  for (const auto& [param, value] : fold.rule.params)
    path += fmt::format("&rule.{}={}", net::percent_encode(param), value);
  SOUK_ASSIGN(const auto answer, call(name.hub, "POST", path));
  SOUK_ASSIGN(const auto version, wire::from_json<Version>(answer));
  return version.version;
}

bool Remote::drop(const Name& name) {
  const auto answer = call(name.hub, "DELETE", path_of(name));
  return answer || answer.error().code != Code::unavailable;
}

std::vector<base::Error> Remote::check() {
  std::vector<base::Error> out;
  for (std::size_t i = 0; i < hubs_.size(); ++i)
    if (auto answer = call(i, "GET", "/v1/hub/stats"); !answer) {
      auto error = std::move(answer).error();
      error.message = fmt::format("hub {}: {}", hubs_[i]->address.url, error.message);
      out.push_back(std::move(error));
    }
  return out;
}

}  // namespace souk::hub
