#pragma once

#include <cstdint>
#include <mutex>

#include "base/fd.h"
#include "base/result.h"
#include "base/time.h"

namespace souk::agent {

// The agent's end of the way into the network namespace of a lease's program (sandbox/porter.h).
// Any thread.
class PorterLink {
 public:
  static base::Result<std::unique_ptr<PorterLink>> make();

  // The other end, for Program::network; until close_program_end(), once the program was prepared.
  [[nodiscard]] int program_end() const { return theirs_.get(); }
  void close_program_end() { theirs_.reset(); }

  // Once the program was started, and before all else: waits until its network is there, and gives
  // the device, if one was asked for.
  [[nodiscard]] base::Result<base::Fd> await_network(base::Duration timeout);
  // Lets the program begin.
  void go();
  // A connection to a port of the program's; `unavailable` while nothing listens there.
  [[nodiscard]] base::Result<base::Fd> connect(std::uint16_t port);

 private:
  PorterLink(base::Fd ours, base::Fd theirs) : ours_(std::move(ours)), theirs_(std::move(theirs)) {}

  base::Fd ours_, theirs_;
  std::mutex mutex_;          // One question at a time.
  std::uint32_t number_ = 0;  // Of the last.
};

}  // namespace souk::agent
