#include "cli/demo_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace souk::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kReadyWithin = std::chrono::seconds(10);
constexpr auto kStopWithin = std::chrono::seconds(10);
constexpr auto kLook = std::chrono::milliseconds(20);

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Only calls that are safe between fork and exec. Its own session, so that Ctrl-C in the terminal
// reaches the demo alone, which then ends it in order.
[[noreturn]] void become_server(const char* out, const char* log, const char* data, bool outlive) {
  setsid();
  if (!outlive) prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int out_fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int log_fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int null_fd = open("/dev/null", O_RDONLY);
  dup2(null_fd, STDIN_FILENO);
  dup2(out_fd, STDOUT_FILENO);
  dup2(log_fd, STDERR_FILENO);
  execl("/proc/self/exe", "souk", "serve", "--data", data, "--listen", "127.0.0.1:0", "--round",
        "1s", "--log-level", "info", static_cast<char*>(nullptr));
  _exit(127);
}

// The exit status of the child, once it has one.
std::optional<int> reap(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) != pid) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::optional<int> reap_within(pid_t pid, Clock::duration limit) {
  for (const auto end = Clock::now() + limit; Clock::now() < end;
       std::this_thread::sleep_for(kLook))
    if (auto status = reap(pid)) return status;
  return std::nullopt;
}

}  // namespace

Result<DemoServer> DemoServer::start(bool outlive) {
  std::error_code ignored;
  auto pattern = (std::filesystem::temp_directory_path(ignored) / "souk-demo-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr)
    return failed(fmt::format("cannot make {}: {}", pattern, std::strerror(errno)));
  const auto out = pattern + "/serve.out", log = pattern + "/serve.log", data = pattern + "/market";
  const auto pid = fork();
  if (pid < 0) return failed(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (pid == 0) become_server(out.c_str(), log.c_str(), data.c_str(), outlive);
  DemoServer server(pattern, pid);
  SOUK_TRY(server.await_ready());
  return server;
}

Result<> DemoServer::await_ready() {
  for (const auto end = Clock::now() + kReadyWithin; Clock::now() < end;
       std::this_thread::sleep_for(kLook)) {
    const auto text = text_of(folder_ + "/serve.out");
    const auto at = text.find("http");
    const auto line_end = text.find('\n', at);
    if (at != std::string::npos && line_end != std::string::npos) {
      url_ = text.substr(at, text.find_first_of(" \n", at) - at);
      return {};
    }
    if (const auto status = reap(pid_)) {
      pid_ = 0;
      return failed(fmt::format("the server ended with status {} before it was ready: {}", *status,
                                text_of(folder_ + "/serve.log")));
    }
  }
  return failed("the server was not ready in time", text_of(folder_ + "/serve.log"));
}

Result<> DemoServer::stop() {
  kill(pid_, SIGTERM);
  const auto status = reap_within(pid_, kStopWithin);
  if (!status) return failed("the server did not end when asked to");
  pid_ = 0;
  if (*status != 0)
    return failed(fmt::format("the server ended with status {}: {}", *status,
                              text_of(folder_ + "/serve.log")));
  return {};
}

DemoServer::DemoServer(DemoServer&& other) noexcept
    : folder_(std::move(other.folder_)),
      url_(std::move(other.url_)),
      pid_(std::exchange(other.pid_, 0)),
      released_(std::exchange(other.released_, true)) {}

DemoServer::~DemoServer() {
  if (released_) return;
  if (pid_ > 0) {
    kill(pid_, SIGTERM);
    if (!reap_within(pid_, kStopWithin)) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace souk::cli
