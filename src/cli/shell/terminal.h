#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace souk::cli {

// Reads an environment variable; an empty one counts as absent. A parameter, so that tests need
// not touch the process's own.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

// What a stream can show.
struct Terminal {
  bool tty = false;
  bool colour = false;  // Only on a terminal, never with NO_COLOR or TERM=dumb.
  bool utf8 = false;    // Else pictures and ellipses are plain ASCII.
  int width = 0;        // Columns; 0: no limit (a pipe).
};

// `fd` is 1 or 2. COLUMNS, when set, decides the width.
Terminal terminal_of(int fd, const Environment& env);
// The locale's character set, from LC_ALL, LC_CTYPE, LANG in that order.
bool speaks_utf8(const Environment& env);

enum class Tone { plain, good, warning, bad, dim, strong };
std::string paint(std::string_view text, Tone tone, const Terminal& terminal);

// Text from others as it may reach a terminal: without control characters, which could move the
// cursor or change the window's title. Newlines become spaces.
std::string printable(std::string_view text);

// The same for a whole text: lines and tabs stay. Escape sequences go as a whole, but for the
// colours of paint() where we may have put them there; a line that was to be overwritten ends
// instead.
enum class Colours { none, ours };
std::string printable_lines(std::string_view text, Colours colours = Colours::ours);

// Asks on the terminal; `otherwise` when there is none (stdin or stderr is not one).
bool ask_yes(std::string_view question, bool otherwise);
// Asks on the terminal for exactly these words; true when there is none to ask on.
bool ask_typed(std::string_view question, std::string_view words);
// SOUK_PASSWORD, or typed unseen on the terminal.
base::Result<std::string> read_password(const Environment& env, std::string_view prompt,
                                        const char* variable = "SOUK_PASSWORD");

}  // namespace souk::cli
