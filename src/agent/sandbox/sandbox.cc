#include "agent/sandbox/sandbox.h"

#include <array>

#include "agent/limits/cgroup.h"
#include "agent/sandbox/bare.h"
#include "agent/sandbox/bubblewrap.h"
#include "agent/sandbox/podman.h"
#include "base/text.h"

namespace souk::agent {

using base::Code;
using base::fail;
using base::Result;

namespace {

struct SandboxRow {
  std::string_view name;
  std::unique_ptr<Sandbox> (*make)();
};

constexpr std::array kSandboxes{
    SandboxRow{"bubblewrap", make_bubblewrap},
    SandboxRow{"podman", make_podman},
    SandboxRow{"none", make_bare},
};

}  // namespace

std::vector<std::string_view> sandbox_names() {
  std::vector<std::string_view> names;
  for (const auto& entry : kSandboxes) names.push_back(entry.name);
  return names;
}

Result<std::unique_ptr<Sandbox>> make_sandbox(std::string_view name) {
  for (const auto& entry : kSandboxes)
    if (entry.name == name) return entry.make();
  return fail(Code::invalid, "no sandbox is called '" + std::string(name) + "'",
              base::suggest(name, sandbox_names()));
}

void sweep() {
  Cgroups::find().sweep();
  sweep_bare_folders();
}

}  // namespace souk::agent
