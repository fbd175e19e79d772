#include "cli/serve/demo_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "cli/shell/config.h"

namespace souk::cli {
namespace {

constexpr auto kProcessStopsWithin = std::chrono::seconds(10);
constexpr auto kProcessLook = std::chrono::milliseconds(20);

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (auto& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

// Only calls that are safe between fork and exec. Its own session, so that Ctrl-C in the terminal
// reaches the demo alone, which then ends it in order.
[[noreturn]] void become(const DemoProcess::Options& o, const std::string& program,
                         char* const* argv, char* const* env) {
  setsid();
  if (!o.outlive) prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int out_fd = open(o.out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int log_fd = open(o.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int null_fd = open("/dev/null", O_RDONLY);
  dup2(null_fd, STDIN_FILENO);
  dup2(out_fd, STDOUT_FILENO);
  dup2(log_fd, STDERR_FILENO);
  execve(program.c_str(), argv, env);
  _exit(127);
}

}  // namespace

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

Result<DemoProcess> DemoProcess::start(const Options& options) {
  std::vector<std::string> words = options.arguments, variables;
  words.insert(words.begin(), "souk");
  for (const char* name : {"PATH", "HOME", "LANG", "TMPDIR", "SOUK_DATASETS", "SOUK_TORCH"})
    if (const char* value = std::getenv(name); value != nullptr && !options.env.contains(name))
      variables.push_back(fmt::format("{}={}", name, value));
  for (const auto& [name, value] : options.env) variables.push_back(name + "=" + value);
  const auto argv = pointers(words), env = pointers(variables);
  const auto program = own_program();
  DemoProcess out;
  out.pid_ = fork();
  if (out.pid_ < 0) return failed(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (out.pid_ == 0) become(options, program, argv.data(), env.data());
  return out;
}

void DemoProcess::signal(int what) const {
  if (pid_ > 0) ::kill(pid_, what);
}

std::optional<int> DemoProcess::reap() {
  int status = 0;
  if (pid_ <= 0 || waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::optional<int> DemoProcess::reap_within(std::chrono::steady_clock::duration limit) {
  using Clock = std::chrono::steady_clock;
  for (const auto end = Clock::now() + limit; Clock::now() < end;
       std::this_thread::sleep_for(kProcessLook))
    if (auto status = reap()) return status;
  return std::nullopt;
}

DemoProcess::~DemoProcess() {
  if (pid_ <= 0) return;
  signal(SIGTERM);
  if (reap_within(kProcessStopsWithin)) return;
  signal(SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace souk::cli
