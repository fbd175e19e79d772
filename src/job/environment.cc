#include "job/environment.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/packages.h"
#include "job/file_keys.h"
#include "job/packages.h"
#include "job/web_input.h"
#include "wire/spellings.h"

namespace souk::job {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kMostRequirements = 200;
constexpr std::size_t kHashMax = 128;
constexpr std::size_t kMostWheels = 500;
constexpr std::size_t kWheelUrlMax = 2'000;
constexpr std::int32_t kMinorMin = 7, kMinorMax = 99;

struct EnvironmentKeys {
  wire::AnyJson requirements;  // A file, or a list of packages.
  std::optional<wire::AnyJson> python;
  std::optional<wire::AnyJson> on;  // One package, or several.
  std::optional<std::string> build;
  SOUK_FIELDS(EnvironmentKeys, requirements, python, on, build)
};

bool is_hash(std::string_view text) {
  return text.size() <= kHashMax &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

base::Result<> check_wheels(const std::vector<wire::Wheel>& wheels) {
  constexpr auto field = "batch.environment.wheels";
  if (wheels.size() > kMostWheels)
    return fail(Code::invalid, fmt::format("an environment of {} wheels", wheels.size()),
                fmt::format("{} at most", kMostWheels), field);
  for (const auto& wheel : wheels) {
    const auto host = host_of(wheel.url);
    const bool good =
        !host.empty() && wheel.url.size() <= kWheelUrlMax && wheel.url.ends_with(".whl");
    if (!good || !is_sha256(wheel.sha256) || wheel.size.value_or(0) < 0)
      return fail(Code::invalid, fmt::format("'{}' is no wheel", wheel.url.substr(0, 80)),
                  "give https://HOST/NAME.whl, its SHA-256 and its size", field);
  }
  return {};
}

// The 11 of "3.11".
std::optional<std::int32_t> minor_of(std::string_view python) {
  if (!python.starts_with("3.")) return std::nullopt;
  const auto minor = wire::parse_whole<std::int32_t>(python.substr(2));
  if (!minor || *minor < kMinorMin || *minor > kMinorMax || fmt::format("3.{}", *minor) != python)
    return std::nullopt;
  return *minor;
}

base::Failure bad_python(std::string_view python, std::string field) {
  return fail(Code::invalid, fmt::format("'{}' is no version of Python", python.substr(0, 80)),
              "use two numbers in quotes, such as \"3.12\"", std::move(field));
}

base::Result<> read_requirements(const wire::AnyJson& json, const PathRules& rules,
                                 EnvironmentFile& out) {
  constexpr auto field = "environment.requirements";
  if (auto path = wire::from_json<std::string>(json.text)) {
    SOUK_ASSIGN(out.requirements, placed(rules, *path, field));
    return {};
  }
  auto list = wire::from_json<std::vector<std::string>>(json.text);
  const bool good = list && std::ranges::all_of(*list, [](const std::string& line) {
                      return !line.empty() && line.front() != '-' && !line.contains('\n');
                    });
  if (!good || list->empty() || list->size() > kMostRequirements)
    return std::unexpected(
        at({Code::invalid, "it names no packages",
            fmt::format("give a file (requirements.txt, pyproject.toml or uv.lock), or a list of "
                        "at most {} packages: ['einops>=0.8']",
                        kMostRequirements)},
           field));
  out.packages = *std::move(list);
  return {};
}

}  // namespace

base::Result<EnvironmentFile> read_environment(const wire::AnyJson& json, const PathRules& rules) {
  EnvironmentFile out;
  if (wire::from_json<std::string>(json.text)) {
    SOUK_TRY(read_requirements(json, rules, out));
    return out;
  }
  auto keys = wire::from_json<EnvironmentKeys>(json.text);
  if (!keys) return std::unexpected(at(std::move(keys).error(), "environment"));
  SOUK_TRY(read_requirements(keys->requirements, rules, out));
  if (keys->python) {
    out.python = plain(*keys->python);
    if (!minor_of(out.python))
      return std::unexpected(at(bad_python(out.python, "").error(), "environment.python"));
  }
  if (keys->on) out.on = one_or_several(*keys->on);
  if (keys->build && *keys->build != "here" && *keys->build != "lender")
    return std::unexpected(
        at({Code::invalid, fmt::format("'{}' builds no environments", keys->build->substr(0, 80)),
            "use here, the default, or lender"},
           "environment.build"));
  out.by_lender = keys->build == "lender";
  for (const auto& demand : out.on)
    if (auto good = base::check_demand(demand, ""); !good || base::is_feature(demand))
      return std::unexpected(
          at({Code::invalid, fmt::format("'{}' is no package", demand.substr(0, 80)),
              "name packages that the lender's environment has: torch"},
             "environment.on"));
  return out;
}

base::Result<> check_environment(const wire::Batch& work) {
  if (!work.environment) return {};
  const auto& e = *work.environment;
  if (work.image)
    return fail(Code::invalid, "a job with an image and an environment",
                "leave one of them out: an image has its own packages", "batch.environment");
  if (!minor_of(e.python)) return bad_python(e.python, "batch.environment.python");
  SOUK_TRY(check_wheels(e.wheels));
  if (e.blob.empty() == e.wheels.empty() || !is_hash(e.blob) || !is_hash(e.lock))
    return fail(Code::invalid, "an environment without its files",
                "upload the folder first, and name it; or give wheels instead",
                "batch.environment.blob");
  if (e.arch != "x86_64" && e.arch != "aarch64")
    return fail(Code::invalid, fmt::format("'{}' is no kind of processor", e.arch.substr(0, 80)),
                "use x86_64 or aarch64", "batch.environment.arch");
  return {};
}

std::vector<std::string> environment_demands(const wire::BatchEnvironment& e) {
  const auto minor = minor_of(e.python).value_or(0);
  std::vector<std::string> out{fmt::format("python>=3.{},<3.{}", minor, minor + 1),
                               architecture(e.arch)};
  for (const auto& wheel : e.wheels)
    if (auto index = fmt::format("{}:{}", kIndex, host_of(wheel.url));
        std::ranges::find(out, index) == out.end())
      out.push_back(std::move(index));
  return out;
}

}  // namespace souk::job
