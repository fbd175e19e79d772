#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing/shell.h"

// souk clear: one book from a file, without a server.

namespace souk::cli {
namespace {

using testing::check;
using testing::Shell;

// McAfee's example (Journal of Economic Theory 56, 1992): three trades at 9 and 8.
constexpr const char* kBook =
    R"({"bids":[{"id":"b1","price":17},{"id":"b2","price":14},{"id":"b3","price":13},)"
    R"({"id":"b4","price":9},{"id":"b5","price":6}],)"
    R"("asks":[{"id":"s1","price":1},{"id":"s2","price":4},{"id":"s3","price":5},)"
    R"({"id":"s4","price":8},{"id":"s5","price":13}]})";

TEST(Clear, ABookIsClearedWithTheMechanismThatWasNamed) {
  Shell shell;
  const auto book = shell.file("book.json", kBook);
  const auto ran = shell.must({"clear", "--mechanism", "mcafee", "--book", book, "--json"});
  EXPECT_EQ(ran.answer().count("trades"), 3U) << ran;
  check(shell, {{{"clear", "--mechanism", "mcafee", "--book", book}, 0, {"b1", "s1"}},
                {{"clear", "--mechanism", "mcafee", "--book", book, "--explain"}, 0, {"9", "8"}},
                {{"clear", "--list"}, 0, {"mcafee", "k-double"}}});
}

TEST(Clear, AMistakeIsNamedWithWhatWouldBeAccepted) {
  Shell shell;
  const auto book = shell.file("book.json", kBook);
  const auto broken = shell.file("broken.json", R"({"bids":[{"id":"b1","prize":17}],"asks":[]})");
  check(shell,
        {{{"clear", "--book", book}, 2, {}, {"needs a --mechanism", "--list"}},
         {{"clear", "--mechanism", "mcafee"}, 2, {}, {"needs a --book"}},
         {{"clear", "--mechanism", "mcafe", "--book", book}, 2, {}, {"mcafe", "mcafee"}},
         {{"clear", "--mechanism", "mcafee", "--book", broken}, 2, {}, {"prize"}},
         {{"clear", "--mechanism", "mcafee", "--book", shell.home / "absent"}, 1, {}, {"absent"}}});
}

}  // namespace
}  // namespace souk::cli
