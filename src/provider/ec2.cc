#include "provider/ec2.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>
#include <tuple>

#include "base/hash.h"
#include "base/text.h"
#include "provider/shell_words.h"

namespace souk::provider {
namespace {

using base::Code;
using net::parse_xml;

constexpr auto kNoneLeft = base::minutes(10);
constexpr int kTries = 3;
// Above the price of the moment, so that not every breath of the market ends the machine.
constexpr double kSpotHeadroom = 1.1;

double number(std::string_view text) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} ? out : 0;
}

// What AWS says when the request was fine and the time is not.
bool ec2_asks_to_wait(std::string_view code) {
  for (const std::string_view word :
       {"RequestLimitExceeded", "Throttling", "ThrottlingException", "RequestThrottled",
        "InsufficientInstanceCapacity", "InsufficientHostCapacity", "InstanceLimitExceeded",
        "VcpuLimitExceeded", "MaxSpotInstanceCountExceeded", "SpotMaxPriceTooLow"})
    if (code == word) return true;
  return false;
}

base::Failure refused_by_ec2(const std::string& action, const HttpAnswer& answer) {
  const auto parsed = parse_xml(answer.body);
  const auto error = parsed ? parsed->at("Errors/Error") : Xml{};
  const auto& code = error.at("Code").text;
  const auto kind = ec2_asks_to_wait(code)                                     ? Code::exhausted
                    : answer.status >= 500 || code.empty()                     ? Code::unavailable
                    : code == "AuthFailure" || code == "UnauthorizedOperation" ? Code::forbidden
                                                                               : Code::invalid;
  auto out = base::fail(kind, fmt::format("EC2 {}: {}", action,
                                          code.empty() ? fmt::format("status {}", answer.status)
                                                       : code + ": " + error.at("Message").text));
  if (kind == Code::forbidden)
    out.error().hint = "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what the key may do";
  return out;
}

std::string base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > text.size() ? '=' : kDigits[bits >> (18 - 6 * k) & 63];
  }
  return out;
}

// "us-east-1/i-0abc" to its parts.
std::pair<std::string, std::string> split_handle(const std::string& handle) {
  const auto slash = handle.find('/');
  if (slash == handle.npos) return {};
  return {handle.substr(0, slash), handle.substr(slash + 1)};
}

double per_unit(const MachineKind& k) {
  return static_cast<double>(k.hourly.micro) / std::max(1, k.gpus > 0 ? k.gpus : k.cores);
}

void add_list(Ec2Api::Parameters& out, std::string_view name,
              const std::vector<std::string>& values) {
  int n = 0;
  for (const auto& v : values) out.emplace_back(fmt::format("{}.{}", name, ++n), v);
}

MachineState instance_state(std::string_view word) {
  if (word == "terminated") return MachineState::ended;
  return word == "pending" ? MachineState::pending : MachineState::running;
}

// At most 64 characters, and another for each name.
std::string client_token(const MachineName& name) {
  const auto text = to_string(name);
  return text.size() <= 64 ? text : to_string(base::blake2b(text));
}

}  // namespace

Result<Xml> Ec2Api::call(const std::string& region, const std::string& action,
                         Parameters parameters) {
  std::string body = fmt::format("Action={}&Version=2016-11-15", action);
  for (const auto& [name, value] : parameters)
    body += fmt::format("&{}={}", url_encoded(name), url_encoded(value));
  HttpCall call{.method = "POST",
                .url = endpoint_.empty() ? fmt::format("https://ec2.{}.amazonaws.com/", region)
                                         : endpoint_ + "/",
                .headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
                .body = std::move(body),
                .sign = fmt::format("aws:amz:{}:ec2", region),
                .key = key_.id,
                .secret = key_.secret};
  if (!key_.session.empty()) call.headers.emplace_back("X-Amz-Security-Token", key_.session);
  SOUK_ASSIGN(const auto answer, call_http(call));
  if (answer.status != 200) return refused_by_ec2(action, answer);
  auto out = parse_xml(answer.body);
  if (!out) out.error().code = Code::unavailable;  // It was done, and nobody knows what.
  return out;
}

Result<std::vector<Xml>> Ec2Api::pages(const std::string& region, const std::string& action,
                                       const Parameters& parameters, const std::string& list) {
  std::vector<Xml> out;
  std::string next;
  for (int page = 0; page < 1'000; ++page) {
    auto asked = parameters;
    if (!next.empty()) asked.emplace_back("NextToken", next);
    SOUK_ASSIGN(const auto answer, call(region, action, std::move(asked)));
    for (const auto* item : answer.at(list).all("item")) out.push_back(*item);
    next = answer.at("nextToken").text;
    if (next.empty()) return out;
  }
  return base::fail(Code::too_large, fmt::format("EC2 {}: too many pages", action));
}

Result<std::vector<Ec2Type>> Ec2Api::types(const std::string& region,
                                           const std::vector<std::string>& names) {
  Parameters asked;
  add_list(asked, "InstanceType", names);
  SOUK_ASSIGN(const auto items, pages(region, "DescribeInstanceTypes", asked, "instanceTypeSet"));
  std::vector<Ec2Type> out;
  for (const auto& item : items) {
    Ec2Type type{
        .name = item.at("instanceType").text,
        .vcpus = static_cast<std::int32_t>(number(item.at("vCpuInfo/defaultVCpus").text)),
        .memory_mib = static_cast<std::int64_t>(number(item.at("memoryInfo/sizeInMiB").text))};
    for (const auto* gpu : item.at("gpuInfo/gpus").all("item")) {
      type.gpus += static_cast<std::int32_t>(number(gpu->at("count").text));
      type.gpu = gpu->at("name").text;
    }
    out.push_back(std::move(type));
  }
  return out;
}

Result<std::vector<SpotPrice>> Ec2Api::spot_prices(const std::string& region,
                                                   const std::vector<std::string>& types,
                                                   Time since) {
  Parameters asked{{"ProductDescription.1", "Linux/UNIX"},
                   {"StartTime", to_string(Time(since.us / 1'000'000 * 1'000'000))}};
  add_list(asked, "InstanceType", types);
  SOUK_ASSIGN(const auto items,
              pages(region, "DescribeSpotPriceHistory", asked, "spotPriceHistorySet"));
  std::vector<SpotPrice> out;
  for (const auto& item : items) {
    const auto at = base::parse_time(item.at("timestamp").text);
    SpotPrice price{item.at("instanceType").text, item.at("availabilityZone").text,
                    number(item.at("spotPrice").text), at.value_or(Time())};
    if (price.dollars > 0) out.push_back(std::move(price));
  }
  return out;
}

Result<std::vector<MachineKind>> Ec2::kinds_in(const std::string& region) {
  auto& types = types_[region];
  if (types.empty()) {
    SOUK_ASSIGN(types, api_.types(region, settings_.types));
  }
  std::map<std::string, double> prices = settings_.on_demand;
  if (settings_.spot) {
    prices.clear();
    SOUK_ASSIGN(const auto history, api_.spot_prices(region, settings_.types, clock_.now()));
    // The cheapest zone of each type: EC2 chooses the zone, and the bid keeps to this price.
    std::map<std::pair<std::string, std::string>, SpotPrice> latest;
    for (const auto& p : history) {
      auto& known = latest[{p.type, p.zone}];
      if (known.type.empty() || known.at < p.at) known = p;
    }
    for (const auto& [where, p] : latest) {
      const auto bid = p.dollars * kSpotHeadroom;
      const auto it = prices.try_emplace(p.type, bid).first;
      it->second = std::min(it->second, bid);
    }
  }
  std::vector<MachineKind> out;
  for (const auto& type : types) {
    const auto price = prices.find(type.name);
    if (price == prices.end()) continue;
    auto dollars = price->second;
    if (settings_.max_price) {
      if (settings_.spot && dollars / kSpotHeadroom <= *settings_.max_price)
        dollars = std::min(dollars, *settings_.max_price);
      if (dollars > *settings_.max_price) continue;
    }
    const auto blocked = none_left_.find({region, type.name});
    if (blocked != none_left_.end() && clock_.now() < blocked->second) continue;
    out.push_back({.where = region,
                   .type = type.name,
                   .spot = settings_.spot,
                   .cores = type.vcpus,
                   .memory_mib = type.memory_mib,
                   .gpus = type.gpus,
                   .hourly = base::as_credits(dollars * settings_.credits_per_dollar)});
  }
  return out;
}

Result<std::vector<MachineKind>> Ec2::kinds() {
  std::vector<MachineKind> out;
  for (const auto& region : settings_.regions) {
    SOUK_ASSIGN(const auto here, kinds_in(region));
    out.insert(out.end(), here.begin(), here.end());
  }
  std::ranges::sort(out, {},
                    [](const MachineKind& k) { return std::tuple(per_unit(k), k.where, k.type); });
  return out;
}

Ec2Api::Parameters Ec2::run_instances(const StartRequest& request) const {
  const auto& kind = request.kind;
  const auto image = settings_.images.contains(kind.where) ? settings_.images.at(kind.where)
                     : settings_.images.contains("")       ? settings_.images.at("")
                                                           : std::string();
  Ec2Api::Parameters out{
      {"ImageId", image},
      {"InstanceType", kind.type},
      {"MinCount", "1"},
      {"MaxCount", "1"},
      // The same request twice is one instance.
      {"ClientToken", client_token(request.name)},
      // With the instance, not after it: one that has no tags is never found again.
      {"TagSpecification.1.ResourceType", "instance"},
      {"TagSpecification.1.Tag.1.Key", "Name"},
      {"TagSpecification.1.Tag.1.Value", to_string(request.name)},
      {"TagSpecification.1.Tag.2.Key", "souk-owner"},
      {"TagSpecification.1.Tag.2.Value", request.name.owner},
      {"TagSpecification.1.Tag.3.Key", "souk-pool"},
      {"TagSpecification.1.Tag.3.Value", request.name.pool},
      {"TagSpecification.1.Tag.4.Key", "souk-intent"},
      {"TagSpecification.1.Tag.4.Value", request.name.intent},
      {"InstanceInitiatedShutdownBehavior", "terminate"},
      {"MetadataOptions.HttpTokens", "required"},
      {"MetadataOptions.HttpPutResponseHopLimit", "1"},
      {"UserData", base64(user_data(request, settings_.lifetime))}};
  if (!settings_.subnet.empty()) out.emplace_back("SubnetId", settings_.subnet);
  if (!settings_.security_group.empty())
    out.emplace_back("SecurityGroupId.1", settings_.security_group);
  if (!settings_.key_name.empty()) out.emplace_back("KeyName", settings_.key_name);
  if (kind.spot) {
    out.emplace_back("InstanceMarketOptions.MarketType", "spot");
    out.emplace_back("InstanceMarketOptions.SpotOptions.SpotInstanceType", "one-time");
    out.emplace_back("InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior", "terminate");
    out.emplace_back(
        "InstanceMarketOptions.SpotOptions.MaxPrice",
        fmt::format("{:.6f}", base::in_credits(kind.hourly) / settings_.credits_per_dollar));
  }
  return out;
}

Result<std::string> Ec2::start(const StartRequest& request) {
  const auto& kind = request.kind;
  const auto parameters = run_instances(request);
  Result<Xml> answer = base::fail(Code::internal, "nothing was asked");
  // A lost reply is asked for again: the token makes it the same instance.
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(300 << i));
    answer = api_.call(kind.where, "RunInstances", parameters);
    if (answer || answer.error().code != Code::unavailable) break;
  }
  if (!answer) {
    const auto& said = answer.error().message;
    if (answer.error().code == Code::exhausted && said.find("Capacity") != said.npos)
      none_left_[{kind.where, kind.type}] = clock_.now() + kNoneLeft;
    return std::unexpected(answer.error());
  }
  const auto& id = answer->at("instancesSet/item/instanceId").text;
  if (id.empty()) return base::fail(Code::unavailable, "EC2 RunInstances: an answer without an id");
  return kind.where + "/" + id;
}

Result<std::vector<ListedMachine>> Ec2::list(const std::vector<std::string>&) {
  const Ec2Api::Parameters asked{{"Filter.1.Name", "tag:souk-owner"},
                                 {"Filter.1.Value.1", pool_.owner},
                                 {"Filter.2.Name", "tag:souk-pool"},
                                 {"Filter.2.Value.1", pool_.pool},
                                 {"MaxResults", "200"}};
  std::vector<ListedMachine> out;
  for (const auto& region : settings_.regions) {
    SOUK_ASSIGN(const auto reservations,
                api_.pages(region, "DescribeInstances", asked, "reservationSet"));
    for (const auto& reservation : reservations)
      for (const auto* item : reservation.at("instancesSet").all("item")) {
        ListedMachine m{.handle = region + "/" + item->at("instanceId").text,
                        .state = instance_state(item->at("instanceState/name").text),
                        .detail = item->at("stateReason/message").text};
        for (const auto* tag : item->at("tagSet").all("item"))
          if (tag->at("key").text == "souk-intent") m.intent = tag->at("value").text;
        out.push_back(std::move(m));
      }
  }
  return out;
}

Result<> Ec2::stop(const std::string& handle, bool) {
  const auto [region, id] = split_handle(handle);
  if (std::ranges::find(settings_.regions, region) == settings_.regions.end())
    return base::fail(Code::invalid, "'" + handle + "' is in no region of this pool");
  const auto answer = api_.call(region, "TerminateInstances", {{"InstanceId.1", id}});
  if (answer) return {};
  // Long gone, or so new that this part of EC2 has not heard of it: the listing decides.
  if (answer.error().message.find("InvalidInstanceID.NotFound") != std::string::npos) return {};
  return std::unexpected(answer.error());
}

std::string interruption_check(const std::string& metadata_url) {
  return fmt::format(
      "t=$(curl -fsS -m 2 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "
      "{0}/latest/api/token) "
      "&& curl -fsS -m 2 -H \"X-aws-ec2-metadata-token: $t\" "
      "{0}/latest/meta-data/spot/instance-action >/dev/null",
      metadata_url);
}

std::string user_data(const StartRequest& request, Duration lifetime) {
  const auto& join = request.join;
  std::string flags;
  for (const auto& flag : join.flags) flags += " " + shell_word(flag);
  if (request.kind.spot) flags += " --preempt-when " + shell_word(interruption_check(kMetadataUrl));
  const auto minutes = std::max<std::int64_t>(1, lifetime.us / 60'000'000);
  return fmt::format(
      R"(#!/bin/sh
# An agent of Souk, started by `souk provide ec2`: {name}
# It must not outlive its bill, whatever happens below.
shutdown -h +{minutes}
trap 'shutdown -h now' EXIT
umask 077
home=/var/lib/souk
mkdir -p "$home"
export HOME="$home" SOUK_SERVER={server} SOUK_TOKEN={token}
{trust}command -v bwrap >/dev/null || {{
  apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y bubblewrap curl ||
    dnf install -y bubblewrap
}}
curl -fsS ${{SOUK_CA:+--cacert "$SOUK_CA"}} "$SOUK_SERVER/lend" >"$home/lend.sh" || exit 1
sh "$home/lend.sh" --install-only || exit 1
"$home/.local/bin/souk" lend --until {until}s{flags} </dev/null
)",
      fmt::arg("name", to_string(request.name)), fmt::arg("minutes", minutes),
      fmt::arg("server", shell_word(join.server)), fmt::arg("token", shell_word(join.token)),
      fmt::arg("trust", trust_lines(join)), fmt::arg("until", lifetime.us / 1'000'000 * 95 / 100),
      fmt::arg("flags", flags));
}

}  // namespace souk::provider
