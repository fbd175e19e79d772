#include "cli/serve/demo_server.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

namespace souk::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kReadyWithin = std::chrono::seconds(10);
constexpr auto kServerStopsWithin = std::chrono::seconds(10);
constexpr auto kReadyLook = std::chrono::milliseconds(20);

}  // namespace

Result<DemoServer> DemoServer::start(bool outlive) {
  std::error_code ignored;
  auto folder = (std::filesystem::temp_directory_path(ignored) / "souk-demo-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    return failed(fmt::format("cannot make {}: {}", folder, std::strerror(errno)));
  DemoServer server(folder);
  SOUK_ASSIGN(
      server.process_,
      // Its machines are all at one address.
      DemoProcess::start({.arguments = {"serve", "--data", server.data(), "--listen", "127.0.0.1:0",
                                        "--round", "500ms", "--requests", "0", "--challenge-every",
                                        "0s", "--signup-bonus", "0"},
                          .out = folder + "/serve.out",
                          .log = folder + "/serve.log",
                          .outlive = outlive}));
  SOUK_TRY(server.await_ready());
  return server;
}

Result<> DemoServer::await_ready() {
  for (const auto end = Clock::now() + kReadyWithin; Clock::now() < end;
       std::this_thread::sleep_for(kReadyLook)) {
    const auto text = text_of(folder_ + "/serve.out");
    const auto at = text.find("http");
    const auto line_end = text.find('\n', at);
    if (at != std::string::npos && line_end != std::string::npos) {
      url_ = text.substr(at, text.find_first_of(" \n", at) - at);
      return {};
    }
    if (const auto status = process_.reap())
      return failed(fmt::format("the server ended with status {} before it was ready: {}", *status,
                                text_of(folder_ + "/serve.log")));
  }
  return failed("the server was not ready in time", text_of(folder_ + "/serve.log"));
}

Result<> DemoServer::stop() {
  process_.signal(SIGTERM);
  const auto status = process_.reap_within(kServerStopsWithin);
  if (!status) return failed("the server did not end when asked to");
  if (*status != 0)
    return failed(fmt::format("the server ended with status {}: {}", *status,
                              text_of(folder_ + "/serve.log")));
  return {};
}

void DemoServer::release() {
  process_.release();
  folder_.clear();
}

DemoServer::DemoServer(DemoServer&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      url_(std::move(other.url_)),
      process_(std::move(other.process_)) {}

DemoServer::~DemoServer() {
  if (folder_.empty()) return;
  process_ = {};  // First: it writes into the folder.
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace souk::cli
