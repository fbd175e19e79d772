#include "agent/sandbox/podman.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "agent/sandbox/sandbox_process.h"
#include "agent/sandbox/sandbox_usage.h"
#include "base/text.h"

namespace souk::agent {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr int kPodmanFailed = 125;  // podman-run(1): 125 itself, 126 and 127 the command.

std::string podman_tool() { return find_tool({"/usr/bin/podman", "/usr/local/bin/podman"}); }

Result<> check_image(const Program& program) {
  if (program.image.empty())
    return fail(Code::invalid, "podman needs an image", "the bubblewrap sandbox", "image");
  const bool plain = std::ranges::all_of(program.image, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("._-/:@").contains(static_cast<char>(c));
  });
  if (!plain || program.image[0] == '-')
    return fail(Code::invalid, "'" + program.image + "' is no image's name",
                "a name such as localhost/train:1", "image");
  if (program.internet)
    return fail(Code::invalid, "podman runs programs without internet only",
                "a job without internet, or the bubblewrap sandbox", "internet");
  return {};
}

// One variable a line. Not podman's own environment, where LD_PRELOAD would run on the host.
Result<std::string> environment_file(const Program& program) {
  std::string text;
  for (const auto& [name, value] : environment(program, "/work")) {
    if (name.contains('\n') || value.contains('\n'))
      return fail(Code::invalid, "podman cannot pass the line break in " + name, "one line", "env");
    text += fmt::format("{}={}\n", name, value);
  }
  return text;
}

std::vector<std::string> podman_arguments(const Program& program, const KeepPlan& plan,
                                          const std::string& podman, const std::string& name) {
  const auto& limits = program.limits;
  // Files in scratch count as memory of whoever wrote them.
  const auto memory = std::to_string(limits.memory_bytes + limits.scratch_bytes) + "b";
  std::vector<std::string> arguments{podman,
                                     "--runtime",
                                     "runc",
                                     "--cgroup-manager",
                                     "cgroupfs",
                                     "run",
                                     "--rm",
                                     "--name",
                                     name,
                                     "--pull",
                                     "never",
                                     "--network",
                                     "none",
                                     "--hostname",
                                     "souk",
                                     "--log-driver",
                                     "none",
                                     "--read-only",
                                     "--read-only-tmpfs=false",
                                     "--cap-drop",
                                     "ALL",
                                     "--security-opt",
                                     "no-new-privileges",
                                     "--user",
                                     fmt::format("{0}:{0}", plan.become),
                                     "--env-file",
                                     "/proc/self/fd/3",
                                     "--pids-limit",
                                     std::to_string(limits.pids),
                                     "--memory",
                                     memory,
                                     "--memory-swap",
                                     memory,
                                     "--cpus",
                                     fmt::format("{:.2f}", limits.cores),
                                     "--ulimit",
                                     "nofile=1024:1024",
                                     "--ulimit",
                                     "core=0:0",
                                     "--ulimit",
                                     fmt::format("nproc={0}:{0}", limits.pids)};
  const auto mount = [&](const std::string& from, const std::string& to, const char* options) {
    arguments.insert(arguments.end(), {"-v", from + ":" + to + options});
  };
  for (const auto& device : program.devices)
    arguments.insert(arguments.end(), {"--device", device});
  mount(kWork, "/work", ":rw");
  mount(kTmp, "/tmp", ":rw");
  mount(kShm, "/dev/shm", ":rw");
  for (std::size_t i = 0; i < plan.inputs.size(); ++i)
    mount(plan.inputs[i].to, program.inputs[i].to, ":ro");
  arguments.insert(arguments.end(), {"--workdir", "/work", "--entrypoint", "[]", program.image});
  arguments.insert(arguments.end(), program.argv.begin(), program.argv.end());
  return arguments;
}

class Podman final : public Sandbox {
 public:
  std::string_view name() const override { return "podman"; }

  Result<std::unique_ptr<Process>> prepare(const Program& program) const override {
    SOUK_TRY(usable());
    SOUK_TRY(check_program(program));
    SOUK_TRY(check_no_network(program, name()));
    SOUK_TRY(check_image(program));
    for (const auto& input : program.inputs)
      if (input.to.contains(':'))
        return fail(Code::invalid, "podman cannot show an input at '" + input.to + "'",
                    "a path without a colon", "inputs");
    SOUK_ASSIGN(const auto variables, environment_file(program));
    SOUK_ASSIGN(const Fd variables_file, memory_file("env", variables));
    static std::atomic<int> count = 0;
    const auto container = fmt::format("souk-lease-{}-{}", owner_mark(), ++count);
    const auto podman = podman_tool();
    KeepPlan plan;
    plan.place = Place::mounts;
    plan.become = unused_user();
    plan_scratch(program, plan);
    SOUK_ASSIGN(auto disk, plan_disk(program, plan));
    plan.argv = podman_arguments(program, plan, podman, container);
    plan.env = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"};
    // The owner may keep images elsewhere (containers-storage.conf(5)).
    if (const char* storage = std::getenv("CONTAINERS_STORAGE_CONF"))
      plan.env.push_back(fmt::format("CONTAINERS_STORAGE_CONF={}", storage));
    plan.passed = {variables_file.get()};
    plan.cleanup = {podman, "--runtime", "runc", "rm", "-f", "-t", "0", "--ignore", container};
    ProcessParts parts;
    parts.scratch_owner = plan.become;
    SOUK_ASSIGN(parts.keeper, Keeper::launch(std::move(plan)));
    parts.limits = program.limits;
    parts.scratch = fmt::format("/proc/{}/root{}", parts.keeper->pid(), kWork);
    disk.loop.reset();  // It is mounted.
    parts.disk = std::move(disk);
    parts.first_failure_code = kPodmanFailed;
    parts.find_program = program_of;  // podman passes the signal on.
    return make_process(std::move(parts));
  }

  std::vector<Finding> findings() const override {
    if (const auto can = usable(); !can)
      return {{"runs", false, can.error().message + ". " + can.error().hint}};
    return {
        {"runs", true, "podman is installed; whether an image runs shows with the image."},
        {"memory", true, "Memory is limited by a control group, without swap."},
        {"processes", true, "The number of processes is limited by a control group."},
        {"cores", true, "Processor time is limited by a control group."},
        {"scratch", true, "Files have a fixed size and lie in memory, beside the leased memory."},
        {"files", true, "Programs see their image read-only and none of the owner's files."},
        {"network", true, "Programs have no network."}};
  }

 private:
  static Result<> usable() {
    if (podman_tool().empty())
      return fail(Code::unavailable, "podman is not installed", "apt install podman runc");
    if (find_tool({"/usr/sbin/runc", "/usr/bin/runc", "/usr/local/sbin/runc"}).empty())
      return fail(Code::unavailable, "runc is not installed", "apt install runc");
    // As an ordinary user podman can neither limit memory under control groups version 1 nor use
    // the keeper's scratch of fixed size.
    if (geteuid() != 0)
      return fail(Code::unavailable, "images need an agent that runs as root",
                  "run the agent as root, or jobs without an image");
    return {};
  }
};

}  // namespace

std::unique_ptr<Sandbox> make_podman() { return std::make_unique<Podman>(); }

}  // namespace souk::agent
