#include "journal/open.h"

#include <gmock/gmock.h>

#include "journal/testing/samples.h"

namespace souk::journal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Open, AJournalWrittenByItsUrlIsFoundByUrlFileAndFolder) {
  testing::Folder folder;
  const auto file = folder / "journal.db";
  const auto folder_path = file.substr(0, file.rfind('/'));
  EXPECT_EQ(url_in(folder_path), "sqlite:" + file);
  const auto sent = testing::samples(3);
  {
    auto opened = open("sqlite:" + file);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(opened->name, file);
    EXPECT_FALSE(opened->damage);
    for (const auto& s : sent) ASSERT_TRUE(opened->journal->append(s.batch()));
  }
  for (const auto& where : {"sqlite:" + file, file, folder_path}) {
    const auto opened = open(where, {.read_only = true});
    ASSERT_TRUE(opened) << where << ": " << opened.error().message;
    EXPECT_EQ(*testing::all(*opened->journal), sent) << where;
  }
}

TEST(Open, WhatIsInMemoryIsGoneWhenClosed) {
  {
    const auto opened = open("memory:");
    ASSERT_TRUE(opened);
    ASSERT_TRUE(opened->journal->append({1, 1, "x"}));
  }
  EXPECT_EQ(open("memory:")->journal->next(), 1u);
  EXPECT_EQ(*reach_of("memory:"), Reach::process);
  EXPECT_EQ(*reach_of("sqlite:x.db"), Reach::computer);
  EXPECT_EQ(*reach_of("some/folder"), Reach::computer);
  EXPECT_EQ(*reach_of("postgresql://host/db"), Reach::servers);
}

TEST(Open, AnUnknownSchemeIsAnErrorThatNamesTheNearestAndAll) {
  const auto near = open("sqlit:x.db");
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().code, base::Code::invalid);
  EXPECT_EQ(near.error().message, "no journal is kept in 'sqlit:'");
  EXPECT_EQ(near.error().hint,
            "did you mean 'sqlite:'? One of: sqlite:PATH, postgres://USER@HOST/DATABASE, memory:");
  const auto far = open("gopher:x");
  ASSERT_FALSE(far);
  EXPECT_EQ(far.error().hint, "one of: sqlite:PATH, postgres://USER@HOST/DATABASE, memory:");
  EXPECT_EQ(reach_of("gopher:x").error().message, far.error().message);
}

TEST(Open, AUrlThatCannotBeMeantIsAnError) {
  EXPECT_THAT(open("sqlite:").error().hint, HasSubstr("sqlite:PATH"));
  EXPECT_THAT(open("memory:file").error().message, HasSubstr("memory:file"));
  EXPECT_EQ(open("memory:", {.read_only = true}).error().code, base::Code::not_found);
  testing::Folder folder;
  const auto none = open(folder / "none", {.read_only = true});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, base::Code::not_found);
  EXPECT_THAT(none.error().message, AllOf(HasSubstr("none/journal.db")));
  // A path with a colon is one as long as it begins like a path.
  EXPECT_THAT(open("./a:b", {.read_only = true}).error().message, HasSubstr("./a:b/journal.db"));
}

}  // namespace
}  // namespace souk::journal
