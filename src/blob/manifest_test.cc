#include "blob/manifest.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "base/random.h"
#include "blob/testing/samples.h"

namespace souk::blob {
namespace {

using testing::file;
using ::testing::HasSubstr;
using testing::link;

Manifest sample() {
  auto large = file("data/large");
  large.size = 2 * kChunkBytes + 1;
  large.chunks = {name_of("a"), name_of("b"), name_of("c")};
  auto tool = file("tool");
  tool.kind = Kind::executable;
  return {{Entry{.path = "data/empty"}, large, link("data/now", "../tool"), file("data-2"),
           Entry{.path = "out", .kind = Kind::empty_folder}, tool}};
}

TEST(Manifest, ComesBackAsItWasWritten) {
  for (const auto& manifest : {Manifest{}, sample()}) {
    const auto bytes = to_bytes(manifest);
    ASSERT_TRUE(bytes);
    const auto parsed = parse_manifest(*bytes);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, manifest);
  }
  EXPECT_EQ(sample().total_bytes(), 2 * kChunkBytes + 3);
  EXPECT_EQ(sample().chunks().size(), 4u);  // "x" is in two files.
}

// If this fails, folders packed by older programs have other names: raise the version instead.
TEST(Manifest, TheFormatOfVersionOneStaysAsItIs) {
  const Manifest m{{file("ab/c", "x"), link("ab/d", "c")}};
  const auto x = name_of("x");
  const std::string digest(reinterpret_cast<const char*>(x.bytes.data()), 32);
  EXPECT_EQ(*to_bytes(m), std::string("soukdir\1\2", 9) + std::string("\0\4ab/c\0\1", 8) + digest +
                              std::string("\3\1d\2\1c", 6));
}

struct Attack {
  const char* what;
  Manifest manifest;
};

std::vector<Attack> attacks() {
  auto few = file("a");
  few.size = kChunkBytes + 1;
  auto many = file("a");
  many.chunks.push_back(name_of("y"));
  Entry folder{.path = "a", .kind = Kind::empty_folder};
  std::string deep;
  for (int i = 0; i < 101; ++i) deep += "d/";
  return {
      {"a path upwards", {{file("../x")}}},
      {"a path upwards in the middle", {{file("a/../../x")}}},
      {"a path that is a dot", {{file("a/./x")}}},
      {"an absolute path", {{file("/etc/passwd")}}},
      {"an empty path", {{file("")}}},
      {"an empty part", {{file("a//b")}}},
      {"an empty last part", {{file("a/")}}},
      {"a zero byte", {{file(std::string("a\0b", 3))}}},
      {"a long name", {{file(std::string(256, 'a'))}}},
      {"a deep path", {{file(deep + "x")}}},
      {"the same path twice", {{file("a"), file("a")}}},
      {"a path through a link", {{link("a", "b"), file("a/x")}}},
      {"a path through a link, not side by side", {{link("a", "b"), file("a/b/c"), file("a-b")}}},
      {"a path through a file", {{file("a"), file("a/x")}}},
      {"a path through an empty folder", {{folder, file("a/x")}}},
      {"paths out of order", {{file("b"), file("a")}}},
      {"a link to /etc", {{link("a", "/etc")}}},
      {"a link upwards", {{link("a", "..")}}},
      {"a link upwards through a name", {{link("a", "b/../../x")}}},
      {"a link that is only outside when b is a link", {{link("a", "b/../x")}}},
      {"a link too far upwards", {{link("d/a", "../../x")}}},
      {"a link to nothing", {{link("a", "")}}},
      {"a link to a zero byte", {{link("a", std::string("b\0", 2))}}},
      {"too few chunks", {{few}}},
      {"too many chunks", {{many}}},
  };
}

// Writes the format without any of its checks, as an attacker would.
Bytes forge(const Manifest& m) {
  const auto number = [](std::uint64_t v) {
    Bytes out;
    for (; v >= 0x80; v >>= 7) out.push_back(static_cast<char>(v | 0x80));
    return out + static_cast<char>(v);
  };
  Bytes out("soukdir\1");
  out += number(m.entries.size());
  std::string before;
  for (const auto& e : m.entries) {
    const auto shared =
        static_cast<std::size_t>(std::ranges::mismatch(before, e.path).in1 - before.begin());
    out += number(shared) + number(e.path.size() - shared) + e.path.substr(shared);
    out += static_cast<char>(e.kind);
    if (e.kind == Kind::link) out += number(e.target.size()) + e.target;
    if (e.kind == Kind::file || e.kind == Kind::executable) out += number(e.size);
    for (const auto& c : e.chunks) out.append(reinterpret_cast<const char*>(c.bytes.data()), 32);
    before = e.path;
  }
  return out;
}

TEST(Manifest, NoneThatCouldWriteOutsideItsFolderIsAccepted) {
  ASSERT_EQ(forge(sample()), *to_bytes(sample()));
  for (const auto& attack : attacks()) {
    EXPECT_FALSE(check(attack.manifest)) << attack.what;
    EXPECT_FALSE(parse_manifest(forge(attack.manifest))) << attack.what;
  }
}

TEST(Manifest, LinksInsideTheFolderAreAccepted) {
  for (const auto& [path, target] :
       std::vector<std::pair<std::string, std::string>>{{"a", "b"},
                                                        {"a", "./b"},
                                                        {"a", "b/c"},
                                                        {"d/a", ".."},
                                                        {"d/a", "../b"},
                                                        {"d/e/a", "../../b/c"},
                                                        {"d/a", "./../b/"},
                                                        {"a", "."},
                                                        {"a", "..b"}})
    EXPECT_TRUE(check_target(path, target)) << path << " -> " << target;
}

Manifest cut_sample() {
  return {{{.path = "large",
            .size = 6'000'000,
            .chunks = {name_of("a"), name_of("b"), name_of("c")},
            .lengths = {2'000'000, 3'000'001, 999'999}},
           {.path = "small", .size = 3, .chunks = {name_of("d")}}}};
}

TEST(Manifest, FilesCutByContentComeBackWithTheirLengths) {
  const auto bytes = to_bytes(cut_sample());
  ASSERT_TRUE(bytes);
  EXPECT_EQ((*bytes)[7], 2);
  const auto back = parse_manifest(*bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, cut_sample());
  EXPECT_EQ(back->entries[0].chunk_bytes(1), 3'000'001u);
  EXPECT_EQ(back->entries[1].chunk_bytes(0), 3u);
  for (std::size_t size = 0; size < bytes->size(); ++size)
    ASSERT_FALSE(parse_manifest(std::string_view(*bytes).substr(0, size))) << size;
}

// Names of folders that are cut every 4 MiB must not change: they are in journals.
TEST(Manifest, AFolderWithoutCutsIsWrittenAsBefore) {
  EXPECT_EQ((*to_bytes(sample()))[7], 1);
  auto spelled_new = *to_bytes(sample());
  spelled_new[7] = 2;
  EXPECT_FALSE(parse_manifest(spelled_new));
}

TEST(Manifest, LengthsThatDoNotAddUpAreRefused) {
  const auto refused = [](auto change) {
    auto manifest = cut_sample();
    change(manifest.entries[0]);
    return !check(manifest);
  };
  EXPECT_TRUE(refused([](Entry& e) { e.lengths[0] += 1; }));
  EXPECT_TRUE(refused([](Entry& e) { e.lengths.pop_back(); }));
  EXPECT_TRUE(refused([](Entry& e) { e.lengths = {0, 3'000'001, 2'999'999}; }));
  EXPECT_TRUE(refused([](Entry& e) {
    e.lengths = {kChunkBytes + 1, 1, 1};
    e.size = kChunkBytes + 3;
  }));
  EXPECT_TRUE(refused([](Entry& e) { e.kind = Kind::empty_folder; }));
}

TEST(Manifest, AnyOtherSpellingOfAFolderIsRefused) {
  const auto good = *to_bytes(sample());
  for (std::size_t size = 0; size < good.size(); ++size)
    ASSERT_FALSE(parse_manifest(std::string_view(good).substr(0, size))) << size;
  EXPECT_FALSE(parse_manifest(good + '\0'));
  // The same number in more bytes, and less shared than could be.
  EXPECT_TRUE(parse_manifest(std::string("soukdir\1\0", 9)));
  EXPECT_FALSE(parse_manifest(std::string("soukdir\1\x80\0", 10)));
  EXPECT_TRUE(parse_manifest(std::string("soukdir\1\2\0\2aa\0\0\1\1b\0\0", 20)));
  EXPECT_FALSE(parse_manifest(std::string("soukdir\1\2\0\2aa\0\0\0\2ab\0\0", 21)));
  const auto version = parse_manifest("soukdir\3");
  ASSERT_FALSE(version);
  EXPECT_THAT(version.error().message, HasSubstr("version"));
}

TEST(Manifest, RandomDamageNeverCrashesTheReaderNorYieldsAnUncheckedOne) {
  base::Random random(7);
  const auto good = *to_bytes(sample());
  for (int i = 0; i < 20'000; ++i) {
    auto bad = good;
    for (auto flips = 1 + random.below(4); flips > 0; --flips)
      bad[random.below(bad.size())] = static_cast<char>(random.below(256));
    if (const auto parsed = parse_manifest(bad)) {
      ASSERT_TRUE(check(*parsed));
      ASSERT_EQ(*to_bytes(*parsed), bad);
    }
  }
}

TEST(Manifest, ClaimsOfHugeSizesTakeNoMemory) {
  EXPECT_FALSE(parse_manifest("soukdir\1\xff\xff\xff\xff\xff\xff\xff\x7f"));
  EXPECT_FALSE(
      parse_manifest(std::string("soukdir\1\1\0\1a\0\xff\xff\xff\xff\xff\xff\xff\x7f", 21)));
}

TEST(Manifest, LongPathsThatShareAlmostAllDoNotFillTheMemory) {
  Manifest m;
  std::string stem;
  while (stem.size() < 4'000) stem += std::string(200, 'd') + "/";
  for (int i = 100'000; i < 120'000; ++i) m.entries.push_back({.path = stem + std::to_string(i)});
  const auto bytes = forge(m);
  ASSERT_LT(bytes.size(), 300'000u);  // For 80 MB of paths.
  const auto parsed = parse_manifest(bytes);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, base::Code::too_large);
  EXPECT_FALSE(check(m));
}

TEST(Manifest, TooManyFilesAreCountedAndTheWayOutIsNamed) {
  Manifest m;
  for (int i = 100'000; i < 250'000; ++i) m.entries.push_back(file("f" + std::to_string(i)));
  const auto bytes = to_bytes(m);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, base::Code::too_large);
  EXPECT_THAT(bytes.error().message, HasSubstr("150000 files"));
  EXPECT_THAT(bytes.error().hint, HasSubstr("archive"));
}

TEST(Manifest, ErrorsShowAHostileNameHarmlessly) {
  const auto checked = check_path("\x1b[2J/../x");
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("'\\x1b[2J/../x'"));
}

TEST(Manifest, WhatIsInAFolderFollowsItAtOnce) {
  std::vector<std::string> paths{"a-b", "a/b", "a", "ab", "a/b/c", "a.b"};
  std::ranges::sort(paths, path_before);
  EXPECT_THAT(paths, ::testing::ElementsAre("a", "a/b", "a/b/c", "a-b", "a.b", "ab"));
}

}  // namespace
}  // namespace souk::blob
