#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/shell/error.h"

namespace souk::cli {

// This very program as a child process, for the demo: a server, an agent, a borrower. Its output
// goes to files. It ends with this process, however that ends, unless it was started to outlive it.
class DemoProcess {
 public:
  struct Options {
    std::vector<std::string> arguments;
    std::map<std::string, std::string> env;  // Beside the PATH and the data folder.
    std::string out, log;                    // Files for stdout and stderr.
    bool outlive = false;
  };
  static Result<DemoProcess> start(const Options& options);
  DemoProcess() = default;
  DemoProcess(DemoProcess&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  DemoProcess& operator=(DemoProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~DemoProcess();  // Asks it to end, and ends it if it does not, unless release()d.

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int what) const;
  // Its exit status, once it has one. It is forgotten then.
  std::optional<int> reap();
  std::optional<int> reap_within(std::chrono::steady_clock::duration limit);
  void release() { pid_ = 0; }

 private:
  pid_t pid_ = 0;
};

[[nodiscard]] std::string text_of(const std::string& path);

}  // namespace souk::cli
