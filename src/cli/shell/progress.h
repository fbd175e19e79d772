#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "cli/shell/terminal.h"

namespace souk::cli {

// "reading  ████░░░░  42%  12,345/29,000 events  5,100/s  3s left". Pure; without a total there is
// no bar and no end.
std::string progress_text(std::string_view what, std::uint64_t done,
                          std::optional<std::uint64_t> total, std::string_view unit,
                          base::Duration elapsed, const Terminal& terminal);

// A line on stderr that is redrawn in place at most ten times a second, first after half a second,
// so that what is quick shows nothing. Silent when stderr is not a terminal. One thread.
class Progress {
 public:
  Progress(std::string what, std::string unit, std::optional<std::uint64_t> total,
           Terminal terminal);
  ~Progress();  // Removes the line.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::uint64_t done);
  // Other words in front of the bar, e.g. the state of what is waited for.
  void say(std::string what) { what_ = std::move(what); }

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  std::string unit_;
  std::optional<std::uint64_t> total_;
  Terminal terminal_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::milliseconds(500);
  bool drawn_ = false;
};

}  // namespace souk::cli
