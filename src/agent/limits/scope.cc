#include "agent/limits/scope.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "agent/limits/cgroup.h"
#include "agent/probe/command_output.h"
#include "agent/probe/probe.h"
#include "agent/probe/probe_programs.h"
#include "agent/sandbox/sandbox_text.h"

namespace souk::agent {
namespace {

constexpr const char* kTried = "SOUK_SCOPE";  // Set in the program that was started again.
constexpr auto kSystemdAnswersWithin = base::seconds(3);

std::vector<std::string> own_arguments() {
  std::vector<std::string> out;
  const auto text = read_text("/proc/self/cmdline");
  // As they are, blanks and empty ones too.
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\0', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// A service has the control group that its unit gives it. In a scope of its own it would leave
// that, and with it the unit's log and the unit's way to stop it.
bool is_service() { return read_text(fmt::format("/proc/{}/comm", getppid())) == "systemd\n"; }

}  // namespace

std::vector<std::string> scope_command() {
  if (getenv(kTried) != nullptr) return {};  // NOLINT(concurrency-mt-unsafe): nobody sets it.
  if (is_service()) return {};
  const auto program = find_program("systemd-run", probe_options().search_path);
  if (program.empty()) return {};
  std::vector<std::string> out{program, "--scope", "--quiet", "--collect", "-p", "Delegate=yes"};
  if (geteuid() != 0) out.insert(out.begin() + 1, "--user");
  out.emplace_back("--");
  auto trial = out;
  trial.emplace_back("true");
  const auto tried = run_command(trial, kSystemdAnswersWithin, 4096);
  if (!tried || !tried->good()) return {};
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto arguments = own_arguments();
  if (error || arguments.empty()) return {};
  out.push_back(self.string());
  out.insert(out.end(), arguments.begin() + 1, arguments.end());
  return out;
}

void enter_scope() {
  if (Cgroups::find().has("memory")) return;
  auto command = scope_command();
  if (command.empty()) return;
  setenv(kTried, "1", 1);  // NOLINT(concurrency-mt-unsafe): there are no other threads yet.
  std::vector<char*> words;
  for (auto& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  execv(words[0], words.data());
}

}  // namespace souk::agent
