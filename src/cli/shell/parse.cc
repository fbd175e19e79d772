#include "cli/shell/parse.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/shell/config_file.h"

// CLI11 splits the command line; everything a person reads is ours, because CLI11 knows no
// suggestions and says things in its own words. So it is told that nothing is required and that
// anything may be left over, and what is missing or left over is judged here.

namespace souk::cli {

std::vector<Option> global_options(Globals& g) {
  return {
      flag("--json", "print the server's answer as JSON", g.json),
      flag("--server URL", "the market (SOUK_SERVER, config file, else http://127.0.0.1:7070)",
           g.server),
      flag("--pin SHA256", "trust exactly the certificate with this fingerprint (SOUK_PIN)", g.pin),
      flag("--ca FILE", "trust certificates signed by this authority, PEM (SOUK_CA)", g.ca)};
}

namespace {

// A command, its CLI11 twin and the flags it takes, globals included.
struct Node {
  const Command* command = nullptr;
  CLI::App* app = nullptr;
  std::string path;
  std::vector<std::pair<const Option*, CLI::Option*>> options;
  CLI::Option* help = nullptr;
  std::vector<std::unique_ptr<Node>> children;
};

void add_option(Node& node, const Option& o) {
  CLI::Option* made = nullptr;
  const auto name = o.letter == '\0' ? o.name : fmt::format("-{},{}", o.letter, o.name);
  if (o.is_switch) {
    made = node.app->add_flag(name);
  } else {
    made = node.app->add_option(name);
    made->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (o.positional() && o.repeated) made->expected(0, 1'000)->allow_extra_args();
  }
  node.options.emplace_back(&o, made);
}

std::unique_ptr<Node> build(const Command& command, CLI::App* app, std::string path,
                            const std::vector<Option>& globals) {
  auto node = std::make_unique<Node>();
  node->command = &command;
  node->app = app;
  node->path = std::move(path);
  app->set_help_flag();
  app->allow_extras();
  app->require_subcommand(0, 1);  // At most one: what follows it may be a name like any command's.
  node->help = app->add_flag("-h,--help");
  for (const auto& o : command.options) add_option(*node, o);
  for (const auto& o : globals)
    if (takes(command, o)) add_option(*node, o);
  for (const auto& c : command.commands)
    node->children.push_back(
        build(c, app->add_subcommand(c.name), node->path + " " + c.name, globals));
  return node;
}

base::Failure unknown_flag(const Node& node, std::string_view word) {
  const auto name = word.substr(0, word.find('='));
  std::vector<std::string_view> flags{"--help"};
  for (const auto& [o, twin] : node.options)
    if (!o->positional() && o->instead_of.empty()) flags.push_back(o->name);
  return usage(fmt::format("unknown flag '{}' for `{}`", printable(name), node.path),
               base::suggest(name, flags));
}

base::Failure unknown_command(const Node& node, std::string_view word) {
  std::vector<std::string_view> names;
  for (const auto& c : node.command->commands) names.push_back(c.name);
  return usage(fmt::format("unknown command '{}' for `{}`", printable(word), node.path),
               base::suggest(word, names));
}

base::Result<> check_extras(const Node& node) {
  const auto extras = node.app->remaining();
  if (extras.empty()) return {};
  // A flag first: the word after an unknown flag is usually its value.
  const auto it = std::ranges::find_if(
      extras, [](const std::string& word) { return word.size() > 1 && word[0] == '-'; });
  if (it != extras.end()) return unknown_flag(node, *it);
  if (!node.command->commands.empty()) return unknown_command(node, extras.front());
  return usage(fmt::format("`{}` does not take '{}'", node.path, printable(extras.front())),
               fmt::format("see `{} --help`; texts with spaces need quotes", node.path));
}

// An option is given in one of its spellings, and those who use an old one hear of the new.
base::Result<> check_spellings(const Node& node, std::vector<std::string>& notes) {
  for (const auto& [o, twin] : node.options) {
    if (o->instead_of.empty() || twin->count() == 0) continue;
    for (const auto& [other, other_twin] : node.options)
      if (other->name == o->instead_of && other_twin->count() > 0)
        return usage(fmt::format("{} and {} say the same thing", o->name, other->name),
                     fmt::format("give {} alone", other->name));
    if (!o->note.empty()) notes.push_back(o->note);
  }
  return {};
}

// What the file of --config says, where no flag does.
base::Result<> set_from_file(const Node& node) {
  if (!node.command->reads_config) return {};
  const auto given = [&](const Option& o) {
    return std::ranges::any_of(node.options, [&](const auto& each) {
      return each.first->name == o.name && each.second->count() > 0;
    });
  };
  for (const auto& [o, twin] : node.options)
    if (o->name == "--config" && twin->count() > 0)
      SOUK_TRY(read_config_file(twin->results().front(), node.command->options, given));
  return {};
}

base::Result<> set_options(const Node& node) {
  SOUK_TRY(set_from_file(node));
  for (const auto& [o, twin] : node.options) {
    if (o->is_switch) {
      if (twin->count() > 0) SOUK_TRY(o->set("true"));
      continue;
    }
    const auto values = twin->results();
    if (values.size() > 1 && !o->repeated)
      return usage(fmt::format("{} is given {} times", o->name, values.size()), "give it once");
    for (const auto& value : values) {
      if (auto good = o->set(value); !good) {
        good.error().message = fmt::format("{}: {}", o->name, good.error().message);
        return good;
      }
    }
  }
  for (const auto& [o, twin] : node.options)
    if (o->required && twin->count() == 0)
      return usage(fmt::format("`{}` needs {}{}{}", node.path, o->name, o->value.empty() ? "" : " ",
                               o->value),
                   fmt::format("{}; see `{} --help`", o->help, node.path));
  return {};
}

}  // namespace

Result<std::string> help_of(const Command& root, std::span<const std::string> path,
                            const Terminal& terminal) {
  Globals none;
  Node node{.command = &root, .path = root.name};
  for (const auto& word : path) {
    const auto& commands = node.command->commands;
    const auto it = std::ranges::find(commands, word, &Command::name);
    if (it == commands.end()) return unknown_command(node, word);
    node.command = &*it;
    node.path += " " + word;
  }
  return help_text(*node.command, node.path, global_options(none), terminal);
}

Result<Parsed> parse_arguments(const Command& root, std::span<const std::string> arguments,
                               const Terminal& terminal) {
  Parsed out;
  const auto globals = global_options(out.globals);
  CLI::App app;
  const auto tree = build(root, &app, root.name, globals);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ArgumentMismatch& e) {
    // The one mistake CLI11 is left to find. It says "--server: 1 required TEXT missing".
    const std::string_view said = e.what();
    return usage(fmt::format("{} needs a value", printable(said.substr(0, said.find(':')))),
                 "add --help to see what it takes");
  } catch (const CLI::ParseError& e) {
    return usage(printable(e.what()), "see `souk --help`");
  }
  const Node* node = tree.get();
  std::vector<const Node*> chain{node};
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const auto& child : node->children) {
      if (!child->app->parsed()) continue;
      chain.push_back(node = child.get());
      deeper = true;
      break;
    }
  }
  const bool help = std::ranges::any_of(chain, [](const Node* n) { return n->help->count() > 0; });
  if (help || (node == tree.get() && arguments.empty())) {
    out.help = help_text(*node->command, node->path, globals, terminal);
    return out;
  }
  for (const auto* n : chain) {
    SOUK_TRY(check_extras(*n));
    SOUK_TRY(check_spellings(*n, out.notes));
    SOUK_TRY(set_options(*n));
  }
  if (!node->command->run) {
    std::vector<std::string> names;
    for (const auto& c : node->command->commands) names.push_back(c.name);
    return usage(fmt::format("`{}` needs a command", node->path),
                 "one of: " + base::join(names, ", "));
  }
  out.command = node->command;
  return out;
}

}  // namespace souk::cli
