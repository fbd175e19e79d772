#include "cli/help/completion.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

// All three scripts work alike: they walk over the words before the cursor to find out which
// command they are in, and offer what that command takes.

namespace souk::cli {
namespace {

// A command with all the flags it takes.
struct Place {
  std::string path;  // "souk job submit"
  const Command* command;
  std::vector<const Option*> flags;
};

void collect(const Command& command, const std::string& path, const std::vector<Option>& globals,
             std::vector<Place>& out) {
  Place place{path, &command, {}};
  for (const auto& o : command.options)
    if (!o.positional() && o.instead_of.empty()) place.flags.push_back(&o);
  for (const auto& o : globals)
    if (command.run && takes(command, o)) place.flags.push_back(&o);
  out.push_back(std::move(place));
  for (const auto& c : command.commands) collect(c, path + " " + c.name, globals, out);
}

bool takes_file(const Option& o) {
  return o.value.starts_with("FILE") || o.value == "FOLDER" || o.value == "PATH";
}

// The text in single quotes, with what the shell wants for a quote in it.
std::string quoted(std::string_view text, std::string_view quote) {
  std::string out = "'";
  for (const char c : text)
    if (c == '\'')
      out += quote;
    else
      out += c;
  return out + "'";
}
std::string shell_word(std::string_view text) { return quoted(text, "'\\''"); }
// fish knows backslashes inside of single quotes.
std::string fish_shell_word(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') escaped += '\\';
    escaped += c;
  }
  return quoted(escaped, "\\'");
}

// "'souk job' | 'souk lab'": all places below the first.
std::string patterns(const std::vector<Place>& places) {
  std::vector<std::string> out;
  for (const auto& place : places)
    if (place.path.contains(' ')) out.push_back(shell_word(place.path));
  return base::join(out, " | ");
}

// "'souk lend --folder' | ...": flags whose value is a file, or those whose value is something
// else.
std::string flags_with_value(const std::vector<Place>& places, bool files) {
  std::vector<std::string> out;
  for (const auto& place : places)
    for (const auto* o : place.flags)
      if (!o->is_switch && takes_file(*o) == files) {
        out.push_back(shell_word(place.path + " " + o->name));
        if (o->letter != '\0')
          out.push_back(shell_word(fmt::format("{} -{}", place.path, o->letter)));
      }
  return base::join(out, " | ");
}

std::string bash(const std::vector<Place>& places) {
  auto out = fmt::format(R"(# bash completion for souk, made by `souk completion bash`.
_souk() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} at=souk words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at ${{COMP_WORDS[i]}}" in
      {}) at="$at ${{COMP_WORDS[i]}}" ;;
    esac
  done
  COMPREPLY=()
  case "$at ${{COMP_WORDS[COMP_CWORD - 1]}}" in
    {}) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    {}) return ;;
  esac
  case "$at" in
)",
                         patterns(places), flags_with_value(places, true),
                         flags_with_value(places, false));
  for (const auto& place : places) {
    std::vector<std::string> words;
    for (const auto& c : place.command->commands) words.push_back(c.name);
    for (const auto* o : place.flags) words.push_back(o->name);
    words.emplace_back("--help");
    out += fmt::format("    {}) words={} ;;\n", shell_word(place.path),
                       shell_word(base::join(words, " ")));
  }
  return out + R"(  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  if ((${#COMPREPLY[@]} == 0)) && [[ $cur != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -o filenames -F _souk souk
)";
}

// "'--cores:lend so many cores'" for _describe.
std::string described(std::string_view name, std::string_view help) {
  std::string escaped;
  for (const char c : name) {
    if (c == ':') escaped += '\\';
    escaped += c;
  }
  return shell_word(fmt::format("{}:{}", escaped, help));
}

std::string zsh(const std::vector<Place>& places) {
  auto out = fmt::format(R"(#compdef souk
# zsh completion for souk, made by `souk completion zsh`.
_souk() {{
  local at=souk i
  local -a commands flags
  for ((i = 2; i < CURRENT; i++)); do
    case "$at ${{words[i]}}" in
      {}) at="$at ${{words[i]}}" ;;
    esac
  done
  case "$at ${{words[CURRENT - 1]}}" in
    {}) _files; return ;;
    {}) return ;;
  esac
  case "$at" in
)",
                         patterns(places), flags_with_value(places, true),
                         flags_with_value(places, false));
  for (const auto& place : places) {
    out += fmt::format("    {})\n      commands=(", shell_word(place.path));
    for (const auto& c : place.command->commands)
      out += "\n        " + described(c.name, c.summary);
    out += ")\n      flags=(";
    for (const auto* o : place.flags) out += "\n        " + described(o->name, o->help);
    out += "\n        '--help:this text')\n      ;;\n";
  }
  return out + R"(  esac
  if [[ ${words[CURRENT]} == -* ]]; then
    _describe -o flag flags
  elif (($#commands)); then
    _describe command commands
  else
    _files
  fi
}
_souk "$@"
)";
}

std::string fish(const std::vector<Place>& places) {
  std::string out = "# fish completion for souk, made by `souk completion fish`.\nset -g __souk_at";
  for (const auto& place : places) out += " " + fish_shell_word(place.path);
  out += R"(
function __souk_in
  set -l at souk
  for word in (commandline -opc)[2..-1]
    if contains -- "$at $word" $__souk_at
      set at "$at $word"
    end
  end
  test "$at" = "$argv"
end
)";
  for (const auto& place : places) {
    const auto in =
        fmt::format("complete -c souk -n {}", fish_shell_word("__souk_in " + place.path));
    if (!place.command->commands.empty()) out += in + " -f\n";
    for (const auto& c : place.command->commands)
      out +=
          fmt::format("{} -a {} -d {}\n", in, fish_shell_word(c.name), fish_shell_word(c.summary));
    for (const auto* o : place.flags) {
      out += fmt::format("{} -l {}", in, o->name.substr(2));
      if (o->letter != '\0') out += fmt::format(" -s {}", o->letter);
      if (!o->is_switch) out += takes_file(*o) ? " -r -F" : " -x";
      out += fmt::format(" -d {}\n", fish_shell_word(o->help));
    }
    out += fmt::format("{} -l help -d 'this text'\n", in);
  }
  return out;
}

}  // namespace

std::string completion_script(std::string_view shell, const Command& root,
                              const std::vector<Option>& globals) {
  std::vector<Place> places;
  collect(root, root.name, globals, places);
  if (shell == "bash") return bash(places);
  if (shell == "zsh") return zsh(places);
  if (shell == "fish") return fish(places);
  return "";
}

}  // namespace souk::cli
