#include "cli/shell/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "base/text.h"

namespace souk::cli {
namespace {

constexpr int kLeastWidth = 20;

int width_of(int fd, bool tty, const Environment& env) {
  if (const auto columns = env("COLUMNS")) {
    const int n = std::atoi(columns->c_str());
    if (n > 0) return std::max(n, kLeastWidth);
  }
  winsize size{};
  if (!tty) return 0;
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::max<int>(size.ws_col, kLeastWidth);
  return 80;
}

// Turns the echo of typed keys off for as long as it lives.
class NoEcho {
 public:
  NoEcho() {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    changed_ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) == 0;
  }
  ~NoEcho() {
    if (changed_) tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  NoEcho(const NoEcho&) = delete;
  NoEcho& operator=(const NoEcho&) = delete;

  [[nodiscard]] bool quiet() const { return changed_; }

 private:
  termios before_{};
  bool changed_ = false;
};

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it.
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

bool speaks_utf8(const Environment& env) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (auto value = env(name)) {
      std::ranges::transform(*value, value->begin(),
                             [](unsigned char c) { return std::tolower(c); });
      return value->find("utf-8") != std::string::npos || value->find("utf8") != std::string::npos;
    }
  }
  return false;
}

Terminal terminal_of(int fd, const Environment& env) {
  Terminal out;
  out.tty = isatty(fd) == 1;
  out.colour = out.tty && !env("NO_COLOR") && env("TERM").value_or("dumb") != "dumb";
  out.utf8 = speaks_utf8(env);
  out.width = width_of(fd, out.tty, env);
  return out;
}

std::string paint(std::string_view text, Tone tone, const Terminal& terminal) {
  if (!terminal.colour || tone == Tone::plain || text.empty()) return std::string(text);
  const char* code = tone == Tone::good      ? "32"
                     : tone == Tone::warning ? "33"
                     : tone == Tone::bad     ? "31"
                     : tone == Tone::dim     ? "2"
                                             : "1";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n' || c == '\t') {
      out += ' ';
    } else if (c < 0x20 || c == 0x7f) {
      out += '?';
    } else if (c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) {
      out += '?';  // U+0080 to U+009F: control characters of eight-bit terminals.
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool ask_yes(std::string_view question, bool otherwise) {
  if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) return otherwise;
  fmt::print(stderr, "{} [Y/n] ", question);
  std::string line;
  if (!std::getline(std::cin, line)) return false;
  const auto answer = base::trim(line);
  return answer.empty() || answer[0] == 'y' || answer[0] == 'Y';
}

bool ask_typed(std::string_view question, std::string_view words) {
  if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) return true;
  fmt::print(stderr, "{}: ", question);
  std::string line;
  return std::getline(std::cin, line) && base::trim(line) == words;
}

base::Result<std::string> read_password(const Environment& env, std::string_view prompt,
                                        const char* variable) {
  if (auto given = env(variable)) return *std::move(given);
  if (isatty(STDIN_FILENO) != 1)
    return base::fail(
        base::Code::invalid, "a password is needed",
        fmt::format("set {} in the environment, or run this on a terminal", variable));
  fmt::print(stderr, "{}: ", prompt);
  std::string line;
  bool got = false;
  {
    const NoEcho no_echo;
    got = static_cast<bool>(std::getline(std::cin, line));
    if (no_echo.quiet()) fmt::print(stderr, "\n");
  }
  if (!got || line.empty())
    return base::fail(base::Code::invalid, "no password was typed",
                      fmt::format("type one, or set {}", variable));
  return line;
}

}  // namespace souk::cli
