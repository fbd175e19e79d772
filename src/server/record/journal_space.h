#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace souk::server {

// Looks whether the journal's disk has room before something is decided that must be written: an
// append that fails ends the server. Files and logs stop earlier (their reserve is larger), so what
// members do does not come to this; other programs on the same disk may. Asks the system each time,
// which takes about a microsecond: another program fills a small disk within milliseconds. One
// thread.
class JournalSpace {
 public:
  // Below so many free bytes nothing is accepted. 0: no such limit.
  JournalSpace(std::string folder, std::uint64_t least_bytes)
      : folder_(std::move(folder)), least_bytes_(least_bytes) {}

  // unavailable: nothing that changes the market can be accepted now.
  [[nodiscard]] base::Result<> check();

 private:
  const std::string folder_;
  const std::uint64_t least_bytes_;
  bool full_ = false;  // When it looked last; said in the log once.
};

}  // namespace souk::server
