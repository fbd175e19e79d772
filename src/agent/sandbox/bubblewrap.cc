#include "agent/sandbox/bubblewrap.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "agent/network/porter_link.h"
#include "agent/probe/probe.h"
#include "agent/probe/probe_programs.h"
#include "agent/sandbox/sandbox_process.h"
#include "agent/sandbox/sandbox_usage.h"
#include "agent/sandbox/seccomp.h"

namespace souk::agent {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr std::array kEtc{"/etc/ld.so.cache",  "/etc/ld.so.conf",    "/etc/ld.so.conf.d",
                          "/etc/alternatives", "/etc/ssl/certs",     "/etc/ssl/openssl.cnf",
                          "/etc/localtime",    "/etc/nsswitch.conf", "/etc/protocols",
                          "/etc/services",     "/etc/mime.types"};

struct DataFile {
  std::string path, content;
};

// Files of /etc that say what the program is to know of itself, and nothing of the owner.
std::vector<DataFile> made_up(const Program& program) {
  std::string hosts = "127.0.0.1 localhost";
  if (!program.network || program.network->hosts.empty()) hosts += " souk";
  hosts += "\n";
  std::vector<DataFile> out{
      {"/etc/passwd", "souk:x:1000:1000::/work:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"},
      {"/etc/group", "souk:x:1000:\nnogroup:x:65534:\n"},
      // slirp4netns answers names here; without internet nothing does.
      {"/etc/resolv.conf", "nameserver 10.0.2.3\n"}};
  if (program.network) {
    for (const auto& [address, name] : program.network->hosts)
      hosts += fmt::format("{} {}\n", address, name);
  }
  out.push_back({"/etc/hosts", std::move(hosts)});
  return out;
}

// The program's descriptors while it is still bwrap, which closes them.
enum : int { kFilterFd = 3, kOptionsFd = 4, kStatusFd = 5, kFirstDataFd = 6 };

void add(std::vector<std::string>& options, std::initializer_list<std::string> more) {
  options.insert(options.end(), more);
}

void add_system(std::vector<std::string>& options) {
  add(options, {"--ro-bind", "/usr", "/usr"});
  for (const std::string path : {"/bin", "/sbin", "/lib", "/lib32", "/lib64"}) {
    std::error_code none;
    if (std::filesystem::is_symlink(path, none))
      add(options, {"--symlink", std::filesystem::read_symlink(path, none).string(), path});
    else if (std::filesystem::is_directory(path, none))
      add(options, {"--ro-bind", path, path});
  }
  for (const char* path : kEtc) add(options, {"--ro-bind-try", path, path});
}

void add_made_up(const Program& program, std::vector<std::string>& options) {
  int fd = kFirstDataFd;
  for (const auto& file : made_up(program))
    add(options, {"--perms", "0444", "--ro-bind-data", std::to_string(fd++), file.path});
}

std::vector<std::string> bwrap_options(const Program& program,
                                       const std::vector<StagedInput>& staged) {
  std::vector<std::string> options{"--unshare-all",     "--unshare-user", "--disable-userns",
                                   "--die-with-parent", "--new-session",  "--clearenv"};
  // What it has then is a network of its own already (join_own_network).
  if (program.internet || program.network) add(options, {"--share-net"});
  add(options, {"--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname",
                program.network ? program.network->host : "souk"});
  if (program.root.empty())
    add_system(options);
  else
    add(options, {"--ro-bind", staged.back().to, "/"});
  add_made_up(program, options);
  // Some kernel settings belong to the namespaces' owner, which is the program's user.
  add(options, {"--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"});
  add(options, {"--dev", "/dev"});
  for (const auto& device : program.devices) add(options, {"--dev-bind", device, device});
  add(options, {"--remount-ro", "/dev"});
  add(options, {"--bind", kShm, "/dev/shm", "--bind", kTmp, "/tmp", "--bind", kWork, "/work"});
  // The lender's folders first: what a job brings can then hide them from nobody but itself.
  const auto inputs = program.inputs.size();
  for (std::size_t i = inputs; i < inputs + program.shown.size(); ++i)
    add(options, {"--ro-bind", staged[i].to, program.shown[i - inputs]});
  for (std::size_t i = 0; i < inputs; ++i)
    add(options, {"--ro-bind", staged[i].to, program.inputs[i].to});
  add(options, {"--chdir", program.workdir, "--remount-ro", "/"});
  for (const auto& [name, value] : environment(program, "/work"))
    add(options, {"--setenv", name, value});
  add(options, {"--seccomp", std::to_string(kFilterFd)});
  add(options, {"--json-status-fd", std::to_string(kStatusFd)});
  return options;
}

Result<> plan_network(const Program& program, KeepPlan& plan) {
  if (program.network) {
    plan.porter_fd = program.network->porter_fd;
    plan.device = program.network->device;
    if (plan.device && access("/dev/net/tun", R_OK | W_OK) != 0)
      return fail(Code::unavailable, "a gang's network needs /dev/net/tun, which cannot be opened",
                  "modprobe tun; chmod 666 /dev/net/tun where only root may open it");
  }
  if (!program.internet) return {};
  const auto slirp = find_tool({"/usr/bin/slirp4netns", "/usr/local/bin/slirp4netns"});
  if (slirp.empty())
    return fail(Code::unavailable, "internet needs slirp4netns, which is not installed",
                "apt install slirp4netns, or a job without internet");
  if (access("/dev/net/tun", R_OK | W_OK) != 0)
    return fail(Code::unavailable, "internet needs /dev/net/tun, which cannot be opened",
                "modprobe tun, or a job without internet");
  plan.network = {slirp,
                  "--configure",
                  "--mtu=65520",
                  "--disable-host-loopback",
                  "--enable-sandbox",
                  "--enable-seccomp",
                  "--ready-fd=3"};
  return {};
}

std::string joined(const std::vector<std::string>& options) {
  std::string out;
  for (const auto& option : options) out.append(option).push_back('\0');
  return out;
}

std::string start_of(const Fd& output) {
  std::string text(500, '\0');
  const auto got = pread(output.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

// The system's, or one that the owner has installed without root and has on the path.
std::string bwrap_program() {
  const auto known = find_tool({"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"});
  return known.empty() ? find_program("bwrap", probe_options().search_path) : known;
}

class Bubblewrap final : public Sandbox {
 public:
  std::string_view name() const override { return "bubblewrap"; }

  Result<std::unique_ptr<Process>> prepare(const Program& program) const override {
    SOUK_TRY(check_program(program));
    if (!program.image.empty())
      return fail(Code::invalid, "bubblewrap runs no images", "the podman sandbox", "image");
    const auto bwrap = bwrap_program();
    if (bwrap.empty())
      return fail(Code::unavailable, "bubblewrap is not installed", "apt install bubblewrap");
    const auto cgroups = Cgroups::find();
    KeepPlan plan;
    plan.place = Place::user;
    if (geteuid() == 0) plan.become = unused_user();
    plan_scratch(program, plan);
    SOUK_TRY(plan_network(program, plan));
    SOUK_ASSIGN(auto disk, plan_disk(program, plan));
    auto cores = limit_without_groups(cgroups, program.limits, plan);
    // The options go through a file, so that `ps` shows the owner nothing of the environment.
    plan.argv = {bwrap, "--args", std::to_string(kOptionsFd), "--"};
    plan.argv.insert(plan.argv.end(), program.argv.begin(), program.argv.end());
    return launch(program, cgroups, std::move(plan), std::move(cores), std::move(disk));
  }

  std::vector<Finding> findings() const override {
    std::vector<Finding> findings{try_out()};
    for (auto& finding : group_findings(Cgroups::find())) findings.push_back(std::move(finding));
    findings.push_back({"scratch", true,
                        "Files have a fixed size and lie in memory, beside the leased memory. " +
                            disk_scratch_text()});
    findings.push_back(
        {"files", true, "Programs see /usr read-only and nothing of the owner's own files."});
    findings.push_back({"network", true,
                        "Programs have no network unless the offer allows internet; then private "
                        "and local addresses stay closed, but not the owner's public ones."});
    findings.push_back(try_network());
    return findings;
  }

 private:
  static Result<std::unique_ptr<Process>> launch(const Program& program, const Cgroups& cgroups,
                                                 KeepPlan plan, CoreDesk::Grant cores,
                                                 DiskScratch disk) {
    SOUK_ASSIGN(const auto filter, seccomp_filter());
    std::vector<Fd> files;
    SOUK_ASSIGN(Fd filter_file, memory_file("filter", filter));
    SOUK_ASSIGN(Fd options, memory_file("options", joined(bwrap_options(program, plan.inputs))));
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
      return fail(Code::exhausted, "cannot create a pipe");
    Fd status(ends[0]);
    Fd status_end(ends[1]);
    plan.passed = {filter_file.get(), options.get(), status_end.get()};
    for (const auto& data : made_up(program)) {
      SOUK_ASSIGN(Fd file, memory_file("etc", data.content));
      plan.passed.push_back(file.get());
      files.push_back(std::move(file));
    }
    ProcessParts parts;
    parts.cores = std::move(cores);
    SOUK_ASSIGN(parts.cgroup, cgroups.create(program.limits));
    plan.entrances = parts.cgroup->entrances();
    parts.scratch_owner = plan.become;
    SOUK_ASSIGN(parts.keeper, Keeper::launch(std::move(plan)));
    parts.limits = program.limits;
    parts.watch_memory = !cgroups.has("memory");
    parts.scratch = fmt::format("/proc/{}/root{}", parts.keeper->pid(), kWork);
    parts.memory_scratch = memory_scratch_of(parts.keeper->pid());
    parts.status = std::move(status);
    disk.loop.reset();  // It is mounted.
    parts.disk = std::move(disk);
    parts.find_program = program_in_namespace;
    parts.own_network = program.internet || program.network;
    return make_process(std::move(parts));
  }

  // Can programs have the network of a gang here?
  Finding try_network() const {
    const auto tried = [this]() -> Result<> {
      SOUK_ASSIGN(const auto output, memory_file("trial", ""));
      SOUK_ASSIGN(const auto porter, PorterLink::make());
      Program program{.argv = {"/bin/sh", "-c", "exit 0"}, .output_fd = output.get()};
      program.network = OwnNetwork{.porter_fd = porter->program_end(),
                                   .device = NetworkDevice{.address = 10U << 24 | 64U << 16 | 1}};
      SOUK_ASSIGN(auto process, prepare(program));
      SOUK_TRY(process->start());
      porter->close_program_end();
      SOUK_ASSIGN(const auto device, porter->await_network(base::seconds(10)));
      porter->go();
      const auto exit = process->wait(base::seconds(10));
      if (!exit || !exit->started || exit->code != 0)
        return fail(Code::unavailable, "a trial program did not run in it");
      return {};
    }();
    if (tried) return {"gangs", true, "Workers of one job can have a network of their own."};
    return {"gangs", false,
            fmt::format("No gangs: {}.{}{}", tried.error().message,
                        tried.error().hint.empty() ? "" : " ", tried.error().hint)};
  }

  Finding try_out() const {
    const auto output = memory_file("trial", "");
    if (!output) return {"runs", false, output.error().message};
    Program program{.argv = {"/bin/sh", "-c", "exit 0"}, .output_fd = output->get()};
    auto process = prepare(program);
    if (!process) return {"runs", false, process.error().message + ". " + process.error().hint};
    if (const auto started = (*process)->start(); !started)
      return {"runs", false, started.error().message};
    const auto exit = (*process)->wait(base::seconds(10));
    if (!exit) return {"runs", false, "A trial program did not end within 10 s."};
    if (!exit->started || exit->code != 0 || exit->signal != 0)
      return {"runs", false, "A trial program failed: " + exit->text + ". " + start_of(*output)};
    return {"runs", true, "A trial program ran."};
  }
};

}  // namespace

std::unique_ptr<Sandbox> make_bubblewrap() { return std::make_unique<Bubblewrap>(); }

}  // namespace souk::agent
