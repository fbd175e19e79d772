#include "cli/shell/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands/commands.h"

namespace souk::cli {
namespace {

using ::testing::HasSubstr;

Error refused(const std::vector<std::string>& arguments) {
  const auto root = root_command();
  auto parsed = parse_arguments(root, arguments, {});
  EXPECT_FALSE(parsed) << ::testing::PrintToString(arguments);
  return parsed ? Error({}) : std::move(parsed).error();
}

TEST(Parse, WhatIsMistypedGetsASuggestion) {
  struct Row {
    std::vector<std::string> arguments;
    const char* message;
    const char* hint;
  };
  const Row rows[] = {
      {{"acount"}, "unknown command 'acount'", "'account'"},
      {{"account", "craete", "ada"}, "unknown command 'craete'", "'create'"},
      {{"offers", "--wher", "x"}, "unknown flag '--wher'", "'--where'"},
      {{"job", "submit", "--bugdet=5"}, "unknown flag '--bugdet'", "'--budget'"},
      {{"job", "submit", "--limit", "abc", "--budget", "1"}, "--limit: ", ""},
      {{"job", "show"}, "needs JOB", ""},
      {{"probe", "remove", "o1"}, "PROBE: 'o1' is not the id of a job", "j17"},
      {{"job"}, "needs a command", "submit"},
      {{"offers", "extra"}, "does not take 'extra'", ""},
      {{"jobs", "--limit", "1", "--limit", "2"}, "--limit is given 2 times", ""},
      {{"account", "grant", "ada"}, "needs AMOUNT", ""},
      {{"offers", "--where"}, "--where needs a value", ""},
  };
  for (const auto& row : rows) {
    const auto error = refused(row.arguments);
    EXPECT_THAT(error.message, HasSubstr(row.message));
    EXPECT_THAT(error.hint, HasSubstr(row.hint)) << error.message;
    EXPECT_EQ(error.exit, Exit::usage) << error.message;
  }
}

TEST(Parse, AnAccountMayHaveTheNameOfACommand) {
  const auto root = root_command();
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"account", "grant", "demo", "5"}, {"account", "create", "login"}}) {
    const auto parsed = parse_arguments(root, arguments, {});
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->command->name, arguments[1]);
  }
}

TEST(Parse, SharedFlagsWorkBeforeAndAfterTheCommand) {
  const auto root = root_command();
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"--server", "x", "--json", "offers"}, {"offers", "--server=x", "--json"}}) {
    const auto parsed = parse_arguments(root, arguments, {});
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->globals.server, "x");
    EXPECT_TRUE(parsed->globals.json);
  }
}

TEST(Parse, SecretsAreNeverFlags) {
  for (const auto* flag : {"--token", "--password"})
    EXPECT_THAT(refused({"offers", flag, "x"}).message, HasSubstr("unknown flag"));
}

// Every command can be understood from its --help alone.
void check_help(const Command& root, const Command& command, std::vector<std::string> path) {
  auto arguments = path;
  arguments.emplace_back("--help");
  const auto parsed = parse_arguments(root, arguments, {});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_THAT(parsed->help, HasSubstr(command.summary));
  EXPECT_FALSE(command.examples.empty()) << command.name;
  EXPECT_LE(command.examples.size(), 4u) << command.name;
  for (const auto& e : command.examples) EXPECT_THAT(parsed->help, HasSubstr("souk " + e));
  for (const auto& o : command.options) {
    // Another spelling works, but people are told of one only.
    const auto is_shown = [&](const Option& other) { return other.name == o.instead_of; };
    if (!o.instead_of.empty()) {
      EXPECT_TRUE(std::ranges::any_of(command.options, is_shown)) << command.name << " " << o.name;
      continue;
    }
    EXPECT_FALSE(o.help.empty()) << command.name << " " << o.name;
    EXPECT_THAT(parsed->help, HasSubstr(o.name));
  }
  if (command.run && command.common != Common::none)
    EXPECT_THAT(parsed->help, HasSubstr("--json")) << command.name;
  for (const auto& child : command.commands) {
    auto deeper = path;
    deeper.push_back(child.name);
    check_help(root, child, deeper);
  }
}

TEST(Parse, EveryCommandHasHelpWithExamples) {
  const auto root = root_command();
  check_help(root, root, {});
}

}  // namespace
}  // namespace souk::cli
