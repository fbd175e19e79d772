#include "agent/image/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>

#include "agent/testing/tars.h"
#include "blob/testing/samples.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;
using base::Code;
using blob::testing::Folder;
using blob::testing::slurp;
using blob::testing::spill;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Tar;

class Layers : public ::testing::Test {
 protected:
  Layers() {
    fs::create_directory(folder_ / "root");
    spill(folder_ / "outside/secret", "the owner's");
  }

  base::Result<> apply(const std::string& layer) {
    auto tree = LayerTree::open(root_, [this](std::int64_t bytes, std::int64_t files) {
      if (bytes_ + bytes > most_bytes_ || files_ + files > most_files_)
        return base::Result<>(base::fail(Code::too_large, "no room"));
      bytes_ += bytes;
      files_ += files;
      return base::Result<>();
    });
    EXPECT_TRUE(tree) << tree.error().message;
    spill(folder_ / "layer", layer);
    return tree->apply(folder_ / "layer", [] { return false; });
  }
  void good(const std::string& layer) {
    const auto done = apply(layer);
    EXPECT_TRUE(done) << done.error().message;
  }
  // The owner's folder is as it was.
  void untouched() {
    EXPECT_EQ(slurp(folder_ / "outside/secret"), "the owner's");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "outside"), {}), 1);
    EXPECT_FALSE(fs::exists(folder_ / "planted"));
  }
  [[nodiscard]] bool has(const std::string& path) const {
    return fs::exists(fs::symlink_status(root_ + "/" + path));
  }

  Folder folder_;
  const std::string root_ = folder_ / "root";
  std::int64_t most_bytes_ = 1 << 30, most_files_ = 10'000, bytes_ = 0, files_ = 0;
};

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstded(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

TEST_F(Layers, FilesFoldersAndLinksOfEveryPackingArrive) {
  const auto tar = Tar()
                       .folder("./usr/bin/")
                       .file("usr/bin/tool", "run me", 04755)
                       .link("bin", "usr/bin")
                       .file("bin/more", "through a link")
                       .hard_link("usr/bin/twin", "bin/tool")
                       .file(std::string(60, 'd') + "/" + std::string(180, 'f'), "long")
                       .text();
  for (const auto& layer : {tar, gzipped(tar), zstded(tar)}) {
    fs::remove_all(root_);
    fs::create_directory(root_);
    good(layer);
    EXPECT_EQ(slurp(root_ + "/usr/bin/tool"), "run me");
    EXPECT_EQ(slurp(root_ + "/usr/bin/more"), "through a link");
    EXPECT_EQ(fs::hard_link_count(root_ + "/usr/bin/twin"), 2U);
    EXPECT_EQ(fs::read_symlink(root_ + "/bin"), "usr/bin");
    EXPECT_EQ(slurp(root_ + "/" + std::string(60, 'd') + "/" + std::string(180, 'f')), "long");
    struct stat found{};
    ASSERT_EQ(::stat((root_ + "/usr/bin/tool").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0755U) << "setuid is dropped";
  }
}

TEST_F(Layers, WhiteoutsHideWhatIsBelowAndNotWhatComesWithThem) {
  good(Tar().file("etc/a", "1").file("etc/b", "1").file("opt/x/y", "1").file("opt/z", "1").text());
  // The file comes before the whiteout that would hide it, as some builders write it.
  good(Tar()
           .file("etc/.wh.a", "")
           .file("opt/new/deep", "2")
           .file("opt/.wh..wh..opq", "")
           .file("opt/later", "2")
           .file("none/.wh.thing", "")
           .text());
  EXPECT_FALSE(has("etc/a"));
  EXPECT_TRUE(has("etc/b"));
  EXPECT_FALSE(has("opt/x"));
  EXPECT_FALSE(has("opt/z"));
  EXPECT_EQ(slurp(root_ + "/opt/new/deep"), "2");
  EXPECT_EQ(slurp(root_ + "/opt/later"), "2");
  EXPECT_FALSE(has("etc/.wh.a")) << "the marks themselves are no files";
  // A folder becomes a file, and a file a folder.
  good(Tar().file("opt", "now a file").file("etc/b/c", "").text().substr(0, 1024) +
       Tar().file("etc/b2/c", "3").text());
  EXPECT_EQ(slurp(root_ + "/opt"), "now a file");
  EXPECT_EQ(slurp(root_ + "/etc/b2/c"), "3");
}

TEST_F(Layers, NoNameAndNoLinkLeadsOut) {
  const auto outside = fs::absolute(folder_ / "outside").string();
  for (const auto& layer :
       {Tar().file("../planted", "x").text(), Tar().file("a/../../planted", "x").text(),
        Tar().hard_link("mine", "../outside/secret").text(),
        Tar().hard_link("mine", outside + "/secret").text(),
        Tar().file("etc/.wh...", "").file("../../planted", "").text()}) {
    const auto done = apply(layer);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::invalid) << done.error().message;
    untouched();
  }
  // Links are as the image has them, but lead to its own root only.
  good(Tar()
           .link("up", "../outside")
           .link("far", outside)
           .link("very", "../../../../../../../../../.." + outside)
           .text());
  for (const auto* name : {"up", "far", "very"}) {
    EXPECT_FALSE(apply(Tar().file(std::string(name) + "/planted", "x").text()))
        << "what a link leads to is not there, and is not made";
    (void)apply(Tar().file(std::string(name) + "/.wh.secret", "").text());
    (void)apply(Tar().file(std::string(name) + "/.wh..wh..opq", "").text());
    (void)apply(Tar().hard_link("stolen", std::string(name) + "/secret").text());
    EXPECT_FALSE(has("stolen"));
    untouched();
  }
  good(Tar().file("far", "replaces the link").text());
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(root_ + "/far")));
  untouched();
  good(Tar().file("/etc/absolute", "is of the image").text());
  EXPECT_EQ(slurp(root_ + "/etc/absolute"), "is of the image");
}

TEST_F(Layers, DevicesAreLeftOut) {
  good(Tar().special("dev/sda", '4').special("dev/null", '3').special("pipe", '6').text());
  EXPECT_FALSE(has("dev/sda"));
  EXPECT_FALSE(has("pipe"));
}

TEST_F(Layers, BombsStopAtTheLimit) {
  most_bytes_ = 1 << 20;
  const auto bomb = gzipped(Tar().file("zeros", std::string(32 << 20, '\0')).text());
  EXPECT_LT(bomb.size(), 100'000U);
  auto done = apply(bomb);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::too_large);
  EXPECT_FALSE(has("zeros")) << "before a byte is written";
  most_files_ = 10;
  Tar many;
  for (int i = 0; i < 50; ++i) many.file("f" + std::to_string(i), "");
  done = apply(many.text());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::too_large);
  EXPECT_LE(std::distance(fs::directory_iterator(root_), {}), 10);
}

// There is no end of it else: it needs no room, but a lender's time.
TEST_F(Layers, WhatFollowsTheEndOfTheTarIsNotUnpacked) {
  const auto tar = Tar().file("a", "1").text();
  const std::string zeros(4 << 20, '\0');
  for (auto layer : {gzipped(tar + zeros), zstded(tar + zeros), gzipped(tar) + gzipped(zeros)}) {
    layer[layer.size() - 6] ^= 1;  // Whoever reads so far finds it damaged.
    if (layer.starts_with("\x28")) layer += "damaged";
    fs::remove(root_ + "/a");
    good(layer);
    EXPECT_EQ(slurp(root_ + "/a"), "1");
  }
}

TEST_F(Layers, EntriesAndNotesThatMakeNoFileAreCountedToo) {
  most_files_ = 10;
  Tar folders, marks;
  for (int i = 0; i < 50; ++i) folders.folder("./");
  for (int i = 0; i < 50; ++i) marks.file("a/.wh..wh..opq", "");
  for (const auto& layer : {folders.text(), marks.text()}) {
    files_ = 0;
    const auto done = apply(layer);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::too_large);
  }
  most_files_ = 10'000;
  most_bytes_ = 8 << 20;
  Tar wordy;
  for (int i = 0; i < 50; ++i) wordy.note('g', std::string(1 << 20, 'x')).file("a", "");
  auto done = apply(wordy.text());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::too_large);
  Tar empty;
  for (int i = 0; i < 10'000; ++i) empty.note('g', "");
  done = apply(empty.text());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::invalid);
  EXPECT_THAT(done.error().message, HasSubstr("4 MiB"));
}

TEST_F(Layers, FoldersThatLinksNestForEverAreRefused) {
  std::string deep = "d";
  for (int i = 0; i < 120; ++i) deep += "/d";
  good(Tar().folder(deep).link("s0", deep).text());
  base::Result<> done;
  for (int i = 0; i < 20 && done; ++i) {
    const auto name = "s" + std::to_string(i);
    done = apply(Tar()
                     .folder(name + "/" + deep)
                     .link("s" + std::to_string(i + 1), name + "/" + deep)
                     .text());
  }
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("nested too deeply"));
}

TEST_F(Layers, WhatIsNoLayerIsSaidToBeNone) {
  const auto tar = Tar().file("a", std::string(5'000, 'a')).text();
  auto broken = tar;
  broken[0] ^= 1;
  auto huge = Tar().file("a", "").text();
  const auto zip = gzipped(tar);
  for (const auto& layer :
       {std::string("no tar at all, and longer than a block of it") + std::string(1'000, 'x'),
        broken, tar.substr(0, 700), zip.substr(0, zip.size() / 2), zstded(tar).substr(0, 30),
        Tar().note('x', "999 path=a\n").text(), Tar().note('x', "7 abcd\n").text(),
        Tar().note('x', "10 size=-\n").file("a", "").text(), Tar().special("a", 'S').text()}) {
    const auto done = apply(layer);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::invalid) << done.error().message;
  }
  good("");
}

// A sandbox mounts its own files there: a link at such a place would have it mount, or even make,
// files elsewhere.
TEST_F(Layers, WhatASandboxMountsOverIsPlain) {
  const auto outside = fs::absolute(folder_ / "outside").string();
  good(Tar()
           .link("etc", "/oldroot" + outside)
           .link("work", outside)
           .file("tmp", "a file")
           .link("proc", "nowhere")
           .text());
  auto tree = LayerTree::open(root_, [](auto, auto) { return base::Result<>(); });
  ASSERT_TRUE(tree);
  const auto made = tree->make_mount_points();
  ASSERT_TRUE(made) << made.error().message;
  for (const auto* name : {"etc", "work", "tmp", "proc", "dev"})
    EXPECT_TRUE(fs::is_directory(fs::symlink_status(root_ + "/" + name))) << name;
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(root_ + "/etc/resolv.conf")));
  untouched();
}

}  // namespace
}  // namespace souk::agent
