#pragma once

#include <sys/types.h>

#include <string>

#include "base/time.h"
#include "cli/error.h"

namespace souk::cli {

// `souk serve` as a child process in a folder of its own, for the demo. The child ends with this
// process, however that ends, unless it was started to outlive it.
class DemoServer {
 public:
  // Makes the folder, starts the server on a free port and waits until it answers.
  static Result<DemoServer> start(bool outlive);
  DemoServer(DemoServer&& other) noexcept;
  DemoServer& operator=(DemoServer&&) = delete;
  ~DemoServer();  // Ends the child and removes the folder, unless release()d.

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] std::string data() const { return folder_ + "/market"; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

  // Asks it to end; anything but exit status 0 within a few seconds is an error.
  Result<> stop();
  // Leaves server and folder as they are.
  void release() { released_ = true; }

 private:
  DemoServer(std::string folder, pid_t pid) : folder_(std::move(folder)), pid_(pid) {}
  Result<> await_ready();

  std::string folder_;
  std::string url_;
  pid_t pid_ = 0;
  bool released_ = false;
};

}  // namespace souk::cli
