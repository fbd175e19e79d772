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

namespace {

// Does one of the sequences that paint() writes begin here? Its length, or 0.
std::size_t own_colour(std::string_view text) {
  for (const std::string_view own :
       {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"})
    if (text.starts_with(own)) return own.size();
  return 0;
}

// The length of the escape sequence that begins here (ECMA-48): of a known form, else just ESC.
std::size_t escape_sequence(std::string_view text) {
  if (text.size() < 2) return text.size();
  if (text[1] == '[') {  // Up to a letter or the like.
    std::size_t end = 2;
    while (end < text.size() && text[end] >= 0x20 && text[end] < 0x40) ++end;
    return end < text.size() && text[end] >= 0x40 && text[end] < 0x7f ? end + 1 : end;
  }
  if (std::string_view("]P_^X").contains(text[1])) {  // A string, up to BEL or ESC \, in one line.
    const auto end = text.find_first_of("\a\x1b\n", 2);
    if (end == std::string_view::npos) return text.size();
    if (text[end] == '\a') return end + 1;
    return text.substr(end).starts_with("\x1b\\") ? end + 2 : end;
  }
  return 1;
}

// Characters that change in which direction others are shown: UTF-8 of U+202A to U+202E and U+2066
// to U+2069.
bool turns_direction(std::string_view text) {
  if (text.size() < 3 || text[0] != '\xe2') return false;
  const auto second = static_cast<unsigned char>(text[1]);
  const auto third = static_cast<unsigned char>(text[2]);
  return (second == 0x80 && third >= 0xaa && third <= 0xae) ||
         (second == 0x81 && third >= 0xa6 && third <= 0xa9);
}

}  // namespace

std::string printable_lines(std::string_view text, Colours colours) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t taken = 1;
    if (const auto own = own_colour(text); own > 0 && colours == Colours::ours) {
      taken = own;
      out += text.substr(0, own);
    } else if (text[0] == '\x1b') {
      taken = escape_sequence(text);
    } else if (text[0] == '\r') {
      if (text.size() < 2 || text[1] != '\n') out += '\n';
    } else if (text[0] == '\n' || text[0] == '\t') {
      out += text[0];
    } else if (turns_direction(text)) {
      taken = 3;
      out += '?';
    } else {
      // Of a character in two bytes both, as U+0080 to U+009F are control characters too.
      taken = text[0] == '\xc2' && text.size() > 1 ? 2 : 1;
      out += printable(text.substr(0, taken));
    }
    text.remove_prefix(taken);
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
