#include "cli/help/man.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace souk::cli {
namespace {

// A line of text that the macros take as it is.
std::string as_roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\n')
      out += ' ';
    else
      out += c;
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return out;
}

std::string item(std::string_view name, std::string_view help) {
  return fmt::format(".TP\n.B {}\n{}\n", as_roff(name), as_roff(help));
}

std::string items(std::string_view macro, std::string_view title, const std::string& list) {
  return list.empty() ? "" : fmt::format("{} {}\n{}", macro, title, list);
}

std::string options_of(const Command& command, const std::vector<Option>& globals,
                       std::string_view macro) {
  std::string arguments, flags;
  for (const auto& o : command.options)
    if (o.instead_of.empty())
      (o.positional() ? arguments : flags) += item(spelled(o), shown_help(o));
  for (const auto& o : globals)
    if (command.run && takes(command, o)) flags += item(spelled(o), shown_help(o));
  return items(macro, "ARGUMENTS", arguments) + items(macro, "FLAGS", flags);
}

std::string examples_of(const Command& command, std::string_view macro) {
  if (command.examples.empty()) return "";
  auto out = fmt::format("{} EXAMPLES\n.nf\n", macro);
  for (const auto& e : command.examples) out += as_roff("souk " + e) + "\n";
  return out + ".fi\n";
}

std::string synopsis(const Command& command, std::string_view path) {
  constexpr std::string_view kUsage = "usage: ";
  return as_roff(usage_line(command, path).substr(kUsage.size())) + "\n";
}

// A command of a group, on the group's page.
void add_member(const Command& command, const std::string& path, const std::vector<Option>& globals,
                std::string& out) {
  out += fmt::format(".SH {}\n{}.\n.PP\n{}", as_roff(upper(path)), as_roff(command.summary),
                     synopsis(command, path));
  if (!command.details.empty()) out += ".PP\n" + as_roff(command.details) + "\n";
  out += options_of(command, globals, ".SS") + examples_of(command, ".SS");
  for (const auto& c : command.commands) add_member(c, path + " " + c.name, globals, out);
}

std::string head(std::string_view name, std::string_view summary, std::string_view version) {
  return fmt::format(
      ".\\\" Made by `souk man` from the command's own help.\n"
      ".TH {} 1 \"\" \"Souk {}\" \"Souk\"\n.SH NAME\n{} \\- {}\n",
      upper(name), version, as_roff(name), as_roff(summary));
}

ManPage page_of(const Command& command, const std::vector<Option>& globals,
                std::string_view version) {
  const auto name = "souk-" + command.name, path = "souk " + command.name;
  auto out = head(name, command.summary, version) + ".SH SYNOPSIS\n" + synopsis(command, path);
  if (!command.details.empty()) out += ".SH DESCRIPTION\n" + as_roff(command.details) + "\n";
  out += options_of(command, globals, ".SH") + examples_of(command, ".SH");
  for (const auto& c : command.commands) add_member(c, path + " " + c.name, globals, out);
  return {name + ".1", out + ".SH SEE ALSO\n.BR souk (1)\n"};
}

std::string environment() {
  return ".SH ENVIRONMENT\n" + item("SOUK_SERVER", "the market, as --server") +
         item("SOUK_TOKEN", "a token instead of the one that `souk login` stored") +
         item("SOUK_PASSWORD", "for login and account create, instead of asking") +
         item("SOUK_PIN, SOUK_CA", "as --pin and --ca");
}

std::string exit_status() {
  return ".SH EXIT STATUS\n" + item("0", "it was done") + item("1", "the market refused it") +
         item("2", "the command line is wrong") + item("3", "the market cannot be reached");
}

ManPage root_page(const Command& root, const std::vector<Option>& globals,
                  std::string_view version) {
  auto out = head(root.name, root.summary, version) + ".SH SYNOPSIS\n" + synopsis(root, root.name);
  out += ".SH COMMANDS\n";
  for (const auto& c : root.commands) out += item("souk-" + c.name + "(1)", c.summary);
  std::string common;
  for (const auto& o : globals) common += item(spelled(o), shown_help(o));
  out += items(".SH", "COMMON FLAGS", common);
  return {root.name + ".1", out + environment() + exit_status() + examples_of(root, ".SH")};
}

}  // namespace

std::vector<ManPage> man_pages(const Command& root, const std::vector<Option>& globals,
                               std::string_view version) {
  std::vector<ManPage> out{root_page(root, globals, version)};
  for (const auto& c : root.commands) out.push_back(page_of(c, globals, version));
  return out;
}

}  // namespace souk::cli
