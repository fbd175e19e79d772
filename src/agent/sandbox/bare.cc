#include "agent/sandbox/bare.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>

#include "agent/sandbox/sandbox_process.h"
#include "agent/sandbox/sandbox_usage.h"
#include "base/text.h"

namespace souk::agent {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr std::string_view kBarePrefix = "souk-bare-";

std::filesystem::path temporary() {
  std::error_code error;
  auto folder = std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : folder;
}

// A list of folders, with `scratch` for /work; but `shown` are the owner's own, wherever they are.
std::string in_scratch(std::string_view list, const std::string& scratch,
                       std::span<const std::string> shown) {
  std::string out;
  for (const auto folder : base::split(list, ':')) {
    if (!out.empty()) out.push_back(':');
    const bool work = base::is_below(folder, "/work") && std::ranges::none_of(shown, [&](auto& s) {
                        return base::is_below(folder, s);
                      });
    out += work ? scratch + std::string(folder.substr(5)) : std::string(folder);
  }
  return out;
}

class Bare final : public Sandbox {
 public:
  std::string_view name() const override { return "none"; }

  Result<std::unique_ptr<Process>> prepare(const Program& program) const override {
    SOUK_TRY(check_program(program));
    SOUK_TRY(check_no_network(program, name()));
    if (!program.image.empty())
      return fail(Code::invalid, "without a sandbox no image can run", "the podman sandbox",
                  "image");
    if (!program.inputs.empty())
      return fail(Code::invalid, "without a sandbox inputs cannot be shown read-only",
                  "unpack them into scratch", "inputs");
    const auto cgroups = Cgroups::find();
    auto folder = fmt::format("{}/{}{}-XXXXXX", temporary().string(), kBarePrefix, owner_mark());
    if (mkdtemp(folder.data()) == nullptr)
      return fail(Code::unavailable,
                  fmt::format("cannot create the folder {}: {}", folder, std::strerror(errno)));
    ProcessParts parts;
    parts.remove_at_end = folder;
    parts.scratch = folder + "/work";
    std::error_code none;
    std::filesystem::create_directory(parts.scratch, none);
    std::filesystem::create_directory(folder + "/tmp", none);
    auto launched = launch(program, cgroups, parts);
    if (!launched) {
      std::filesystem::remove_all(folder, none);
      return std::unexpected(launched.error());
    }
    return make_process(std::move(parts));
  }

  std::vector<Finding> findings() const override {
    std::vector<Finding> findings{
        {"isolation", false,
         "Programs run as the owner: they can read, change and send away whatever the owner can. "
         "Only for the owner's own jobs."},
        {"network", false, "Programs use the owner's network."},
        {"scratch", false, "Files have no fixed size; only single files are limited."}};
    for (auto& finding : group_findings(Cgroups::find())) findings.push_back(std::move(finding));
    return findings;
  }

 private:
  static Result<> launch(const Program& program, const Cgroups& cgroups, ProcessParts& parts) {
    KeepPlan plan;
    SOUK_ASSIGN(parts.disk, plan_disk(program, plan));
    if (!parts.disk.folder.empty()) parts.scratch = parts.disk.folder;
    auto env = environment(program, parts.scratch);
    if (!program.env.contains("TMPDIR")) env["TMPDIR"] = parts.remove_at_end + "/tmp";
    // What a job says of its working folder is meant for a sandbox, where that is /work.
    for (const auto* variable : {"PATH", "PYTHONPATH", "LD_LIBRARY_PATH"})
      if (const auto it = env.find(variable); it != env.end())
        it->second = in_scratch(it->second, parts.scratch, program.shown);
    plan.env = environment_block(env);
    // A shell finds the program in PATH as bwrap would.
    plan.argv = {"/bin/sh", "-c", "exec \"$@\"", "sh"};
    plan.argv.insert(plan.argv.end(), program.argv.begin(), program.argv.end());
    plan.output_fd = program.output_fd;
    plan.talk_fd = program.talk_fd;
    plan.folder = parts.scratch;
    parts.cores = limit_without_groups(cgroups, program.limits, plan);
    plan.rlimits.emplace_back(
        RLIMIT_FSIZE,
        static_cast<rlim_t>(std::max(program.limits.scratch_bytes, program.limits.disk_bytes)));
    SOUK_ASSIGN(parts.cgroup, cgroups.create(program.limits));
    plan.entrances = parts.cgroup->entrances();
    SOUK_ASSIGN(parts.keeper, Keeper::launch(std::move(plan)));
    parts.limits = program.limits;
    parts.watch_memory = !cgroups.has("memory");
    parts.first_failure_code = 126;  // The shell's, for what it cannot find or execute.
    parts.find_program = program_of;
    return {};
  }
};

}  // namespace

std::unique_ptr<Sandbox> make_bare() { return std::make_unique<Bare>(); }

void sweep_bare_folders() {
  std::vector<std::filesystem::path> stale;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(temporary(), none)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with(kBarePrefix) &&
        !owner_exists(std::string_view(name).substr(kBarePrefix.size())))
      stale.push_back(entry.path());
  }
  for (const auto& path : stale) remove_tree(path);
}

}  // namespace souk::agent
