#include "cli/shell/progress.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/shell/picture.h"
#include "cli/shell/table.h"

namespace souk::cli {
namespace {

constexpr std::size_t kProgressWidth = 24;

std::string grouped(std::uint64_t n) {
  auto digits = std::to_string(n);
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

}  // namespace

std::string progress_text(std::string_view what, std::uint64_t done,
                          std::optional<std::uint64_t> total, std::string_view unit,
                          base::Duration elapsed, const Terminal& terminal) {
  std::string out(what);
  const bool percent = unit.starts_with('%');  // Then there is nothing else to count.
  const double rate =
      elapsed.us > 0 && !percent ? static_cast<double>(done) / elapsed.seconds() : 0;
  if (total && *total > 0) {
    const double share = static_cast<double>(done) / static_cast<double>(*total);
    const auto drawn = bar(share, kProgressWidth, terminal.utf8);
    if (percent)
      out += fmt::format("  {} {:3.0f}{}", drawn, share * 100, unit);
    else
      out += fmt::format("  {} {:3.0f}%  {}/{} {}", drawn, share * 100, grouped(done),
                         grouped(*total), unit);
  } else {
    out += fmt::format("  {} {}", grouped(done), unit);
  }
  if (rate >= 1) out += fmt::format("  {}/s", grouped(static_cast<std::uint64_t>(rate)));
  if (total && done < *total && rate > 0) {
    const auto left = static_cast<std::int64_t>(static_cast<double>(*total - done) / rate + 0.5);
    out += fmt::format("  {} left", base::to_string(base::seconds(left)));
  }
  return terminal.width > 1
             ? elide(out, static_cast<std::size_t>(terminal.width - 1), terminal.utf8)
             : out;
}

Progress::Progress(std::string what, std::string unit, std::optional<std::uint64_t> total,
                   Terminal terminal)
    : what_(std::move(what)), unit_(std::move(unit)), total_(total), terminal_(terminal) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::update(std::uint64_t done) {
  if (!terminal_.tty) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  drawn_ = true;
  const base::Duration elapsed(
      std::chrono::duration_cast<std::chrono::microseconds>(now - start_).count());
  fmt::print(stderr, "\r{}\x1b[K", progress_text(what_, done, total_, unit_, elapsed, terminal_));
  std::fflush(stderr);
}

}  // namespace souk::cli
