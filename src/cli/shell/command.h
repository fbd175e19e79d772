#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/shell/context.h"
#include "cli/shell/error.h"
#include "cli/shell/values.h"

// A subcommand as data. From it follow parsing (parse.cc, the only file that knows CLI11), --help
// and the suggestions for what was mistyped. A command's options write into a struct of its own,
// which its run() reads.

namespace souk::cli {

struct Option {
  std::string name;    // "--price", or "JOB" for an argument.
  char letter = '\0';  // A short form: "-o".
  std::string value;   // "PRICE", for help; empty for arguments and switches.
  std::string help;
  bool required = false;
  bool repeated = false;
  bool is_switch = false;
  // Another spelling of this option, which is the one that people are told of: it works, but help
  // does not show it. `note` is said when it is used.
  std::string instead_of = {};
  std::string note = {};
  std::function<base::Result<>(std::string_view text)> set;
  // What it is set to, as it would be typed; several of one that is repeated, none if it is not.
  std::function<std::vector<std::string>()> show = {};

  [[nodiscard]] bool positional() const { return !name.starts_with("--"); }
};

// server: --json, --server, --pin, --ca. local: --json. none: neither.
enum class Common { server, local, none };

struct Command {
  std::string name;
  std::string summary;                // One line, small first letter, no stop at the end.
  std::vector<std::string> examples;  // Without the leading "souk ".
  std::vector<Option> options;
  std::function<Result<>(Context&)> run;  // In a group: when no command of it is named.
  std::vector<Command> commands;          // Of a group.
  Common common = Common::server;         // The flags it shares with others.
  bool reads_config = false;              // --config FILE gives its flags (config_file.h).
  std::string details;                    // A paragraph for --help.
  std::string group = {};                 // Under which help of the command above shows it.
  // Lines to type, and what for: what help shows before all commands.
  std::vector<std::pair<std::string, std::string>> first = {};
};

namespace detail {

template <class T>
inline constexpr bool adds_up = false;
template <class T>
inline constexpr bool adds_up<std::vector<T>> = true;
template <>
inline constexpr bool adds_up<Names> = true;
template <>
inline constexpr bool adds_up<std::optional<Names>> = true;
template <class K, class V>
inline constexpr bool adds_up<std::map<K, V>> = true;

}  // namespace detail

// flag("--price PRICE", "the most to pay", o->limit); a bool is a switch. `target` must live as
// long as the command: it belongs to a struct that run() owns.
template <class T>
Option flag(std::string_view spelling, std::string help, T& target) {
  const auto space = spelling.find(' ');
  Option out;
  out.name = spelling.substr(0, space);
  if (space != std::string_view::npos) out.value = spelling.substr(space + 1);
  out.help = std::move(help);
  out.repeated = detail::adds_up<T>;
  out.is_switch = std::is_same_v<T, bool>;
  out.show = [&target] { return shown_value(target); };
  if constexpr (std::is_same_v<T, std::optional<Names>>)
    out.set = [&target](std::string_view text) {
      return read_value(text, target ? *target : target.emplace());
    };
  else
    out.set = [&target](std::string_view text) { return read_value(text, target); };
  return out;
}

template <class T>
Option argument(std::string name, std::string help, T& target) {
  auto out = flag(name, std::move(help), target);
  out.required = true;
  return out;
}

inline Option optional(Option o) {
  o.required = false;
  return o;
}
// Another spelling of an option: another_spelling("--limit PRICE", "--price", o->limit).
template <class T>
Option another_spelling(std::string_view spelling, std::string instead_of, T& target,
                        std::string note = {}) {
  auto out = flag(spelling, "", target);
  out.instead_of = std::move(instead_of);
  out.note = std::move(note);
  return out;
}
inline Option with_letter(char letter, Option o) {
  o.letter = letter;
  return o;
}
inline Option required(Option o) {
  o.required = true;
  return o;
}

// `souk audit` and `souk audit list` are the same: for what is a list by itself.
Command with_list(Command command);

// Does the command take this flag of those that commands share?
bool takes(const Command& command, const Option& global);

// As help and manuals write them: "-o, --out FOLDER", its help, "usage: souk run FILE [FLAGS]".
std::string spelled(const Option& o);
std::string shown_help(const Option& o);
std::string usage_line(const Command& command, std::string_view path);

// What `--help` prints. `path` is "souk job submit"; `globals` are the flags of every client
// command.
std::string help_text(const Command& command, std::string_view path,
                      const std::vector<Option>& globals, const Terminal& terminal);

}  // namespace souk::cli
