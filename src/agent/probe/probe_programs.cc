#include "agent/probe/probe_programs.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "agent/probe/command_output.h"
#include "agent/probe/gpu_slices.h"
#include "agent/probe/probe_limits.h"
#include "base/text.h"

namespace souk::agent {
namespace {

constexpr std::size_t kMostGpus = 64;
constexpr std::size_t kQuoted = 200;  // Of what a failing program said.

// Isolated (-I): neither the folder we are in nor PYTHON* variables nor the user's own packages,
// none of which a job would see. A package with broken metadata is left out.
constexpr const char* kListPackages = R"(
import sys
print(sys.version.split()[0])
print(sys.prefix)
from importlib import metadata
for d in metadata.distributions():
    try:
        name, version = d.metadata['Name'], d.version
    except Exception:
        continue
    if name and version:
        print(name, version, sep='\t')
)";

bool can_run(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string first_line(std::string_view text) {
  text = base::trim(text);
  return std::string(base::trim(text.substr(0, std::min(text.find('\n'), kQuoted))));
}
// Python says what went wrong at the end.
std::string last_line(std::string_view text) {
  text = base::trim(text);
  const auto at = text.rfind('\n');
  return first_line(at == std::string_view::npos ? text : text.substr(at + 1));
}

// Why `done` is no answer; empty when it is one.
std::string complaint(const base::Result<CommandOutput>& done, const ProbeOptions& options,
                      std::string (*pick)(std::string_view)) {
  if (!done) return done.error().message;
  if (done->timed_out)
    return fmt::format("did not answer within {}", base::to_string(options.program_timeout));
  if (done->truncated) return fmt::format("said more than {} bytes", options.program_output);
  if (done->status == 0) return {};
  const auto said = pick(base::trim(done->err).empty() ? done->out : done->err);
  return fmt::format("ended with status {}{}{}", done->status, said.empty() ? "" : ": ", said);
}

// "NVIDIA H200, 143771, 550.54.15, GPU-5c89, 00000000:17:00.0". Names have no commas.
std::optional<Gpu> parse_gpu(std::string_view line, const std::string& root, int place) {
  const auto fields = base::split(line, ',');
  if (fields.size() != 5 || fields[0].empty()) return std::nullopt;
  const auto word = [&](std::size_t i) { return std::string(base::trim(fields[i])); };
  Gpu out{.name = word(0),
          .memory_mib = whole_number(fields[1]).value_or(0),
          .driver = word(2),
          .uuid = word(3),
          .bus = word(4)};
  out.number = device_number(root, out.bus, place);
  out.nodes = {fmt::format("/dev/nvidia{}", out.number)};
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (auto& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

Python parse_python(const std::string& path, std::string_view out) {
  Python python{.path = path};
  const auto lines = base::split(out, '\n');
  if (lines.size() > 0) python.version = lines[0];
  if (lines.size() > 1) python.prefix = lines[1];
  std::map<std::string, Package> found;
  for (std::size_t i = 2; i < lines.size(); ++i) {
    const auto tab = lines[i].find('\t');
    if (tab == std::string_view::npos) continue;
    const auto name = lines[i].substr(0, tab);
    // The first of a name is the one that is imported.
    found.try_emplace(lower(name),
                      Package{std::string(name), std::string(lines[i].substr(tab + 1))});
  }
  for (auto& [key, package] : found) python.packages.push_back(std::move(package));
  return python;
}

}  // namespace

std::string find_program(std::string_view name, std::string_view search_path) {
  if (name.empty()) return {};
  if (name.find('/') != std::string_view::npos)
    return can_run(std::string(name)) ? std::string(name) : "";
  for (const auto folder : base::split(search_path, ':')) {
    if (!folder.starts_with('/')) continue;  // "." would run what a job left behind.
    auto path = fmt::format("{}/{}", folder, name);
    if (can_run(path)) return path;
  }
  return {};
}

std::string find_nvidia_smi(const ProbeOptions& options) {
  for (const auto& name : options.nvidia_smi)
    if (auto program = find_program(name, options.search_path); !program.empty()) return program;
  return {};
}

std::vector<Gpu> probe_gpus(const ProbeOptions& options, std::vector<Remark>& remarks) {
  const auto program = find_nvidia_smi(options);
  if (program.empty()) return {};
  const auto done =
      run_command({program, "--query-gpu=name,memory.total,driver_version,uuid,pci.bus_id",
                   "--format=csv,noheader,nounits"},
                  options.program_timeout, options.program_output);
  if (const auto why = complaint(done, options, first_line); !why.empty()) {
    remarks.push_back({"gpu", fmt::format("{} {}", program, why)});
    return {};
  }
  std::vector<Gpu> out;
  for (const auto line : base::split(base::trim(done->out), '\n')) {
    if (line.empty()) continue;
    auto gpu = parse_gpu(line, options.root, static_cast<int>(out.size()));
    if (!gpu || out.size() == kMostGpus) {
      remarks.push_back(
          {"gpu", fmt::format("{} said '{}', which names no GPU", program, first_line(line))});
      break;
    }
    if (gpu->memory_mib == 0)
      remarks.push_back({"gpu", fmt::format("the memory of {} is not known", gpu->name)});
    out.push_back(*std::move(gpu));
  }
  const auto ask = [&](const char* what) {
    const auto said = run_command({program, what}, options.program_timeout, options.program_output);
    return said && said->good() ? said->out : std::string();
  };
  const auto list = out.empty() ? std::string() : ask("-L");
  if (parse_gpu_list(list).empty()) return out;
  return with_slices(std::move(out), list, ask("-q"), options.root, remarks);
}

std::vector<Python> probe_pythons(const ProbeOptions& options, std::vector<Remark>& remarks) {
  std::vector<std::string> paths;
  for (const auto& path : {find_program(options.system_python, options.search_path),
                           find_program("python3", options.search_path)})
    if (!path.empty() && std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
  if (paths.empty()) remarks.push_back({"python", "there is no python3"});

  std::vector<Python> out;
  for (const auto& path : paths) {
    const auto done = run_command({path, "-I", "-c", kListPackages}, options.program_timeout,
                                  options.program_output);
    if (const auto why = complaint(done, options, last_line); !why.empty())
      remarks.push_back(
          {"python", fmt::format("{} {}: its packages are not all known", path, why)});
    auto python = parse_python(path, done ? done->out : "");
    // A shim or a link (/bin to /usr/bin) leads to the same installation; a venv does not.
    const bool known = std::ranges::any_of(out, [&](const Python& other) {
      return !python.prefix.empty() && other.prefix == python.prefix &&
             other.version == python.version;
    });
    if (!known) out.push_back(std::move(python));
  }
  return out;
}

}  // namespace souk::agent
