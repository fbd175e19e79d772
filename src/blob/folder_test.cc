#include "blob/folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "blob/folder_writer.h"
#include "blob/testing/samples.h"

namespace souk::blob {
namespace {

using ::testing::ElementsAre;
using testing::file;
using ::testing::HasSubstr;
using testing::link;
using testing::spill;
namespace fs = std::filesystem;

struct TwoFolders {
  testing::Folder folder;
  std::unique_ptr<Store> store = *Store::open(folder / "store");
  fs::path in = folder / "in", out = folder / "out";
  TwoFolders() { fs::create_directory(in); }
};

mode_t mode(const fs::path& path) {
  struct stat status{};
  CHECK(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

std::vector<std::string> paths(const std::vector<Entry>& entries) {
  std::vector<std::string> out;
  for (const auto& entry : entries) out.push_back(entry.path);
  return out;
}

// A folder that is written piece by piece has the name of the same folder on disk.
TEST(Folder, IsCutTheSameFromDiskAndFromPieces) {
  const testing::Folder folder;
  const auto store = *Store::open(folder / "store");
  for (const std::size_t size :
       {kChunkBytes - 1, kChunkBytes, kChunkBytes + 1, 5 * kChunkBytes + 7}) {
    const auto content = testing::noise(size, size);
    testing::spill(folder / "in/file", content);
    const auto packed = pack(folder / "in", *store);
    ASSERT_TRUE(packed);
    EXPECT_EQ(packed->manifest.entries[0].lengths.empty(), size <= kChunkBytes);
    FolderWriter writer(*store);
    ASSERT_TRUE(writer.begin("file"));
    for (std::string_view rest = content; !rest.empty();) {
      const auto piece = std::min<std::size_t>(rest.size(), 1'000'003);
      ASSERT_TRUE(writer.append(rest.substr(0, piece)));
      rest.remove_prefix(piece);
    }
    EXPECT_EQ(writer.finish()->root, packed->root) << size;
    EXPECT_EQ(pack_files({{"file", content}}, *store)->root, packed->root) << size;
  }
}

TEST(Folder, ComesBackOnAnotherMachineAsItWas) {
  TwoFolders w;
  const auto large = testing::noise(2 * kChunkBytes + 5);
  spill(w.in / "data/large.bin", large);
  spill(w.in / "data/empty", "");
  spill(w.in / "run.sh", "#!/bin/sh\n");
  fs::permissions(w.in / "run.sh", fs::perms(0700));
  spill(w.in / "a-b", "sorts before a/");
  spill(w.in / "a/b", "b");
  fs::create_directories(w.in / "out/here");
  fs::create_symlink("../data/large.bin", w.in / "a/large");
  fs::create_symlink("data", w.in / "d");
  std::uint64_t done = 0;
  const auto packed = pack(w.in, *w.store, {.on_progress = [&](const Progress& p) {
                             EXPECT_GT(p.bytes_done, done);
                             done = p.bytes_done;
                             EXPECT_EQ(p.bytes_total, plan(w.in)->total_bytes);
                           }});
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(done, packed->manifest.total_bytes());

  const auto manifest = read_manifest(packed->root, *w.store);
  ASSERT_TRUE(manifest);
  EXPECT_EQ(*manifest, packed->manifest);
  const auto mask = ::umask(077);
  const auto unpacked = unpack(*manifest, *w.store, w.out);
  ::umask(mask);
  ASSERT_TRUE(unpacked) << unpacked.error().message;
  EXPECT_TRUE(testing::slurp(w.out / "data/large.bin") == large);
  EXPECT_TRUE(fs::is_empty(w.out / "data/empty"));
  EXPECT_EQ(testing::slurp(w.out / "a/b"), "b");
  EXPECT_EQ(fs::read_symlink(w.out / "a/large"), "../data/large.bin");
  EXPECT_EQ(fs::read_symlink(w.out / "d"), "data");
  EXPECT_TRUE(fs::is_directory(w.out / "out/here"));
  EXPECT_EQ(mode(w.out / "run.sh"), 0755u);
  EXPECT_EQ(mode(w.out / "a/b"), 0644u);
  EXPECT_EQ(mode(w.out), 0755u);
  EXPECT_EQ(mode(w.out / "out/here"), 0755u);
  EXPECT_EQ(pack(w.out, *w.store)->root, packed->root);  // Same content, same name.
}

TEST(Folder, ASingleFileCanBePackedToo) {
  TwoFolders w;
  spill(w.in / "train.py", "print()");
  fs::create_symlink("train.py", w.in / "link.py");
  for (const auto* name : {"train.py", "link.py"}) {
    const auto packed = pack(w.in / name, *w.store);
    ASSERT_TRUE(packed) << packed.error().message;
    EXPECT_THAT(paths(packed->manifest.entries), ElementsAre("train.py"));
  }
}

TEST(Folder, PackingAgainStoresOnlyWhatChanged) {
  TwoFolders w;
  for (int i = 0; i < 10; ++i) spill(w.in / std::to_string(i), testing::noise(1'000, i));
  ASSERT_TRUE(pack(w.in, *w.store));
  spill(w.in / "3", "new");
  Progress last;
  ASSERT_TRUE(pack(w.in, *w.store, {.on_progress = [&](const Progress& p) { last = p; }}));
  EXPECT_EQ(last.chunks_skipped, 9u);
  EXPECT_EQ(w.store->count(), 13u);  // Ten, one more, two manifests.
}

TEST(Folder, WhatSoukignoreNamesStaysAtHome) {
  TwoFolders w;
  for (const auto* path :
       {"a.py", "a.pyc", "d/b.pyc", "d/keep.pyc", ".git/config", "data/x", "e/data/x"})
    spill(w.in / path, "x");
  fs::create_symlink("/etc", w.in / ".git/outside");  // Not even looked at.
  spill(w.in / ".soukignore", "*.pyc\n!keep.pyc\n/data/\n");
  const PackOptions options{.ignore = ".git/\n*.py\n"};
  const auto packed = pack(w.in, *w.store, options);
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_THAT(paths(packed->manifest.entries),
              ElementsAre(".soukignore", "d/keep.pyc", "e/data/x"));
  EXPECT_EQ(paths(plan(w.in, options)->entries), paths(packed->manifest.entries));
}

TEST(Folder, OnlyWhatWasAskedForIsPacked) {
  TwoFolders w;
  for (const auto* name :
       {"a.csv", "b.txt", "out/x", "out/deep/y", "out/deep/z", "logs/1", "logs/2"})
    spill(w.in / name, name);
  spill(w.in / ".soukignore", "*.csv\nlogs\n");
  fs::create_symlink("/usr/bin/python3", w.in / "python");  // Not asked for: no trouble.
  fs::create_symlink("/etc/passwd", w.in / "logs/passwd");  // Asked for: left out with a warning.
  const auto packed = [&](std::vector<std::string> only) {
    const auto out = pack(w.in, *w.store, {.only = std::move(only)});
    return out ? paths(out->manifest.entries) : std::vector{out.error().message};
  };
  EXPECT_THAT(packed({"logs"}), ElementsAre("logs/1", "logs/2"));
  EXPECT_THAT(packed({"out/deep/y", "a.csv"}), ElementsAre("a.csv", "out/deep/y"));
  EXPECT_THAT(packed({"out/deep/y", "out/x"}), ElementsAre("out/deep/y", "out/x"));
  EXPECT_THAT(packed({"out/deep", "out"}), ElementsAre("out/deep/y", "out/deep/z", "out/x"));
  EXPECT_THAT(packed({"*.csv", "out/*/z"}), ElementsAre("a.csv", "out/deep/z"));
  EXPECT_THAT(packed({"nothing"}), ElementsAre());
  EXPECT_THAT(pack(w.in, *w.store, {.only = {"logs"}})->warnings,
              ElementsAre(HasSubstr("logs/passwd")));
}

TEST(Folder, SizeIsKnownAndBoundedBeforeAnyWork) {
  TwoFolders w;
  spill(w.in / "a", testing::noise(700));
  spill(w.in / "b/c", testing::noise(500));
  const auto planned = plan(w.in);
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned->total_bytes, 1'200u);
  EXPECT_THAT(paths(planned->entries), ElementsAre("a", "b/c"));
  const auto packed = pack(w.in, *w.store, {.most_bytes = 1'000});
  ASSERT_FALSE(packed);
  EXPECT_EQ(packed.error().code, base::Code::too_large);
  EXPECT_THAT(packed.error().message, HasSubstr("1200 bytes; at most 1000"));
  EXPECT_EQ(w.store->count(), 0u);
}

TEST(Folder, MoreThanAManifestCanListIsRefusedBeforeItIsHashed) {
  TwoFolders w;
  spill(w.in / "sparse", "");
  fs::resize_file(w.in / "sparse", std::uintmax_t{1} << 40);
  const auto planned = plan(w.in);
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().code, base::Code::too_large);
  EXPECT_THAT(planned.error().message, HasSubstr("1 files of 1099511627776 bytes"));
}

TEST(Folder, ALinkOutOfTheFolderIsRefusedByName) {
  for (const auto* target : {"/etc/passwd", "../secret", "b/../../x"}) {
    TwoFolders w;
    fs::create_symlink(target, w.in / "leak");
    const auto packed = pack(w.in, *w.store);
    ASSERT_FALSE(packed) << target;
    EXPECT_EQ(packed.error().code, base::Code::invalid);
    EXPECT_THAT(packed.error().message, HasSubstr("'leak'"));
    EXPECT_THAT(packed.error().hint, HasSubstr(".soukignore"));
  }
}

TEST(Folder, PipesAreSkippedWithAWarningInsteadOfWaitedFor) {
  TwoFolders w;
  ASSERT_EQ(::mkfifo((w.in / "pipe").c_str(), 0600), 0);
  const auto packed = pack(w.in, *w.store);
  ASSERT_TRUE(packed);
  EXPECT_TRUE(packed->manifest.entries.empty());
  ASSERT_EQ(packed->warnings.size(), 1u);
  EXPECT_THAT(packed->warnings[0], HasSubstr("in/pipe: it is a pipe"));
}

TEST(Folder, AFileThatChangesWhileReadIsNamedInsteadOfPackedTorn) {
  for (const bool shrink : {false, true}) {
    TwoFolders w;
    spill(w.in / "log", testing::noise(kChunkBytes + 10));
    const auto packed = pack(w.in, *w.store, {.on_progress = [&](const Progress& p) {
                               if (p.bytes_done > kChunkBytes) return;
                               if (shrink) fs::resize_file(w.in / "log", kChunkBytes);
                               if (!shrink) std::ofstream(w.in / "log", std::ios::app) << "more";
                             }});
    ASSERT_FALSE(packed);
    EXPECT_EQ(packed.error().code, base::Code::conflict);
    EXPECT_THAT(packed.error().message, HasSubstr("in/log changed"));
  }
}

TEST(Folder, AFileThatBecomesALinkWhilePackingIsNotFollowed) {
  TwoFolders w;
  spill(w.folder / "secret", "key");
  spill(w.in / "a", "a");
  spill(w.in / "b", "b");
  const auto packed = pack(w.in, *w.store, {.on_progress = [&](const Progress&) {
                             fs::remove(w.in / "b");
                             fs::create_symlink("../secret", w.in / "b");
                           }});
  ASSERT_FALSE(packed);
  EXPECT_THAT(packed.error().message, HasSubstr("in/b"));
  EXPECT_FALSE(w.store->has(name_of("key")));
}

TEST(Folder, AStoreTooSmallForTheFolderSaysSoAndKeepsWhatIsPinned) {
  TwoFolders w;
  for (int i = 0; i < 5; ++i) spill(w.in / std::to_string(i), testing::noise(999, i));
  const auto store = *Store::open(w.folder / "small", {.max_bytes = 3'000});
  const auto packed = pack(w.in, *store);
  ASSERT_FALSE(packed);
  EXPECT_EQ(packed.error().code, base::Code::exhausted);
}

TEST(Folder, NoManifestWritesOutsideTheTarget) {
  const TwoFolders w;
  ASSERT_TRUE(w.store->add("x"));
  const Manifest attacks[] = {
      {{file("../x")}},
      {{file(w.folder / "escaped")}},
      {{link("a", ".."), file("a/x")}},
      {{link("a", "b"), file("a/x")}},
      {{link("a", "/etc")}},
      {{link("a", "a/../../x")}},
      {{file("a"), file("a")}},
  };
  const auto before = testing::files_below(w.folder.path());
  for (const auto& manifest : attacks) {
    const auto unpacked = unpack(manifest, *w.store, w.out);
    ASSERT_FALSE(unpacked) << manifest.entries.front().path;
    EXPECT_EQ(unpacked.error().code, base::Code::invalid);
    EXPECT_FALSE(fs::exists(w.out));
    EXPECT_EQ(testing::files_below(w.folder.path()), before);
  }
}

TEST(Folder, ATargetThatIsALinkOrNotEmptyIsRefused) {
  TwoFolders w;
  ASSERT_TRUE(w.store->add("x"));
  const Manifest manifest{{file("d/x")}};
  fs::create_directory(w.folder / "elsewhere");
  fs::create_symlink(w.folder / "elsewhere", w.out);
  EXPECT_FALSE(unpack(manifest, *w.store, w.out));
  EXPECT_FALSE(unpack(manifest, *w.store, w.out.string() + "/"));
  fs::remove(w.out);
  fs::create_directory(w.out);
  fs::create_symlink(w.folder / "elsewhere", w.out / "d");
  const auto unpacked = unpack(manifest, *w.store, w.out);
  ASSERT_FALSE(unpacked);
  EXPECT_EQ(unpacked.error().code, base::Code::conflict);
  EXPECT_TRUE(fs::is_empty(w.folder / "elsewhere"));
}

// A job of another user on the same machine, racing us.
TEST(Folder, ALinkPlantedWhileUnpackingIsNotFollowed) {
  for (const auto* planted : {"b", "d"}) {
    TwoFolders w;
    ASSERT_TRUE(w.store->add("x"));
    fs::create_directory(w.folder / "elsewhere");
    const Manifest manifest{{file("a"), file("b"), file("d/x")}};
    ASSERT_TRUE(check(manifest));
    bool first = true;
    const auto unpacked = unpack(manifest, *w.store, w.out, [&](const Progress&) {
      if (std::exchange(first, false)) fs::create_symlink(w.folder / "elsewhere", w.out / planted);
    });
    ASSERT_FALSE(unpacked) << planted;
    EXPECT_EQ(unpacked.error().code, base::Code::conflict);
    EXPECT_THAT(unpacked.error().message, HasSubstr(std::string("out/") + planted));
    EXPECT_TRUE(fs::is_empty(w.folder / "elsewhere"));
  }
}

TEST(Folder, AFolderSwappedForALinkBeforeLinksAreMadeIsNotFollowed) {
  TwoFolders w;
  ASSERT_TRUE(w.store->add("x"));
  fs::create_directory(w.folder / "elsewhere");
  const Manifest manifest{{file("d/x"), link("d/y", "x"), file("z")}};
  const auto unpacked = unpack(manifest, *w.store, w.out, [&](const Progress& p) {
    if (p.bytes_done < p.bytes_total) return;
    fs::remove_all(w.out / "d");
    fs::create_symlink(w.folder / "elsewhere", w.out / "d");
  });
  ASSERT_FALSE(unpacked);
  EXPECT_TRUE(fs::is_empty(w.folder / "elsewhere"));
}

TEST(Folder, AMissingDamagedOrShortChunkIsAnErrorNotABadFile) {
  TwoFolders w;
  const Manifest manifest{{file("a")}};
  const auto missing = unpack(manifest, *w.store, w.out);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, base::Code::not_found);
  auto wrong = manifest;
  wrong.entries[0].chunks[0] = w.store->add("longer")->name;
  const auto sized = unpack(wrong, *w.store, w.folder / "out2");
  ASSERT_FALSE(sized);
  EXPECT_EQ(sized.error().code, base::Code::damaged);
}

TEST(Folder, WhatDoesNotExistIsNamed) {
  TwoFolders w;
  const auto packed = pack(w.folder / "nothing", *w.store);
  ASSERT_FALSE(packed);
  EXPECT_EQ(packed.error().code, base::Code::not_found);
  EXPECT_THAT(packed.error().message, HasSubstr("nothing"));
}

// A file that claims `size` bytes of one chunk of zeros.
Manifest claiming(Store& store, std::uint64_t size) {
  const auto zeros = store.add(std::string(kChunkBytes, '\0'))->name;
  return {{{.path = "zeros", .size = size, .chunks = std::vector(size / kChunkBytes, zeros)}}};
}

TEST(Folder, AFileThatClaimsHalfATerabyteIsRefusedBeforeItIsRead) {
  TwoFolders w;
  const auto bomb = claiming(*w.store, 131'000 * kChunkBytes);
  const auto read = read_file(bomb, "zeros", *w.store, 1 << 30);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, base::Code::too_large);
  EXPECT_THAT(read.error().message, HasSubstr("512 GiB"));
}

TEST(Folder, AFileHasTheSizeThatItClaimsOrIsDamaged) {
  TwoFolders w;
  auto file = claiming(*w.store, 2 * kChunkBytes);
  EXPECT_EQ(read_file(file, "zeros", *w.store, 1 << 30)->size(), 2 * kChunkBytes);
  file.entries[0].size = 2 * kChunkBytes - 1;
  EXPECT_EQ(read_file(file, "zeros", *w.store, 1 << 30).error().code, base::Code::damaged);
  file.entries[0].size = 3 * kChunkBytes;
  EXPECT_EQ(read_file(file, "zeros", *w.store, 1 << 30).error().code, base::Code::damaged);
}

}  // namespace
}  // namespace souk::blob
