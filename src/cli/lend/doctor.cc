#include "cli/lend/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <utility>

#include "agent/limits/cores.h"
#include "agent/probe/command_output.h"
#include "agent/probe/probe_limits.h"
#include "agent/probe/probe_programs.h"
#include "agent/sandbox/sandbox.h"
#include "base/packages.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/lend/gpu_check.h"
#include "cli/lend/lend_environments.h"
#include "cli/lend/worth.h"
#include "cli/shell/human.h"
#include "cli/shell/progress.h"
#include "wire/json.h"

namespace souk::cli {
namespace {

constexpr std::int64_t kLeastMemoryMib = 1024;
constexpr std::int64_t kLeastDiskMib = 1024;
constexpr std::size_t kName = 14;  // Columns before the text of a line.
constexpr int kRoundTrips = 10;
constexpr int kMostDownloads = 10'000;

// What people who buy computers for machine learning ask for, in the order shown.
constexpr std::array<std::string_view, 6> kWanted = {"torch", "numpy",        "tensorflow",
                                                     "jax",   "scikit-learn", "pandas"};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// --- The page -----------------------------------------------------------------------------------

std::string size_of(std::int64_t mib) {
  if (mib < 1024) return fmt::format("{} MiB", mib);
  if (mib < 1024 * 1024) return fmt::format("{:.1f} GiB", static_cast<double>(mib) / 1024);
  return fmt::format("{:.1f} TiB", static_cast<double>(mib) / (1024 * 1024));
}

std::string speed(double mbs) {
  return mbs < 1000 ? fmt::format("{:.3g} MB/s", mbs) : fmt::format("{:.3g} GB/s", mbs / 1000);
}

class Page {
 public:
  explicit Page(const Terminal& terminal) : terminal_(terminal) {}

  void section(std::string_view title, std::string_view remark = {}) {
    if (!text_.empty()) text_ += '\n';
    text_ += paint(title, Tone::strong, terminal_);
    if (!remark.empty()) text_ += fmt::format(" ({})", remark);
    text_ += '\n';
  }
  void line(std::string_view title, std::string_view text, Tone tone = Tone::plain) {
    const auto name = printable(title);
    const auto padding = std::string(kName - 2 - std::min(kName - 2, display_width(name)), ' ');
    const auto words = wrapped(printable(text), kName, text_width(terminal_));
    text_ += fmt::format("  {}{}{}\n", paint(name, tone, terminal_), padding, words);
  }
  void free_line(std::string_view text) {
    text_ += fmt::format("  {}\n", wrapped(printable(text), 2, text_width(terminal_)));
  }
  void last(std::string_view text, Tone tone) {
    text_ += fmt::format("\n{}\n", paint(text, tone, terminal_));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  const Terminal& terminal_;
  std::string text_;
};

void show_hardware(const agent::Machine& m, Page& page) {
  page.section("Hardware");
  const auto cores = m.cpu.usable < m.cpu.cores
                         ? fmt::format("{} of {} usable", m.cpu.usable, plural(m.cpu.cores, "core"))
                         : plural(m.cpu.cores, "core");
  page.line("processor",
            fmt::format("{}, {}{}{}", m.cpu.model, cores, m.cpu.features.empty() ? "" : ", ",
                        base::join(m.cpu.features, " ")));
  page.line("memory", fmt::format("{}, {} available", size_of(m.memory.total_mib),
                                  size_of(m.memory.available_mib)));
  page.line("disk", fmt::format("{} free of {} at {}", size_of(m.disk.free_mib),
                                size_of(m.disk.total_mib), m.disk.path));
  for (const auto& gpu : m.gpus)
    page.line("gpu", fmt::format("{}, {}, driver {}", gpu.name,
                                 gpu.memory_mib > 0 ? size_of(gpu.memory_mib) : "memory not known",
                                 gpu.driver));
  if (m.gpus.empty()) page.line("gpu", "none that nvidia-smi knows");
  page.line("system", fmt::format("{}, kernel {}, {}", m.os, m.kernel, m.arch));
  const bool battery = m.power.source == agent::PowerSource::battery;
  if (m.power.battery_percent)
    page.line("power",
              fmt::format("{}, battery at {}%{}", battery ? "on battery" : "plugged in",
                          *m.power.battery_percent, battery ? ": lending now would empty it" : ""));
  if (m.desktop) page.line("desktop", "yes: somebody may be working at this computer");
}

void show_python(const agent::Python& python, bool all, Page& page) {
  page.line(python.version.empty() ? "?" : python.version,
            fmt::format("{}, {}", python.path,
                        plural(static_cast<std::int64_t>(python.packages.size()), "package")));
  std::vector<std::string> found, missing;
  for (const auto wanted : kWanted) {
    const auto it = std::ranges::find_if(
        python.packages, [&](const auto& p) { return base::same_package(p.name, wanted); });
    if (it == python.packages.end())
      missing.emplace_back(wanted);
    else
      found.push_back(fmt::format("{} {}", it->name, it->version));
  }
  if (!found.empty()) page.line("", base::join(found, ", "));
  if (!missing.empty()) page.line("", "not installed: " + base::join(missing, ", "));
  if (!all) return;
  for (const auto& p : python.packages) page.line("", fmt::format("{} {}", p.name, p.version));
}

void show_environments(const std::vector<agent::LentEnvironment>& environments, Page& page) {
  if (environments.empty()) return;
  page.section("Environments", "jobs see them only if you lend them");
  for (const auto& e : environments) {
    page.line(e.name, fmt::format("{}: {}", e.path, describe(e)));
    page.line("", "to lend it: souk lend --env " + e.path);
  }
}

void show_score(const agent::Score& score, Page& page) {
  page.section("Score", "lower bounds, from the same plain code on every machine");
  page.line("processor", fmt::format("{:.3g} GFLOP/s in 32 bits, {}", score.gflops,
                                     plural(score.threads, "thread")));
  if (score.memory_gbs > 0) page.line("memory", speed(score.memory_gbs * 1000));
  if (score.disk_write_mbs)
    page.line("disk", fmt::format("writes {}{}", speed(*score.disk_write_mbs),
                                  score.disk_read_mbs ? ", reads " + speed(*score.disk_read_mbs)
                                                      : std::string()));
  for (const auto& note : score.notes) page.line("", note);
}

void show_network(const NetworkCheck& n, Page& page) {
  page.section("Network");
  page.line("server", n.server.empty() ? "none" : n.server);
  if (n.round_trip_ms)
    page.line("round trip", fmt::format("{:.3g} ms, median of {}", *n.round_trip_ms, kRoundTrips));
  if (n.download_mbs)
    page.line("download", fmt::format("at least {} (one small document again and again)",
                                      speed(*n.download_mbs)));
  if (!n.text.empty()) page.line("", n.text);
  if (!n.fix.empty()) page.line("", n.fix);
}

void show_sandboxes(const std::vector<SandboxFinding>& findings, Page& page) {
  page.section("Sandboxes and limits");
  for (const auto& f : findings) {
    const auto tone = f.works ? Tone::good : f.required ? Tone::bad : Tone::warning;
    page.line(f.name, fmt::format("{}{}", f.works ? "" : "no: ", f.text), tone);
    if (!f.fix.empty()) page.line("", "to fix: " + f.fix);
  }
}

// --- Sandboxes ----------------------------------------------------------------------------------

// Why the kernel refuses bubblewrap its namespaces, and what allows them; empty when it is not one
// of the known switches.
struct Switch {
  const char* file;
  const char* forbids;
  const char* fix;
};
constexpr Switch kSwitches[] = {
    {"/proc/sys/kernel/unprivileged_userns_clone", "0",
     "sudo sysctl -w kernel.unprivileged_userns_clone=1"},
    {"/proc/sys/user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"},
    {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
     "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (or give bwrap an AppArmor "
     "profile that allows userns)"},
};

SandboxFinding check_bubblewrap(const agent::ProbeOptions& o) {
  SandboxFinding out{.name = "bubblewrap", .required = true};
  const auto program = agent::find_program("bwrap", o.search_path);
  if (program.empty()) {
    out.text = "bwrap is not installed, and nothing else keeps jobs away from your files";
    out.fix = "sudo apt install bubblewrap";
    return out;
  }
  constexpr auto kSince08 = "--disable-userns";  // As programs of jobs are run (agent/sandbox).
  const auto done = agent::run_command(
      {program, "--unshare-all", "--unshare-user", kSince08, "--ro-bind", "/", "/", "true"},
      o.program_timeout, o.program_output);
  if (done && done->good()) {
    out.works = true;
    out.text = "jobs run in namespaces of their own, away from your files and your network";
    return out;
  }
  const auto said = !done             ? done.error().message
                    : done->timed_out ? std::string("it did not end in time")
                                      : std::string(base::trim(done->err).substr(0, 200));
  out.text = fmt::format("{} cannot make a sandbox: {}", program, said);
  out.fix = "run souk on the machine itself, or in a container that allows user namespaces";
  if (said.contains(kSince08)) out.fix = "bubblewrap 0.8 or later, as in Debian 12 or Ubuntu 24.04";
  for (const auto& s : kSwitches)
    if (base::trim(agent::file_text(o.root + s.file)) == s.forbids) {
      out.text += fmt::format(" ({} is {})", s.file, s.forbids);
      out.fix = s.fix;
      break;
    }
  return out;
}

SandboxFinding check_podman(const agent::ProbeOptions& o) {
  SandboxFinding out{.name = "podman", .works = false};
  if (agent::find_program("podman", o.search_path).empty()) {
    out.text =
        "not installed (optional): jobs bring images from where `souk lend --registry` allows";
    out.fix = "sudo apt install podman runc";
    return out;
  }
  const auto sandbox = agent::make_sandbox("podman");
  if (!sandbox) return out;
  for (const auto& f : (*sandbox)->findings())
    if (f.subject == "runs") {
      out.works = f.limited;
      out.text = f.limited ? "jobs may use the images of containers that you have pulled" : f.text;
    }
  return out;
}

// --- The command --------------------------------------------------------------------------------

struct DoctorOptions {
  bool quick = false;
  bool packages = false;
  bool gpu = false;
  std::string folder = ".";
};

// Runs `work` on another thread and keeps the progress line moving meanwhile.
template <class Work>
auto behind(Progress& progress, std::string what, std::uint64_t step, Work work) {
  progress.say(std::move(what));
  auto result = std::async(std::launch::async, std::move(work));
  while (result.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
    progress.update(step);
  return result.get();
}

MachineSize size_for_market(const agent::Machine& m) {
  return {.cores = m.cpu.usable,
          .memory_mib = m.memory.total_mib,
          .gpus = static_cast<std::int64_t>(m.gpus.size()),
          .gpu_memory_mib = m.gpus.empty() ? 0 : m.gpus.front().memory_mib};
}

// What lending it would earn; nothing from a server that does not say.
std::optional<wire::Earnings> ask_earnings(net::Client& client, const agent::Machine& machine) {
  const auto answer = client.send("GET", earnings_path(size_for_market(machine)));
  if (!answer || answer->status != 200) return std::nullopt;
  auto earnings = wire::from_json<wire::Earnings>(answer->body);
  return earnings ? std::optional(*std::move(earnings)) : std::nullopt;
}

NetworkCheck look_at_network(Context& c, bool quick, Diagnosis& d) {
  const auto target = c.target();
  if (!target) return {.text = target.error().message, .fix = target.error().hint};
  const auto& t = **target;
  auto client = net::Client::make({.base_url = t.server,
                                   .connect_timeout = base::seconds(3),
                                   .total_timeout = base::seconds(5),
                                   .max_response_bytes = 16 << 20,
                                   .ca_file = t.ca,
                                   .pinned_sha256 = t.pin,
                                   .user_agent = "souk-doctor"});
  if (!client)
    return {.server = t.server, .text = client.error().message, .fix = client.error().hint};
  auto out = check_network(
      t.server, [&](std::string_view path) { return client->send("GET", path); },
      quick ? base::Duration() : base::seconds(1));
  if (out.round_trip_ms) d.earnings = ask_earnings(*client, d.machine);
  return out;
}

std::string render(const GpuCheck& check, const Terminal& terminal) {
  Page page(terminal);
  page.section("GPUs",
               fmt::format("{}, {} each", plural(check.gpus, "GPU"), size_of(check.memory_mib)));
  for (const auto& q : check.questions) page.line(fmt::format("{:.3f} s", q.seconds), q.what);
  page.line("speed", fmt::format("{:.4g} billion multiplications a second on each, of 32 bits",
                                 check.products_per_s));
  page.line("market", fmt::format("prepares its questions in {:.2f} s", check.prepared_in));
  if (check.passed) page.last("A market would believe these GPUs.", Tone::good);
  return page.take();
}

// What a market asks of GPUs, here and now.
Result<> run_gpu_check(Context& c) {
  std::vector<agent::Remark> remarks;
  const auto found = agent::probe_gpus(agent::probe_options(), remarks);
  if (found.empty())
    return failed(
        remarks.empty() ? "this machine has no GPU that nvidia-smi knows" : remarks.front().text,
        "install the driver of the GPU; `nvidia-smi` must list it");
  const auto memory = std::ranges::min(found, {}, &agent::Gpu::memory_mib).memory_mib;
  const auto gpus = agent::Gpus::without_nodes(static_cast<int>(found.size()));
  const auto board = agent::cuda_board();
  const auto start = std::chrono::steady_clock::now();
  const auto check = check_gpus(memory, *gpus, *board, [&] {
    return base::Duration(static_cast<std::int64_t>(seconds_since(start) * 1e6));
  });
  if (c.json())
    SOUK_TRY(c.print_json(wire::to_json(check)));
  else
    c.print(render(check, c.out()));
  if (!check.passed)
    return failed("a market would not believe these GPUs: " + check.reason,
                  "end what uses them and try again; --gpus N lends fewer");
  return {};
}

agent::EnvironmentPlaces environment_places(const Environment& env) {
  std::error_code none;
  return {.virtual_env = env("VIRTUAL_ENV").value_or(""),
          .conda_prefix = env("CONDA_PREFIX").value_or(""),
          .home = env("HOME").value_or(""),
          .here = std::filesystem::current_path(none).string()};
}

Result<> run_doctor(Context& c, const DoctorOptions& o) {
  if (o.gpu) return run_gpu_check(c);
  (void)c.target();  // Its warnings come before the progress line; what fails is shown below.
  auto options = agent::probe_options();
  options.disk_path = o.folder;
  Diagnosis d;
  {
    const std::uint64_t steps = o.quick ? 3 : 4;
    Progress progress("looking", "steps", steps, c.err());
    d.machine = behind(progress, "hardware and Python", 0, [&] { return agent::probe(options); });
    d.environments = agent::find_environments(environment_places(c.env()));
    d.sandboxes = behind(progress, "sandboxes", 1, [&] { return sandbox_findings(options); });
    // A server that cannot be reached may use up its time: it does not spoil the score.
    d.network = behind(progress, "network", 2, [&] { return look_at_network(c, o.quick, d); });
    if (!o.quick)
      d.score = behind(progress, "speed", 3, [&] {
        agent::ScoreOptions how{.threads = d.machine.cpu.usable, .folder = o.folder};
        if (d.machine.memory.available_mib > 0)
          how.memory_bytes =
              std::min(how.memory_bytes, d.machine.memory.available_mib * 1024 * 512);
        how.disk_bytes = std::min(how.disk_bytes, d.machine.disk.free_mib * 1024 * 512);
        return agent::measure(how);
      });
  }
  conclude(d);
  if (c.json())
    SOUK_TRY(c.print_json(wire::to_json(d)));
  else
    c.print(render(d, o.packages, c.out()));
  if (!d.can_lend) return failed(d.reason, d.fix);
  return {};
}

}  // namespace

void conclude(Diagnosis& d) {
  d.can_lend = false;
  for (const auto& f : d.sandboxes)
    if (f.required && !f.works) {
      d.reason = fmt::format("this machine cannot lend: {}: {}", f.name, f.text);
      d.fix = f.fix;
      return;
    }
  if (d.machine.memory.total_mib < kLeastMemoryMib) {
    d.reason = fmt::format("this machine cannot lend: it has {} of memory",
                           size_of(d.machine.memory.total_mib));
    d.fix = fmt::format("jobs need {} at least", size_of(kLeastMemoryMib));
    return;
  }
  if (d.machine.disk.free_mib < kLeastDiskMib) {
    d.reason = fmt::format("this machine cannot lend: {} are free at {}",
                           size_of(d.machine.disk.free_mib), d.machine.disk.path);
    d.fix =
        fmt::format("jobs need {} at least; --folder names another place", size_of(kLeastDiskMib));
    return;
  }
  d.can_lend = true;
  d.reason.clear();
  d.fix.clear();
}

std::string render(const Diagnosis& d, bool all_packages, const Terminal& terminal) {
  Page page(terminal);
  show_hardware(d.machine, page);
  page.section("Python");
  if (d.machine.pythons.empty()) page.free_line("none");
  for (const auto& python : d.machine.pythons) show_python(python, all_packages, page);
  show_environments(d.environments, page);
  if (d.score) show_score(*d.score, page);
  show_network(d.network, page);
  show_sandboxes(d.sandboxes, page);
  if (!d.machine.remarks.empty()) {
    page.section("Remarks");
    for (const auto& r : d.machine.remarks) page.line(r.about, r.text);
  }
  if (const auto worth = d.earnings ? worth_text(*d.earnings) : std::nullopt) {
    page.section("Lending it");
    page.line("worth", *worth);
  }
  if (d.can_lend) page.last("This machine can lend.", Tone::good);
  return page.take();
}

NetworkCheck check_network(const std::string& server, const Get& get,
                           base::Duration download_time) {
  using Clock = std::chrono::steady_clock;
  NetworkCheck out{.server = server};
  std::vector<double> trips;
  for (int i = 0; i <= kRoundTrips; ++i) {
    const auto start = Clock::now();
    const auto answer = get("/healthz");
    if (!answer) {
      out.text = answer.error().message;
      out.fix = server == kDefaultServer
                    ? "start one with `souk serve`, or name one: --server URL, or SOUK_SERVER"
                    : "is the address right? --server URL names another";
      return out;
    }
    if (answer->status != 200) {
      out.text = fmt::format("/healthz answered {} {}", answer->status,
                             net::reason_phrase(answer->status));
      out.fix = answer->status == 429 ? "too many questions at once: try again in a minute"
                                      : "is it a Souk server? --server URL names another";
      return out;
    }
    if (i > 0) trips.push_back(seconds_since(start) * 1e3);  // The first one connects.
  }
  std::ranges::sort(trips);
  out.round_trip_ms = (trips[trips.size() / 2 - 1] + trips[trips.size() / 2]) / 2;

  std::size_t bytes = 0;
  const auto start = Clock::now();
  const auto until = start + std::chrono::microseconds(download_time.us);
  double elapsed = 0;
  for (int i = 0; i < kMostDownloads && Clock::now() < until; ++i) {
    const auto answer = get("/v1/openapi.json");
    if (!answer || answer->status != 200) break;  // A limit on requests: what came is counted.
    bytes += answer->body.size();
    elapsed = seconds_since(start);
  }
  if (bytes > 0) out.download_mbs = static_cast<double>(bytes) / std::max(elapsed, 1e-6) / 1e6;
  return out;
}

// What the sandbox itself found out, where it works at all.
std::vector<SandboxFinding> sandbox_findings(const agent::ProbeOptions& options) {
  std::vector<SandboxFinding> out{check_bubblewrap(options), check_podman(options)};
  const auto sandbox = agent::make_sandbox("bubblewrap");
  if (!out.front().works || !sandbox) return out;
  out.push_back({.name = "which cores", .works = true, .text = agent::cores_text()});
  for (auto& f : (*sandbox)->findings()) {
    if (f.subject == "runs") continue;
    out.push_back({.name = f.subject, .works = f.limited, .text = f.text});
    if (!f.limited && f.subject == "gangs")
      out.back().fix = "sudo modprobe tun; sudo chmod 666 /dev/net/tun";
    else if (!f.limited)
      out.back().fix = "run it as a service: systemd-run --user --scope -p Delegate=yes souk ...";
  }
  return out;
}

Command doctor_command() {
  auto o = std::make_shared<DoctorOptions>();
  Command out{.name = "doctor",
              .summary = "can this machine lend, and how fast is it",
              .examples = {"doctor", "doctor --quick", "doctor --gpu", "doctor --json --packages"}};
  out.details =
      "Looks at the hardware, the Pythons and the sandboxes, measures the processor, the memory, "
      "the disk and the way to the server, in some five seconds. Nothing is changed; all that "
      "is sent is how large this machine is, to ask what it would earn. Exit status 0 when this "
      "machine can lend, else 1 with the reason last.";
  out.options = {
      flag("--quick", "measure nothing but the round trip", o->quick),
      flag("--packages", "list every Python package", o->packages),
      flag("--gpu", "ask the GPUs what a market would ask them, and nothing else", o->gpu),
      flag("--folder PATH", "where jobs would keep their files", o->folder)};
  out.run = [o](Context& c) { return run_doctor(c, *o); };
  return out;
}

}  // namespace souk::cli
