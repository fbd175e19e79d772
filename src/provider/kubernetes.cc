#include "provider/kubernetes.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "wire/json.h"

namespace souk::provider {
namespace {

namespace json = boost::json;
using base::Code;

constexpr int kPodTries = 3;
constexpr int kGraceSeconds = 60;

// The text at "a.b.c", or "".
std::string text_at(const json::value& value, std::string_view path) {
  const auto* at = &value;
  for (const auto key : base::split(path, '.')) {
    const auto* object = at->if_object();
    at = object == nullptr ? nullptr : object->if_contains(key);
    if (at == nullptr) return {};
  }
  return at->is_string() ? std::string(at->as_string()) : std::string();
}

base::Failure refused_by_kubernetes(std::string_view what, const HttpAnswer& answer) {
  const auto status = wire::parse(answer.body);
  const auto said = status ? text_at(*status, "message") : std::string();
  const bool full = said.find("exceeded quota") != said.npos;
  const auto code = answer.status == 429 || full                   ? Code::exhausted
                    : answer.status >= 500                         ? Code::unavailable
                    : answer.status == 401 || answer.status == 403 ? Code::forbidden
                                                                   : Code::invalid;
  return base::fail(code, fmt::format("Kubernetes, {}: {} {}", what, answer.status, said),
                    code == Code::forbidden
                        ? "the account needs create, list and delete on pods in the namespace"
                        : "");
}

MachineState pod_state(std::string_view phase) {
  if (phase == "Succeeded" || phase == "Failed") return MachineState::ended;
  return phase == "Running" ? MachineState::running : MachineState::pending;
}

}  // namespace

std::string Kubernetes::pods_path() const {
  return fmt::format("/api/v1/namespaces/{}/pods", url_encoded(settings_.namespace_));
}

Result<HttpAnswer> Kubernetes::call(const std::string& method, const std::string& path,
                                    const std::string& body) {
  HttpCall call{.method = method,
                .url = settings_.server + path,
                .headers = {{"Accept", "application/json"}},
                .body = body,
                .ca_file = settings_.ca_file,
                .cert_file = settings_.cert_file,
                .key_file = settings_.key_file};
  if (!body.empty()) call.headers.emplace_back("Content-Type", "application/json");
  if (!settings_.token_file.empty()) {
    SOUK_ASSIGN(const auto token, base::read_file(settings_.token_file, "check the kubeconfig"));
    call.headers.emplace_back("Authorization", "Bearer " + std::string(base::trim(token)));
  }
  return caller_(call);
}

Result<std::vector<MachineKind>> Kubernetes::kinds() {
  return std::vector<MachineKind>{{.where = settings_.namespace_,
                                   .cores = settings_.cores,
                                   .memory_mib = settings_.memory_mib,
                                   .gpus = settings_.gpus,
                                   .hourly = settings_.hourly}};
}

std::string Kubernetes::pod(const StartRequest& request) const {
  const auto& join = request.join;
  json::array command{"souk",     "lend",
                      "--until",  fmt::format("{}s", settings_.lifetime.us / 1'000'000 * 95 / 100),
                      "--cores",  std::to_string(settings_.cores),
                      "--memory", fmt::format("{}M", settings_.memory_mib * 2 / 3),
                      "--gpus",   std::to_string(settings_.gpus),
                      "--drain",  fmt::format("{}s", kGraceSeconds - 10)};
  for (const auto& flag : join.flags) command.emplace_back(flag);
  json::array env{{{"name", "SOUK_SERVER"}, {"value", join.server}},
                  {{"name", "SOUK_TOKEN"}, {"value", join.token}},
                  {{"name", "HOME"}, {"value", "/tmp"}}};
  if (!join.pin.empty()) env.push_back({{"name", "SOUK_PIN"}, {"value", join.pin}});
  // Requests and limits are one: what is lent is there, and no more is used.
  json::object amounts{{"cpu", std::to_string(settings_.cores)},
                       {"memory", fmt::format("{}Mi", settings_.memory_mib)}};
  if (settings_.gpus > 0) amounts["nvidia.com/gpu"] = std::to_string(settings_.gpus);
  json::object container{{"name", "agent"},
                         {"image", settings_.image},
                         {"command", std::move(command)},
                         {"env", std::move(env)},
                         {"resources", {{"requests", amounts}, {"limits", amounts}}}};
  if (settings_.privileged) container["securityContext"] = {{"privileged", true}};
  json::object spec{{"restartPolicy", "Never"},
                    // It must not outlive its bill, whoever is there to end it.
                    {"activeDeadlineSeconds", settings_.lifetime.us / 1'000'000},
                    {"terminationGracePeriodSeconds", kGraceSeconds},
                    {"automountServiceAccountToken", false},
                    {"enableServiceLinks", false},
                    {"containers", json::array{std::move(container)}}};
  if (!settings_.node_selector.empty()) {
    json::object selector;
    for (const auto& [key, value] : settings_.node_selector) selector[key] = value;
    spec["nodeSelector"] = std::move(selector);
  }
  return json::serialize(json::object{{"apiVersion", "v1"},
                                      {"kind", "Pod"},
                                      {"metadata",
                                       {{"name", "souk-" + request.name.intent},
                                        {"labels",
                                         {{"souk-owner", request.name.owner},
                                          {"souk-pool", request.name.pool},
                                          {"souk-intent", request.name.intent}}}}},
                                      {"spec", std::move(spec)}});
}

Result<std::string> Kubernetes::start(const StartRequest& request) {
  const auto body = pod(request);
  Result<HttpAnswer> answer = base::fail(Code::internal, "nothing was asked");
  for (int i = 0; i < kPodTries; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(200 << i));
    answer = call("POST", pods_path(), body);
    if (answer && answer->status < 500) break;
  }
  if (!answer) return std::unexpected(answer.error());
  // 409: an earlier try of this very request was heard, as nobody else has the name.
  if (answer->status == 201 || answer->status == 200 || answer->status == 409)
    return "souk-" + request.name.intent;
  return refused_by_kubernetes("creating a pod", *answer);
}

Result<std::vector<ListedMachine>> Kubernetes::list(const std::vector<std::string>&) {
  for (auto it = over_.begin(); it != over_.end();) {
    const auto gone = call("DELETE", pods_path() + "/" + url_encoded(*it));
    if (!gone || gone->status >= 500) break;
    it = over_.erase(it);
  }
  const auto selector =
      url_encoded(fmt::format("souk-owner={},souk-pool={}", pool_.owner, pool_.pool));
  std::vector<ListedMachine> out;
  std::string next;
  do {
    const auto path = fmt::format("{}?labelSelector={}&limit=500{}", pods_path(), selector,
                                  next.empty() ? "" : "&continue=" + url_encoded(next));
    SOUK_ASSIGN(const auto answer, call("GET", path));
    if (answer.status != 200) {
      auto error = refused_by_kubernetes("listing pods", answer);
      error.error().code = Code::unavailable;
      return error;
    }
    SOUK_ASSIGN(const auto body, wire::parse(answer.body));
    const auto* items = body.is_object() ? body.as_object().if_contains("items") : nullptr;
    if (items == nullptr || !items->is_array())
      return base::fail(Code::unavailable, "Kubernetes, listing pods: an answer without items");
    for (const auto& item : items->as_array()) {
      ListedMachine m{text_at(item, "metadata.labels.souk-intent"), text_at(item, "metadata.name"),
                      pod_state(text_at(item, "status.phase"))};
      if (m.state == MachineState::ended) {
        const auto reason = text_at(item, "status.reason");
        const auto message = text_at(item, "status.message");
        m.detail = fmt::format("{}{}{}", reason.empty() ? text_at(item, "status.phase") : reason,
                               message.empty() ? "" : ": ", message);
        over_.insert(m.handle);
      }
      out.push_back(std::move(m));
    }
    next = text_at(body, "metadata.continue");
  } while (!next.empty());
  return out;
}

Result<> Kubernetes::stop(const std::string& handle, bool hard) {
  const auto answer =
      call("DELETE", fmt::format("{}/{}", pods_path(), url_encoded(handle)),
           fmt::format(R"({{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":{}}})",
                       hard ? 1 : kGraceSeconds));
  if (!answer) return std::unexpected(answer.error());
  if (answer->status / 100 == 2 || answer->status == 404) return {};
  return refused_by_kubernetes("deleting a pod", *answer);
}

}  // namespace souk::provider
