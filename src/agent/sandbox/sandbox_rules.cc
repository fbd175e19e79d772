#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>

#include "agent/limits/scope.h"
#include "agent/sandbox/sandbox_process.h"
#include "base/text.h"

// What a program may ask for, and what limits it where there are no control groups.

namespace souk::agent {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr std::int64_t kLeastMemory = std::int64_t{16} << 20;
constexpr std::int64_t kLeastScratch = std::int64_t{1} << 20;
constexpr int kMostPids = 100'000;
constexpr uid_t kFirstUser = 0x70000000;
constexpr uid_t kUsers = 0x100000;

// Folders of the sandbox itself: an input there would hide or change them.
constexpr std::array<std::string_view, 13> kTaken{
    "", "bin", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "sys", "tmp", "usr", "run"};

Result<> check_input(const Mount& input) {
  std::error_code ignored;
  if (!std::filesystem::exists(input.from, ignored))
    return fail(Code::not_found, "the input '" + input.from + "' does not exist");
  const std::filesystem::path to(input.to);
  const bool plain = to.is_absolute() && to.lexically_normal() == to && to.has_filename() &&
                     input.to.find('\0') == std::string::npos;
  const auto first = plain ? to.relative_path().begin()->string() : "";
  if (!plain || std::ranges::find(kTaken, first) != kTaken.end() || input.to == "/work")
    return fail(Code::invalid, "an input cannot be shown at '" + input.to + "'",
                "a plain absolute path outside the system's folders, such as /work/data");
  return {};
}

}  // namespace

Result<> check_program(const Program& program) {
  if (program.argv.empty() || program.argv[0].empty())
    return fail(Code::invalid, "the program is empty", "a command such as python3 train.py",
                "argv");
  for (const auto& argument : program.argv)
    if (argument.contains('\0')) return fail(Code::invalid, "an argument contains a zero byte");
  for (const auto& [name, value] : program.env)
    if (name.empty() || name.contains('=') || name.contains('\0') || value.contains('\0'))
      return fail(Code::invalid,
                  "the environment variable '" + name +
                      "' has an unusable name or "
                      "value",
                  "names without '='", "env");
  const auto& limits = program.limits;
  if (!(limits.cores > 0) || limits.cores > 4096 || limits.memory_bytes < kLeastMemory ||
      limits.scratch_bytes < kLeastScratch || limits.pids < 1 || limits.pids > kMostPids)
    return fail(Code::invalid, "the limits cannot be applied",
                "cores above 0, 16 MiB of memory, 1 MiB of scratch and 1 process at least");
  if (limits.disk_bytes < 0 || (limits.disk_bytes > 0 && program.disk_place.empty()))
    return fail(Code::invalid, "the agent has no place for a scratch on disk",
                "`souk lend --scratch SIZE`");
  for (const auto& input : program.inputs) SOUK_TRY(check_input(input));
  return {};
}

Result<> check_no_network(const Program& program, std::string_view sandbox) {
  if (!program.network) return {};
  return fail(Code::unavailable, fmt::format("{} gives programs no network of their own", sandbox),
              "bubblewrap does; an image must be named by its digest");
}

uid_t unused_user() {
  static std::atomic<uid_t> count = 0;
  // Agents on one machine start at different places; one agent's leases do not share.
  return kFirstUser + (static_cast<uid_t>(getpid()) * 64 + count++) % kUsers;
}

void plan_scratch(const Program& program, KeepPlan& plan) {
  const auto bytes = program.limits.scratch_bytes;
  // One inode for every page at most, as each costs kernel memory.
  const auto inodes = std::clamp<std::int64_t>(bytes / 4096, 1024, 1 << 20);
  plan.tmpfs_options = fmt::format("size={},nr_inodes={},mode=0711", bytes, inodes);
  std::error_code none;
  for (const auto& input : program.inputs)
    plan.inputs.push_back({std::filesystem::absolute(input.from, none).string(),
                           fmt::format("{}/{}", kInputs, plan.inputs.size()),
                           std::filesystem::is_directory(input.from, none)});
  for (const auto& folder : program.shown)
    plan.inputs.push_back({folder, fmt::format("{}/{}", kInputs, plan.inputs.size()), true});
  if (!program.root.empty())  // The last, always.
    plan.inputs.push_back({std::filesystem::absolute(program.root, none).string(),
                           fmt::format("{}/{}", kInputs, plan.inputs.size()), true});
  plan.output_fd = program.output_fd;
  plan.talk_fd = program.talk_fd;
}

Result<DiskScratch> plan_disk(const Program& program, KeepPlan& plan) {
  if (program.limits.disk_bytes == 0) return DiskScratch{};
  SOUK_ASSIGN(auto disk, make_disk_scratch(program.disk_place, program.limits.disk_bytes,
                                           plan.place != Place::folder));
  plan.disk_device = disk.device;
  plan.disk_folder = disk.folder;
  return disk;
}

std::string memory_scratch_of(pid_t keeper) {
  return fmt::format("/proc/{}/root{}", keeper, kScratchPoint);
}

std::map<std::string, std::string> environment(const Program& program, const std::string& home) {
  auto env = program.env;
  env.insert({{"PATH", "/usr/local/bin:/usr/bin:/bin"},
              {"HOME", home},
              {"USER", "souk"},
              {"LANG", "C.UTF-8"},
              {"TMPDIR", "/tmp"}});
  return env;
}

std::vector<std::string> environment_block(const std::map<std::string, std::string>& env) {
  std::vector<std::string> block;
  for (const auto& [name, value] : env) block.push_back(name + "=" + value);
  return block;
}

CoreDesk::Grant limit_without_groups(const Cgroups& cgroups, const Limits& limits, KeepPlan& plan) {
  plan.rlimits.emplace_back(RLIMIT_CORE, 0);
  if (!cgroups.has("pids"))
    plan.rlimits.emplace_back(RLIMIT_NPROC, static_cast<rlim_t>(limits.pids) + 2);
  if (cgroups.has("cpu")) return {};
  auto cores = CoreDesk::of_machine().take(static_cast<int>(std::ceil(limits.cores)));
  plan.cpus = cores.set();
  return cores;
}

namespace {

std::string memory_without_groups() {
  if (!scope_command().empty())
    return "Memory is limited by a control group: `souk lend` starts itself in a scope of systemd.";
  return "Memory is watched, ten times a second: a program that holds more than its slot is ended, "
         "a moment late. For a limit that the kernel keeps, lend as a service "
         "(`systemctl --user enable --now souk-lend`), or let systemd delegate a control group to "
         "you: `loginctl enable-linger`, and log in anew.";
}

}  // namespace

std::vector<Finding> group_findings(const Cgroups& cgroups) {
  const bool root = geteuid() == 0;
  std::vector<Finding> findings;
  const auto add = [&](const char* subject, const char* controller, std::string with,
                       std::string without, bool limited_without) {
    const bool has = cgroups.has(controller);
    findings.push_back(
        {subject, has || limited_without, has ? std::move(with) : std::move(without)});
  };
  add("memory", "memory", "Memory is limited by a control group, without swap.",
      memory_without_groups(), true);
  add("processes", "pids", "The number of processes is limited by a control group.",
      root ? "The number of processes is limited by its user's process limit."
           : "The number of processes is limited by the owner's process limit, which on kernels "
             "before 5.14 counts the owner's own processes too.",
      true);
  add("cores", "cpu", "Processor time is limited by a control group.",
      "Programs are kept to some of the processors, whole ones; parts of one are not limited.",
      true);
  return findings;
}

void remove_tree(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code none;
  fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, none);
  for (auto it = fs::recursive_directory_iterator(folder, none);
       !none && it != fs::recursive_directory_iterator(); it.increment(none))
    if (it->symlink_status(none).type() == fs::file_type::directory)
      fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::add, none);
  fs::remove_all(folder, none);
}

std::string find_tool(std::initializer_list<const char*> paths) {
  for (const char* path : paths)
    if (access(path, X_OK) == 0) return path;
  return "";
}

}  // namespace souk::agent
