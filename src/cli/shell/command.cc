#include "cli/shell/command.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/shell/table.h"

namespace souk::cli {
namespace {

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

struct Row {
  std::string left;
  std::string right;
};

std::string section(std::string_view title, const std::vector<Row>& rows, std::size_t width,
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

std::string shown_help(const Option& o) {
  return o.help + (o.repeated && !o.positional() ? " (may be repeated)" : "");
}

}  // namespace

bool takes(const Command& command, const Option& global) {
  return command.common == Common::server ||
         (command.common == Common::local && global.name == "--json");
}

std::string help_text(const Command& command, std::string_view path,
                      const std::vector<Option>& globals, const Terminal& terminal) {
  const auto width = text_width(terminal);
  auto out = fmt::format("{}: {}\n\n{}\n", path, command.summary, usage_line(command, path));
  if (!command.details.empty()) out += "\n" + wrapped(command.details, 0, width) + "\n";
  std::vector<Row> commands, arguments, flags, common;
  for (const auto& c : command.commands) commands.push_back({c.name, c.summary});
  for (const auto& o : command.options)
    (o.positional() ? arguments : flags).push_back({spelled(o), shown_help(o)});
  for (const auto& o : globals)
    if (command.run && takes(command, o)) common.push_back({spelled(o), shown_help(o)});
  common.push_back({"--help", "this text"});
  out += section("commands", commands, width, terminal);
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
