#include "agent/environment.h"

#include <algorithm>

#include "base/packages.h"

namespace souk::agent {
namespace {

constexpr const char* kSystemPath = "/usr/local/bin:/usr/bin:/bin";

void put_first(Program& program, const char* variable, const std::string& folder,
               const char* otherwise) {
  auto& value = program.env.try_emplace(variable, otherwise).first->second;
  value = value.empty() ? folder : folder + ":" + value;
}

// What the job set itself, such as the way to its own modules, stays first.
void put_last(Program& program, const char* variable, const std::string& folder) {
  auto& value = program.env[variable];
  value = value.empty() ? folder : value + ":" + folder;
}

}  // namespace

const LentEnvironment* choose_environment(std::span<const LentEnvironment> lent,
                                          std::span<const std::string> demands) {
  const auto it = std::ranges::find_if(
      lent, [&](const LentEnvironment& e) { return base::has_packages(e.listed(), demands); });
  return it == lent.end() ? nullptr : &*it;
}

void enter_lent(const LentEnvironment& environment, Program& program) {
  put_first(program, "PATH", environment.path + "/bin", kSystemPath);
  if (environment.kind == EnvironmentKind::venv)
    program.env["VIRTUAL_ENV"] = environment.path;
  else if (environment.kind == EnvironmentKind::conda)
    program.env["CONDA_PREFIX"] = environment.path;
  if (environment.importable) put_last(program, "PYTHONPATH", environment.path);
  program.shown.insert(program.shown.end(), environment.shown.begin(), environment.shown.end());
}

void enter_own(const std::string& folder, Program& program) {
  put_first(program, "PATH", folder + "/bin", kSystemPath);
  put_last(program, "PYTHONPATH", folder);
}

}  // namespace souk::agent
