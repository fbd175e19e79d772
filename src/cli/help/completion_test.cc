#include "cli/help/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands/commands.h"
#include "cli/help/man.h"
#include "cli/shell/parse.h"

namespace souk::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Tree {
  Tree() {
    root.commands.push_back(
        {.name = "lend",
         .summary = "lend it; that's all",
         .examples = {"lend --folder x"},
         .options = {flag("--folder PATH", "the owner's folder", text),
                     flag("--cores N", "how many", text), flag("--yield", "give back", yes)},
         .run = [](Context&) -> Result<> { return {}; }});
    Command group{.name = "job", .summary = "jobs"};
    group.commands.push_back({.name = "show",
                              .summary = "one job",
                              .run = [](Context&) -> Result<> { return {}; },
                              .details = ".dots and -dashes \\ stay"});
    root.commands.push_back(std::move(group));
  }
  std::string text;
  bool yes = false;
  Globals g;
  std::vector<Option> globals = global_options(g);
  Command root{.name = "souk", .summary = "a market"};
};

TEST(Completion, OffersCommandsAndTheFlagsThatEachTakes) {
  const Tree t;
  const auto bash = completion_script("bash", t.root, t.globals);
  EXPECT_THAT(bash, HasSubstr("'souk') words='lend job --help' ;;"));
  EXPECT_THAT(bash, HasSubstr("'souk lend') words='--folder --cores --yield --json --server"));
  EXPECT_THAT(bash, HasSubstr("'souk job') words='show --help' ;;"));
  EXPECT_THAT(bash, HasSubstr("'souk lend' | 'souk job' | 'souk job show') at="));
}

TEST(Completion, QuotesWhatHelpSays) {
  const Tree t;
  EXPECT_THAT(completion_script("zsh", t.root, t.globals),
              HasSubstr("'lend:lend it; that'\\''s all'"));
  const auto fish = completion_script("fish", t.root, t.globals);
  EXPECT_THAT(fish, HasSubstr("-n '__souk_in souk' -a 'lend' -d 'lend it; that\\'s all'"));
  EXPECT_THAT(fish,
              HasSubstr("-n '__souk_in souk lend' -l folder -r -F -d 'the owner\\'s folder'"));
  EXPECT_THAT(fish, HasSubstr("-n '__souk_in souk lend' -l yield -d"));
}

TEST(Completion, KnowsOnlyItsShells) {
  const Tree t;
  for (const auto shell : kShells) EXPECT_NE(completion_script(shell, t.root, t.globals), "");
  EXPECT_EQ(completion_script("csh", t.root, t.globals), "");
}

TEST(Manual, HasAPageForEachCommandAndSaysWhatHelpSays) {
  const Tree t;
  const auto pages = man_pages(t.root, t.globals, "1.2.3");
  ASSERT_EQ(pages.size(), 3u);
  EXPECT_EQ(pages[0].file, "souk.1");
  EXPECT_THAT(pages[0].text, HasSubstr(".TH SOUK 1 \"\" \"Souk 1.2.3\""));
  EXPECT_EQ(pages[1].file, "souk-lend.1");
  EXPECT_THAT(pages[1].text, HasSubstr(".B \\-\\-folder PATH\nthe owner's folder\n"));
  EXPECT_THAT(pages[2].text, HasSubstr(".SH SOUK JOB SHOW\n"));
}

TEST(Manual, TextIsNeverAMacro) {
  const Tree t;
  const auto text = man_pages(t.root, t.globals, "1").back().text;
  EXPECT_THAT(text, HasSubstr("\n\\&.dots and \\-dashes \\e stay\n"));
  EXPECT_THAT(text, Not(HasSubstr("\n.dots")));
}

TEST(Manual, HasAPageForEveryCommandThereIs) {
  Globals g;
  const auto root = root_command();
  EXPECT_EQ(man_pages(root, global_options(g), "1").size(), root.commands.size() + 1);
}

}  // namespace
}  // namespace souk::cli
