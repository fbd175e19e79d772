#include "cli/lend/lend_environments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/packages.h"
#include "cli/shell/human.h"
#include "market/limits.h"

namespace souk::cli {
namespace {

// How much of what a market takes is left.
struct Room {
  std::size_t packages = market::kPackagesMax;
  std::size_t bytes = market::kPackageBytesMax;

  bool take(const std::string& word) {
    if (packages == 0 || bytes < word.size()) return false;
    --packages;
    bytes -= word.size();
    return true;
  }
};

std::vector<std::string> system_packages(const agent::Machine& machine) {
  if (machine.pythons.empty()) return {};
  const auto& python = machine.pythons.front();
  return agent::LentEnvironment{.python = python.version, .packages = python.packages}.listed();
}

}  // namespace

base::Result<std::vector<agent::LentEnvironment>> lent_environments(
    const std::vector<std::string>& given) {
  std::vector<agent::LentEnvironment> out;
  if (given.size() > market::kEnvironmentsMax)
    return base::fail(base::Code::invalid, fmt::format("{} environments", given.size()),
                      fmt::format("--env {} times at most", market::kEnvironmentsMax));
  for (const auto& one : given) {
    SOUK_ASSIGN(auto found, agent::read_environment(one));
    const auto same = std::ranges::find(out, found.name, &agent::LentEnvironment::name);
    if (same != out.end())
      return base::fail(
          base::Code::invalid,
          fmt::format("{} and {} are both called '{}'", same->path, found.path, found.name),
          fmt::format("give one another name: --env OTHER={}", found.path));
    out.push_back(std::move(found));
  }
  return out;
}

std::vector<std::string> list_packages(const agent::Machine& machine,
                                       const std::vector<agent::LentEnvironment>& environments,
                                       wire::MachineSpec& spec) {
  std::vector<std::string> notes;
  Room room;
  for (const auto& feature : spec.packages) room.take(feature);
  const auto add = [&](const std::vector<std::string>& words, std::vector<std::string>& list) {
    std::size_t left_out = 0;
    for (const auto& word : words)
      if (room.take(word))
        list.push_back(word);
      else
        ++left_out;
    return left_out;
  };
  const auto tell = [&](std::string_view whose, std::size_t left_out) {
    if (left_out > 0)
      notes.push_back(fmt::format("the market does not hear of {} of {}: it takes {} of a machine",
                                  plural(static_cast<std::int64_t>(left_out), "package"), whose,
                                  market::kPackagesMax));
  };
  for (const auto& e : environments) {
    if (room.bytes < e.name.size()) break;
    room.bytes -= e.name.size();
    wire::MachineEnvironment listed{.name = e.name};
    tell("environment " + e.name, add(e.listed(), listed.packages));
    spec.environments.push_back(std::move(listed));
    notes.push_back(fmt::format("environment {}: {} ({})", e.name, e.path, describe(e)));
  }
  tell("the system", add(system_packages(machine), spec.packages));
  return notes;
}

std::string describe(const agent::LentEnvironment& e) {
  auto out = fmt::format("{}, {}, {}", to_string(e.kind),
                         e.python.empty() ? "no Python of its own" : "Python " + e.python,
                         plural(static_cast<std::int64_t>(e.packages.size()), "package"));
  for (const auto& p : e.packages)
    if (const auto name = base::normal_name(p.name);
        name == "torch" || name == "tensorflow" || name == "jax" || name == "transformers")
      out += fmt::format(", {} {}", name, p.version);
  if (!e.cuda.empty()) out += ", CUDA " + e.cuda;
  return out;
}

}  // namespace souk::cli
