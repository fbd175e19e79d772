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
  std::string name;    // "--limit", or "JOB" for an argument.
  char letter = '\0';  // A short form: "-o".
  std::string value;   // "PRICE", for help; empty for arguments and switches.
  std::string help;
  bool required = false;
  bool repeated = false;
  bool is_switch = false;
  std::function<base::Result<>(std::string_view text)> set;

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
  std::string details;                    // A paragraph for --help.
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

// flag("--limit PRICE", "the most to pay", o->limit); a bool is a switch. `target` must live as
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
inline Option with_letter(char letter, Option o) {
  o.letter = letter;
  return o;
}
inline Option required(Option o) {
  o.required = true;
  return o;
}

// Does the command take this flag of those that commands share?
bool takes(const Command& command, const Option& global);

// What `--help` prints. `path` is "souk job submit"; `globals` are the flags of every client
// command.
std::string help_text(const Command& command, std::string_view path,
                      const std::vector<Option>& globals, const Terminal& terminal);

}  // namespace souk::cli
