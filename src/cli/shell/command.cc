#include "cli/shell/command.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/shell/table.h"

namespace souk::cli {

std::string spelled(const Option& o) {
  const auto letter = o.letter == '\0' ? std::string() : fmt::format("-{}, ", o.letter);
  return letter + (o.value.empty() ? o.name : o.name + " " + o.value);
}

std::string usage_line(const Command& command, std::string_view path) {
  std::string out = fmt::format("usage: {}", path);
  if (!command.commands.empty()) return out + (command.run ? " [COMMAND ...]" : " COMMAND ...");
  for (const auto& o : command.options) {
    if (!o.positional() && !o.required) continue;
    auto text = spelled(o) + (o.positional() && o.repeated ? "..." : "");
    out += o.required ? " " + text : " [" + text + "]";
  }
  return out + " [FLAGS]";
}

std::string shown_help(const Option& o) {
  return o.help + (o.repeated && !o.positional() ? " (may be repeated)" : "");
}

namespace {

struct HelpRow {
  std::string left;
  std::string right;
};

std::string section(std::string_view title, const std::vector<HelpRow>& rows, std::size_t width,
                    const Terminal& terminal) {
  if (rows.empty()) return {};
  std::size_t left = 0;
  for (const auto& row : rows) left = std::max(left, row.left.size());
  left = std::min<std::size_t>(left, 30);
  std::string out = "\n" + paint(title, Tone::strong, terminal) + "\n";
  for (const auto& row : rows)
    out += fmt::format("  {:<{}}  {}\n", row.left, left, wrapped(row.right, left + 4, width));
  return out;
}

// The commands under the titles of their groups, in the order in which these come up.
std::string command_sections(const Command& command, std::size_t width, const Terminal& terminal) {
  std::vector<std::pair<std::string, std::vector<HelpRow>>> groups;
  for (const auto& c : command.commands) {
    const auto title = c.group.empty() ? std::string("commands") : c.group;
    const auto it =
        std::ranges::find(groups, title, &std::pair<std::string, std::vector<HelpRow>>::first);
    auto& rows =
        it == groups.end() ? groups.emplace_back(title, std::vector<HelpRow>()).second : it->second;
    rows.push_back({c.name, c.summary});
  }
  std::string out;
  for (const auto& [title, rows] : groups) out += section(title, rows, width, terminal);
  return out;
}

}  // namespace

Command with_list(Command command) {
  auto list = command;
  list.name = "list";
  command.commands.push_back(std::move(list));
  return command;
}

bool takes(const Command& command, const Option& global) {
  return command.common == Common::server ||
         (command.common == Common::local && global.name == "--json");
}

std::string help_text(const Command& command, std::string_view path,
                      const std::vector<Option>& globals, const Terminal& terminal) {
  const auto width = text_width(terminal);
  auto out = fmt::format("{}: {}\n\n{}\n", path, command.summary, usage_line(command, path));
  if (!command.details.empty()) out += "\n" + wrapped(command.details, 0, width) + "\n";
  std::vector<HelpRow> first, arguments, flags, common;
  for (const auto& [line, what] : command.first) first.push_back({line, what});
  for (const auto& o : command.options)
    if (o.instead_of.empty())
      (o.positional() ? arguments : flags).push_back({spelled(o), shown_help(o)});
  for (const auto& o : globals)
    if (command.run && takes(command, o)) common.push_back({spelled(o), shown_help(o)});
  common.push_back({"--help", "this text"});
  out += section("first", first, width, terminal);
  out += command_sections(command, width, terminal);
  out += section("arguments", arguments, width, terminal);
  out += section("flags", flags, width, terminal);
  out += section("common flags", common, width, terminal);
  if (!command.examples.empty()) {
    out += "\n" + paint("examples", Tone::strong, terminal) + "\n";
    for (const auto& e : command.examples) out += "  souk " + e + "\n";
  }
  return out;
}

}  // namespace souk::cli
