#pragma once

#include <string>

#include "cli/serve/demo_process.h"
#include "cli/shell/error.h"

namespace souk::cli {

// `souk serve` in a temporary folder of its own, for the demo.
class DemoServer {
 public:
  // Makes the folder, starts the server on a free port and waits until it answers.
  static Result<DemoServer> start(bool outlive);
  DemoServer(DemoServer&& other) noexcept;
  DemoServer& operator=(DemoServer&&) = delete;
  ~DemoServer();  // Ends the server and removes the folder, unless release()d.

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] std::string data() const { return folder_ + "/market"; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] pid_t pid() const { return process_.pid(); }

  // Asks it to end; anything but exit status 0 within a few seconds is an error.
  Result<> stop();
  // Leaves server and folder as they are.
  void release();

 private:
  explicit DemoServer(std::string folder) : folder_(std::move(folder)) {}
  Result<> await_ready();

  std::string folder_;  // Empty: not ours to remove.
  std::string url_;
  DemoProcess process_;
};

}  // namespace souk::cli
