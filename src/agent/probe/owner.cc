#include "agent/probe/owner.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "agent/probe/busy.h"

namespace souk::agent {

using base::Time;

// A terminal's access time is when somebody last typed on it.
Time OwnerWatch::last_typed() const {
  Time out;
  std::error_code ignored;  // A terminal that vanishes is not typed on.
  for (const auto* folder : {"/dev", "/dev/pts"}) {
    for (const auto& entry : std::filesystem::directory_iterator(options_.root + folder, ignored)) {
      const auto name = entry.path().filename().string();
      const bool terminal = std::string_view(folder) == "/dev/pts"
                                ? name != "ptmx"
                                : name.starts_with("tty") && name.size() > 3 &&
                                      name.find_first_not_of("0123456789", 3) == std::string::npos;
      struct stat status{};
      if (!terminal || ::stat(entry.path().c_str(), &status) != 0) continue;
      out = std::max(out, Time(status.st_atim.tv_sec * 1'000'000));
    }
  }
  return out;
}

// How often the kernel has heard from keyboards and mice, all together. Only its growth means
// something.
std::uint64_t OwnerWatch::input_events() const {
  std::uint64_t out = 0;
  std::ifstream interrupts(options_.root + "/proc/interrupts");
  for (std::string line; std::getline(interrupts, line);) {
    if (line.find("i8042") == std::string::npos) continue;
    std::istringstream columns(line.substr(line.find(':') + 1));
    for (std::uint64_t count = 0; columns >> count;) out += count;  // One for each processor.
  }
  std::error_code ignored;  // A device that vanishes is not typed on.
  const auto devices = options_.root + "/sys/bus/usb/devices";
  for (const auto& entry : std::filesystem::directory_iterator(devices, ignored)) {
    // "1-2:1.0" is an interface of the device "1-2"; class 03 is input.
    const auto name = entry.path().filename().string();
    const auto colon = name.find(':');
    std::string kind;
    std::uint64_t count = 0;
    if (colon == std::string::npos) continue;
    if (!(std::ifstream(entry.path() / "bInterfaceClass") >> kind) || kind != "03") continue;
    if (std::ifstream(devices + "/" + name.substr(0, colon) + "/urbnum") >> count) out += count;
  }
  return out;
}

bool OwnerWatch::here(double programs_cpu_seconds, Time now) {
  const auto busy = worked_seconds(options_.root);
  const auto elapsed = (now - last_look_).seconds();
  if (busy && last_busy_ && elapsed > 0) {
    const auto others = (*busy - *last_busy_) - (programs_cpu_seconds - *last_programs_);
    if (others / elapsed < options_.busy_cores)
      busy_since_ = base::kNever;
    else if (busy_since_ == base::kNever)
      busy_since_ = last_look_;
  }
  last_busy_ = busy;
  last_programs_ = programs_cpu_seconds;
  last_look_ = now;
  if (busy_since_ != base::kNever && now - busy_since_ >= options_.busy_for) seen_ = now;
  seen_ = std::max(seen_, std::min(now, last_typed()));
  const auto input = input_events();
  if (last_input_ && input != *last_input_) seen_ = now;
  last_input_ = input;
  return now - seen_ < options_.quiet_for;
}

}  // namespace souk::agent
