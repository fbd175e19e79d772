#include "agent/probe/environments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "agent/environment.h"
#include "agent/probe/environment_packages.h"
#include "blob/testing/samples.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;
using blob::testing::Folder;
using blob::testing::spill;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

struct Shelf {
  Folder folder;

  fs::path install(const fs::path& site, const std::string& package) const {
    const auto info = site / (package + ".dist-info");
    spill(info / "METADATA", "Name: whatever it says is not read\n");
    return info;
  }
  // As python3 -m venv makes them, on a Python below `base`.
  fs::path venv(const std::string& name, const fs::path& base) const {
    const auto path = folder / name;
    spill(path / "pyvenv.cfg",
          "home = " + (base / "bin").string() +
              "\ninclude-system-site-packages = false\nversion_info = 3.12.8.final.0\n");
    fs::create_directories(path / "bin");
    fs::create_directories(path / "lib/python3.12/site-packages");
    return path;
  }
  fs::path python(const std::string& name) const {
    const auto path = folder / name;
    spill(path / "lib/python3.12/os.py", "");
    spill(path / "bin/python3.12", "");
    return path;
  }
};

TEST(Environments, AVirtualEnvironmentIsShownWithThePythonThatItLinksTo) {
  const Shelf shelf;
  const auto base = shelf.python("home/uv/cpython-3.12.8");
  const auto minor = shelf.folder / "home/uv/cpython-3.12";
  fs::create_directory_symlink(base, minor);
  const auto venv = shelf.venv("torch/.venv", minor);
  fs::create_symlink(minor / "bin/python3.12", venv / "bin/python");
  fs::create_symlink("python", venv / "bin/python3");
  const auto site = venv / "lib/python3.12/site-packages";
  shelf.install(site, "torch-2.4.0+cu124");
  shelf.install(site, "nvidia_cuda_runtime_cu12-12.4.127");
  const auto mine = shelf.install(site, "mine-0.1");
  spill(mine / "direct_url.json", R"({"dir_info": {"editable": true}, "url": "file:///home/me"})");

  const auto found = read_environment(venv.string());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->name, "torch");
  EXPECT_EQ(found->kind, EnvironmentKind::venv);
  EXPECT_THAT(found->listed(),
              ElementsAre("python==3.12.8", "cuda==12.4.127", "nvidia_cuda_runtime_cu12==12.4.127",
                          "torch==2.4.0+cu124"));
  EXPECT_THAT(found->shown, ElementsAre(venv.string(), minor.string(), base.string()));
}

TEST(Environments, ACondaPrefixHasThePackagesThatAreNotPythonsToo) {
  const Shelf shelf;
  const auto path = shelf.folder / "conda";
  spill(path / "conda-meta/python-3.11.9-h955ad1f_0_cpython.json", "");
  spill(path / "conda-meta/ffmpeg-7.1-h12_0.json", "");
  spill(path / "conda-meta/cuda-version-12.4-h3_3.json", "");
  spill(path / "conda-meta/history", "");
  const auto site = path / "lib/python3.11/site-packages";
  shelf.install(site, "torch-2.3.1");
  spill(site / "torch/version.py", "debug = False\ncuda: Optional[str] = '12.1'\nhip = None\n");
  const auto found = read_environment("gpu=" + path.string());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->name, "gpu");
  EXPECT_EQ(found->kind, EnvironmentKind::conda);
  EXPECT_THAT(found->listed(), ElementsAre("python==3.11.9", "cuda==12.1", "torch==2.3.1",
                                           "cuda-version==12.4", "ffmpeg==7.1"));
}

TEST(Environments, AFolderOfPackagesNeedsNoPython) {
  const Shelf shelf;
  shelf.install(shelf.folder / "site", "einops-0.8.0");
  const auto found = read_environment((shelf.folder / "site").string());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->importable);
  EXPECT_THAT(found->listed(), ElementsAre("einops==0.8.0"));
  Program program{.env = {{"PYTHONPATH", "/work/mine"}}};
  enter_lent(*found, program);
  EXPECT_EQ(program.env["PYTHONPATH"], "/work/mine:" + found->path);
  EXPECT_TRUE(program.env["PATH"].starts_with(found->path + "/bin:"));
}

TEST(Environments, WhatWouldShowStrangersMoreIsRefused) {
  const Shelf shelf;
  const auto refused = [](const std::string& given) {
    const auto found = read_environment(given);
    return found ? std::string("accepted") : found.error().message;
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refused("/"), HasSubstr("not only an environment"));
  EXPECT_THAT(refused("/etc/ssl"), HasSubstr("folders of their own"));
  EXPECT_THAT(refused("/proc/self"), HasSubstr("folders of their own"));
  EXPECT_THAT(refused(shelf.folder / "absent"), HasSubstr("is not there"));
  EXPECT_THAT(refused(shelf.folder.path()), HasSubstr("is no environment"));
  EXPECT_THAT(refused("a b=/opt/x"), HasSubstr("cannot be the name"));
  EXPECT_THAT(refused(""), HasSubstr("without a path"));
  // A Python that is not there, and a link to somebody's programs that is called python3.
  EXPECT_THAT(refused(shelf.venv("old", shelf.folder / "gone")), HasSubstr("is not there"));
  const auto venv = shelf.venv("wrong", "/usr");
  spill(shelf.folder / "private/bin/tool", "");
  fs::create_symlink(shelf.folder / "private/bin/tool", venv / "bin/python3");
  EXPECT_THAT(refused(venv), HasSubstr("is not there"));
}

TEST(Environments, FilesOfPackagesAreNotBelieved) {
  const Shelf shelf;
  const auto site = shelf.folder / "site";
  const auto huge = shelf.install(site, "huge-1.0");
  fs::resize_file(huge / "METADATA", std::uintmax_t{1} << 36);
  ASSERT_EQ(::mkfifo((huge / "direct_url.json").c_str(), 0600), 0);
  fs::create_directories(site / "torch");
  fs::create_symlink("/dev/zero", site / "torch/version.py");
  fs::create_directories(site / "left-1.0.dist-info");  // Somebody removed the rest.
  shelf.install(site, "two words-1.0");
  shelf.install(site, std::string(150, 'x') + "-1.0");
  shelf.install(site, "-1.0");
  spill(site / "old-2.0-py3.11.egg-info", "");
  const auto found = read_environment(site.string());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->listed(), ElementsAre("huge==1.0", "old==2.0"));
  EXPECT_EQ(small_file("/dev/zero"), "");
}

TEST(Environments, ALeaseGetsTheFirstThatHasAllOfIt) {
  const std::vector<LentEnvironment> lent{
      {.name = "old", .python = "3.11.2", .packages = {{"torch", "1.13.1"}, {"numpy", "1.26"}}},
      {.name = "new", .python = "3.12.3", .packages = {{"torch", "2.4.0"}}}};
  const auto chosen = [&](std::vector<std::string> demands) {
    const auto* found = choose_environment(lent, demands);
    return found == nullptr ? "none" : found->name;
  };
  EXPECT_EQ(chosen({}), "old");
  EXPECT_EQ(chosen({"torch>=2"}), "new");
  EXPECT_EQ(chosen({"torch", "numpy"}), "old");
  EXPECT_EQ(chosen({"torch>=2", "numpy"}), "none") << "two environments are not one";
  EXPECT_EQ(chosen({"python>=3.12,<3.13"}), "new");
}

TEST(Environments, AreFoundWherePeopleHaveThem) {
  const Shelf shelf;
  const auto active = shelf.venv("active", "/usr");
  shelf.venv("home/.venv", "/usr");
  shelf.venv("opt/torch/.venv", "/usr");
  spill(shelf.folder / "home/miniconda3/conda-meta/history", "");
  spill(shelf.folder / "home/venv/unrelated", "");
  std::vector<std::string> paths;
  for (const auto& e : find_environments({.virtual_env = active.string(),
                                          .conda_prefix = active.string(),
                                          .home = shelf.folder / "home",
                                          .here = shelf.folder / "home",
                                          .opt = shelf.folder / "opt"}))
    paths.push_back(fs::path(e.path).lexically_relative(shelf.folder.path()));
  EXPECT_THAT(paths, ElementsAre("active", "home/.venv", "home/miniconda3", "opt/torch/.venv"));
}

}  // namespace
}  // namespace souk::agent
