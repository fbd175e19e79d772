#include "base/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace souk::base {
namespace {

TEST(File, IsReadWhole) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "souk-file-test";
  const std::string text = std::string(200'000, 'x') + '\0' + "end";
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(read_file(path.string(), "").value(), text);
  std::ofstream(path, std::ios::trunc);
  EXPECT_EQ(read_file(path.string(), "").value(), "");
  std::filesystem::remove(path);
  const auto gone = read_file(path.string(), "name another");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message, "cannot read " + path.string() + ": No such file or directory");
  EXPECT_EQ(gone.error().hint, "name another");
}

TEST(File, AFolderIsNone) {
  const auto out = read_file(::testing::TempDir(), "");
  ASSERT_FALSE(out);
  EXPECT_TRUE(out.error().message.ends_with(": it is a folder")) << out.error().message;
}

}  // namespace
}  // namespace souk::base
