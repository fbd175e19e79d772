#include "job/service/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "job/file_keys.h"
#include "job/packages.h"
#include "job/program.h"

namespace souk::job {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kNameMax = 40;
constexpr std::size_t kHealthPathMax = 200;
constexpr std::int32_t kMostAtOnce = 1'000;
constexpr auto kLongestRequest = base::hours(1);

// As wire::BatchService, but for its name, which is the job's unless it says otherwise.
struct ServiceFile {
  std::string name;
  std::int32_t port = 0;
  std::string health;
  std::int32_t at_once = wire::BatchService{}.at_once;
  base::Duration timeout = wire::BatchService{}.timeout;
  wire::Callers callers = wire::Callers::owner;
  std::string model;
  static constexpr auto optional_fields =
      std::array<std::string_view, 6>{"name", "health", "at_once", "timeout", "callers", "model"};
  SOUK_FIELDS(ServiceFile, name, port, health, at_once, timeout, callers, model)
};

struct ServiceKeys {
  std::optional<ServiceFile> service;
  SOUK_FIELDS(ServiceKeys, service)
};

}  // namespace

std::span<const std::string_view> service_keys() {
  static const auto keys = [] {
    std::vector<std::string_view> out(wire::field_names<ProgramKeys>.begin(),
                                      wire::field_names<ProgramKeys>.end());
    out.insert(out.end(), wire::field_names<ServiceKeys>.begin(),
               wire::field_names<ServiceKeys>.end());
    return out;
  }();
  return keys;
}

base::Result<> read_service(const boost::json::object& file, const PathRules& rules, JobFile& out) {
  SOUK_ASSIGN(auto program, read_keys<ProgramKeys>(file));
  SOUK_ASSIGN(auto keys, read_keys<ServiceKeys>(file));
  if (!keys.service)
    return std::unexpected(
        at({Code::invalid, "it is not said where the program listens", "add service: {port: 8000}"},
           "kind"));
  const bool own_retry = file.contains("retry");
  SOUK_TRY(read_program(std::move(program), rules, out));
  auto& work = *out.job.batch;
  auto& s = *keys.service;
  work.service = wire::BatchService{.name = s.name.empty() ? out.job.name : s.name,
                                    .port = s.port,
                                    .health = std::move(s.health),
                                    .at_once = s.at_once,
                                    .timeout = s.timeout,
                                    .callers = s.callers,
                                    .model = std::move(s.model)};
  if (!is_service_name(work.service->name))
    return std::unexpected(
        at({Code::invalid, fmt::format("'{}' cannot be part of an address", work.service->name),
            "give service: {name: ...} of letters, digits, '-' and '_'"},
           "service"));
  // It is to be there for long, whatever becomes of machines and programs.
  if (!own_retry) work.retry = {.on = {wire::RetryOn::lost, wire::RetryOn::failed}, .max = 100};
  return {};
}

Intent describe_service(const JobFile& file) {
  const auto& work = *file.job.batch;
  return {"serves",
          fmt::format("{} at /v1/services/{}/", work.run.substr(0, 60), work.service->name)};
}

bool is_service_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameMax && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
}

base::Result<> check_port(std::int32_t port, std::string field) {
  if (port >= 1 && port <= 65'535) return {};
  return fail(Code::invalid, fmt::format("port {}", port), "use 1 to 65535", std::move(field));
}

base::Result<> check_service(const wire::NewJob& job) {
  if (!job.batch || !job.batch->service)
    return fail(Code::invalid, "a service without work", "give batch, with batch.service", "batch");
  const auto& work = *job.batch;
  const auto& service = *work.service;
  if (work.replicate.value_or(1) != 1)
    return fail(Code::invalid, "a service with replicate", "drop it: nobody compares answers",
                "batch.replicate");
  if (!is_service_name(service.name))
    return fail(
        Code::invalid, fmt::format("'{}' is no name of a service", service.name.substr(0, 80)),
        fmt::format("use 1 to {} letters, digits, '-' and '_'", kNameMax), "batch.service.name");
  SOUK_TRY(check_port(service.port, "batch.service.port"));
  if (service.health.size() > kHealthPathMax ||
      (!service.health.empty() && service.health[0] != '/') ||
      std::ranges::any_of(service.health, [](unsigned char c) { return c <= ' ' || c >= 127; }))
    return fail(Code::invalid, fmt::format("'{}' is no path", service.health.substr(0, 80)),
                "use a path such as /health", "batch.service.health");
  if (service.at_once < 1 || service.at_once > kMostAtOnce)
    return fail(Code::invalid, fmt::format("{} requests at once", service.at_once),
                fmt::format("use 1 to {}", kMostAtOnce), "batch.service.at_once");
  if (service.timeout < base::seconds(1) || service.timeout > kLongestRequest)
    return fail(Code::invalid, fmt::format("a request of {}", to_string(service.timeout)),
                "use 1s to 1h", "batch.service.timeout");
  if (service.model.size() > 100)
    return fail(Code::invalid, "the name of the model is too long", "100 characters at most",
                "batch.service.model");
  SOUK_TRY(check_own_network(work));
  return check_program(work);
}

std::vector<std::string_view> port_demands(const wire::Batch&) { return {kPorts}; }

bool wants_trainer(const wire::Batch& service) {
  const auto wish = service.env.find(kTrainerVariable);
  return wish != service.env.end() && wish->second == kOfTheLender;
}

std::vector<std::string_view> service_demands(const wire::Batch& work) {
  auto out = port_demands(work);
  if (wants_trainer(work)) out.push_back(kTorch);
  return out;
}

}  // namespace souk::job
