#include "provider/slurm.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/fd.h"
#include "base/text.h"
#include "provider/shell_words.h"

namespace souk::provider {
namespace {

using base::Code;

// Between the notice of a time limit and the end of the job: the agent drains in less.
constexpr auto kNotice = base::seconds(60);
constexpr auto kDrain = base::seconds(45);

// Each line as its fields.
std::vector<std::vector<std::string_view>> rows_of(std::string_view text) {
  std::vector<std::vector<std::string_view>> out;
  for (const auto line : base::split(text, '\n'))
    if (!line.empty()) out.push_back(base::split(line, '|'));
  return out;
}

bool is_job_id(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The controller took too long, or the way there is broken: the job may be in the queue.
bool leaves_doubt(std::string_view said) {
  for (const std::string_view word : {"timed out", "Unable to contact", "Connection", "Zero Bytes",
                                      "Unexpected message", "communication"})
    if (said.find(word) != said.npos) return true;
  return false;
}

bool slurm_asks_to_wait(std::string_view said) {
  for (const std::string_view word : {"Limit", "limit", "temporarily", "Too many", "busy"})
    if (said.find(word) != said.npos) return true;
  return false;
}

base::Failure refused(Code code, std::string_view program, const ProgramOutput& output) {
  const auto said = base::trim(output.err.empty() ? output.out : output.err);
  return base::fail(code, fmt::format("{}: {}", program,
                                      output.timed_out ? "it did not answer in time"
                                      : said.empty()   ? fmt::format("status {}", output.status)
                                                       : std::string(said.substr(0, 500))));
}

Result<> write_private(const std::string& path, std::string_view text) {
  const base::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()))
    return {};
  return base::fail(Code::internal, "cannot write " + path, "choose another place with --state");
}

}  // namespace

MachineState slurm_state(std::string_view word) {
  word = word.substr(0, word.find_first_of(" +"));
  for (const std::string_view over :
       {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY",
        "PREEMPTED", "REVOKED", "TIMEOUT"})
    if (word == over) return MachineState::ended;
  for (const std::string_view at_work :
       {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"})
    if (word == at_work) return MachineState::running;
  return MachineState::pending;  // Also what a later release may invent: it may still run.
}

Result<ProgramOutput> Slurm::run(const std::vector<std::string>& argv) {
  // A clean environment, as jobs inherit it and the owner's may hold a token. (--export=NONE would
  // do the same, and start a login shell on the node, which takes seconds.)
  const auto program = argv.front();
  std::vector<std::string> clean{"env", "-i"};
  clean.insert(clean.end(), settings_.environment.begin(), settings_.environment.end());
  clean.insert(clean.end(), argv.begin(), argv.end());
  auto out = run_(clean);
  if (out && out->status == 127)
    return base::fail(Code::invalid, fmt::format("'{}' is not here", program),
                      "run `souk provide slurm` on a node with Slurm's commands: a login node");
  return out;
}

Result<std::vector<MachineKind>> Slurm::kinds() {
  return std::vector<MachineKind>{{.where = settings_.partition,
                                   .cores = settings_.cores,
                                   .memory_mib = settings_.memory_mib,
                                   .gpus = settings_.gpus,
                                   .hourly = settings_.hourly}};
}

std::string Slurm::output_path(const std::string& intent) const {
  return fmt::format("{}/{}.out", settings_.folder, intent);
}

std::vector<std::string> Slurm::sbatch(const StartRequest& request, const std::string& path) const {
  const auto minutes = std::max<std::int64_t>(1, (settings_.lifetime.us + 59'999'999) / 60'000'000);
  std::vector<std::string> out{
      "sbatch", "--parsable", "--job-name=" + to_string(request.name), "--comment=souk",
      "--nodes=1", "--ntasks=1", fmt::format("--cpus-per-task={}", settings_.cores),
      fmt::format("--mem={}M", settings_.memory_mib), fmt::format("--time={}", minutes),
      // A notice before the time limit; and a job that was preempted comes back by itself.
      fmt::format("--signal=B:TERM@{}", kNotice.us / 1'000'000), "--requeue", "--open-mode=append",
      "--export=ALL", "--chdir=/tmp", "--input=/dev/null",
      "--output=" + output_path(request.name.intent)};
  if (!settings_.partition.empty()) out.push_back("--partition=" + settings_.partition);
  if (!settings_.account.empty()) out.push_back("--account=" + settings_.account);
  if (!settings_.qos.empty()) out.push_back("--qos=" + settings_.qos);
  if (settings_.gpus > 0) out.push_back(fmt::format("--gres=gpu:{}", settings_.gpus));
  out.insert(out.end(), settings_.extra.begin(), settings_.extra.end());
  out.push_back(path);
  return out;
}

std::string Slurm::script(const StartRequest& request) const {
  const auto& join = request.join;
  // Files of leases are memory too, half as much again: docs/lending.md.
  const auto lent_mib = settings_.memory_mib * 2 / 3;
  std::string flags =
      fmt::format("--folder \"$home\" --cores {} --memory {}M --gpus {} --drain {}s",
                  settings_.cores, lent_mib, settings_.gpus, kDrain.us / 1'000'000);
  for (const auto& flag : join.flags) flags += " " + shell_word(flag);
  return fmt::format(
      R"(#!/bin/sh
# An agent of Souk, started by `souk provide slurm`: {name}
umask 077
PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin
left=$(({end} - $(date +%s)))
[ "$left" -lt {limit} ] || left={limit}
if [ "$left" -lt {least} ]; then
  echo 'souk: this job began too late to be of use'
  exit 0
fi
home=$(mktemp -d "${{TMPDIR:-/tmp}}/souk-$SLURM_JOB_ID-XXXXXX") || exit 1
export PATH HOME="$home" XDG_CACHE_HOME="$home" XDG_CONFIG_HOME="$home/config"
export SOUK_SERVER={server} SOUK_TOKEN={token}
{trust}agent=
trap '[ -z "$agent" ] || kill -TERM "$agent"' TERM INT
{souk} lend --until "${{left}}s" {flags} &
agent=$!
status=0
while kill -0 "$agent" 2>/dev/null; do
  wait "$agent"
  status=$?
done
rm -rf "$home"
exit "$status"
)",
      fmt::arg("name", to_string(request.name)), fmt::arg("end", request.end.us / 1'000'000),
      fmt::arg("limit",
               std::max<std::int64_t>(1, (settings_.lifetime - kNotice).us / 1'000'000 * 95 / 100)),
      fmt::arg("least", 30), fmt::arg("server", shell_word(join.server)),
      fmt::arg("token", shell_word(join.token)), fmt::arg("trust", trust_lines(join)),
      fmt::arg("souk", shell_word(settings_.souk)), fmt::arg("flags", flags));
}

Result<std::string> Slurm::start(const StartRequest& request) {
  std::error_code error;
  std::filesystem::create_directories(settings_.folder, error);
  const auto path = fmt::format("{}/{}.sh", settings_.folder, request.name.intent);
  SOUK_TRY(write_private(path, script(request)));
  const auto output = run(sbatch(request, path));
  std::filesystem::remove(path, error);  // Slurm has its own copy.
  if (!output) return std::unexpected(output.error());
  if (output->timed_out) return refused(Code::unavailable, "sbatch", *output);
  if (output->status != 0)
    return refused(leaves_doubt(output->err)         ? Code::unavailable
                   : slurm_asks_to_wait(output->err) ? Code::exhausted
                                                     : Code::invalid,
                   "sbatch", *output);
  // "17", or "17;cluster".
  const auto id = base::trim(std::string_view(output->out).substr(0, output->out.find(';')));
  if (!is_job_id(id)) return refused(Code::unavailable, "sbatch", *output);
  return std::string(id);
}

std::string Slurm::why_it_ended(const std::string& intent, std::string_view state) const {
  if (!state.starts_with("FAILED")) return std::string(state);
  std::ifstream in(output_path(intent));
  std::string line, last, ours;
  // What the job said last says more than a state. The file is read from near its end.
  in.seekg(0, std::ios::end);
  const auto size = static_cast<std::int64_t>(in.tellg());
  in.seekg(std::max<std::int64_t>(0, size - 4096));
  while (std::getline(in, line)) {
    if (line.starts_with("souk:")) ours = line;
    if (line.starts_with("  hint:")) ours += line.substr(1);
    if (!line.empty()) last = line;
  }
  if (!ours.empty()) last = ours;
  return last.empty() ? std::string(state) : fmt::format("{}: {}", state, last);
}

Result<std::vector<ListedMachine>> Slurm::list(const std::vector<std::string>& known) {
  SOUK_ASSIGN(const auto queue, run({"squeue", "--noheader", "--states=all",
                                     fmt::format("--user={}", ::getuid()), "--format=%A|%T|%j"}));
  if (queue.status != 0 || queue.timed_out) return refused(Code::unavailable, "squeue", queue);
  std::vector<ListedMachine> out;
  for (const auto& row : rows_of(queue.out)) {
    if (row.size() != 3) continue;
    const auto name = parse_machine_name(row[2]);
    if (!name || name->owner != pool_.owner || name->pool != pool_.pool) continue;
    ListedMachine m{name->intent, std::string(row[0]), slurm_state(row[1])};
    if (m.state == MachineState::ended) m.detail = why_it_ended(m.intent, row[1]);
    out.push_back(std::move(m));
  }
  std::vector<std::string> absent;
  for (const auto& handle : known)
    if (std::ranges::find(out, handle, &ListedMachine::handle) == out.end())
      absent.push_back(handle);
  if (!absent.empty()) SOUK_TRY(ask_accounting(absent, out));
  return out;
}

// What squeue does not show may have ended, or squeue may be wrong. Where there is no accounting,
// nothing is said, and time decides (Delays::forget).
Result<> Slurm::ask_accounting(const std::vector<std::string>& absent,
                               std::vector<ListedMachine>& out) {
  const auto said = run({"sacct", "--allocations", "--noheader", "--parsable2",
                         "--format=JobIDRaw,State,JobName", "--jobs=" + base::join(absent, ",")});
  if (!said || said->status != 0 || said->timed_out) return {};
  for (const auto& row : rows_of(said->out)) {
    if (row.size() != 3 || std::ranges::find(absent, row[0]) == absent.end()) continue;
    const auto name = parse_machine_name(row[2]);
    if (!name) continue;
    ListedMachine m{name->intent, std::string(row[0]), slurm_state(row[1])};
    if (m.state == MachineState::ended) {
      m.detail = why_it_ended(m.intent, row[1]);
    } else {
      // Accounting may have missed the end of a job that the controller no longer has.
      SOUK_ASSIGN(const bool knows, controller_knows(m.handle));
      if (!knows) continue;
    }
    out.push_back(std::move(m));
  }
  return {};
}

Result<bool> Slurm::controller_knows(const std::string& handle) {
  SOUK_ASSIGN(const auto said, run({"scontrol", "--oneliner", "show", "job", handle}));
  if (said.status == 0 && !said.timed_out) return true;
  if (said.err.find("Invalid job id") != said.err.npos) return false;
  return refused(Code::unavailable, "scontrol", said);
}

Result<> Slurm::stop(const std::string& handle, bool hard) {
  if (!is_job_id(handle)) return base::fail(Code::invalid, "'" + handle + "' is not a job's id");
  // A job that waits in the queue hears no signals.
  const std::vector<std::vector<std::string>> polite{
      {"scancel", "--state=PENDING", handle}, {"scancel", "--batch", "--signal=TERM", handle}};
  const std::vector<std::vector<std::string>> at_once{{"scancel", handle}};
  for (const auto& argv : hard ? at_once : polite) {
    SOUK_ASSIGN(const auto said, run(argv));
    if (said.timed_out) return refused(Code::unavailable, "scancel", said);
    // A job that has ended is no error.
    if (said.status != 0 && said.err.find("Invalid job id") == said.err.npos &&
        said.err.find("already complet") == said.err.npos)
      return refused(Code::unavailable, "scancel", said);
  }
  return {};
}

}  // namespace souk::provider
