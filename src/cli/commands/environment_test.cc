#include "cli/commands/environment.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/lend/lend_environments.h"
#include "market/limits.h"

namespace souk::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kLock =
    "python-dateutil==2.9.0 \\\n    --hash=sha256:37dd \\\n    --hash=sha256:a8b2\n"
    "six==1.17.0 ; python_version >= '3.8' \\\n    --hash=sha256:4721\n"
    "Tzdata==2025.2 \\\n    --hash=sha256:1a40\n";

TEST(OwnEnvironment, WhatTheLenderHasIsLeftOutOfTheLock) {
  EXPECT_THAT(names_in_lock(kLock), ElementsAre("python-dateutil", "six", "tzdata"));
  EXPECT_EQ(lock_without(kLock, {"six"}),
            "python-dateutil==2.9.0 \\\n    --hash=sha256:37dd \\\n    --hash=sha256:a8b2\n"
            "Tzdata==2025.2 \\\n    --hash=sha256:1a40\n");
  EXPECT_EQ(lock_without(kLock, {}), kLock);
  EXPECT_THAT(names_in_lock("# a remark\n--index-url x\n\n"), ElementsAre());
}

TEST(OwnEnvironment, ItsProgramsRunWithThePythonOfTheLender) {
  EXPECT_EQ(with_any_python("#!/home/me/bin/python3.11 -E\nimport x\n"),
            "#!/usr/bin/env python3\nimport x\n");
  for (const auto* same : {"#!/bin/sh\n", "#!/usr/bin/env python\n",
                           "\x7f"
                           "ELF",
                           ""})
    EXPECT_EQ(with_any_python(same), same);
}

TEST(OwnEnvironment, WheelsAreReadFromALock) {
  const std::string lock =
      "lock-version = \"1.0\"\n\n[[packages]]\nname = \"idna\"\nversion = \"3.20\"\n"
      "sdist = { url = \"https://f/idna.tar.gz\", hashes = { sha256 = \"00\" } }\n"
      "wheels = [{ url = \"https://f/idna.whl\", size = 71, hashes = { sha256 = \"ab\" } }]\n"
      "\n[[packages]]\nname = \"six\"\nwheels = [\n"
      "    { url = \"https://f/six.whl\", hashes = { sha256 = \"cd\" } },\n"
      "    { url = \"https://f/six2.whl\", size = 9, hashes = { sha256 = \"ef\" } },\n]\n";
  const auto wheels = wheels_in(lock);
  ASSERT_TRUE(wheels) << wheels.error().message;
  ASSERT_EQ(wheels->size(), 2U);
  EXPECT_EQ(wheels->at(0).url, "https://f/idna.whl");
  EXPECT_EQ(wheels->at(0).sha256, "ab");
  EXPECT_EQ(wheels->at(0).size, 71);
  EXPECT_EQ(wheels->at(1).url, "https://f/six.whl");
  EXPECT_FALSE(wheels->at(1).size);
  const auto none =
      wheels_in("[[packages]]\nname = \"old\"\nsdist = { url = \"https://f/old.tar.gz\" }\n");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("old has no wheel"));
}

agent::LentEnvironment of(std::string name, std::size_t packages) {
  agent::LentEnvironment out{.name = std::move(name), .python = "3.12.1"};
  for (std::size_t i = 0; i < packages; ++i) out.packages.push_back({fmt::format("p{}", i), "1.0"});
  return out;
}

TEST(LentEnvironment, TheMarketHearsOfAsMuchAsItTakes) {
  agent::Machine machine;
  machine.pythons.push_back({.version = "3.11.2", .packages = {{"numpy", "1.24"}}});
  wire::MachineSpec spec{.packages = {"@internet"}};
  EXPECT_EQ(list_packages(machine, {of("a", 2)}, spec).size(), 1u);
  EXPECT_THAT(spec.packages, ElementsAre("@internet", "python==3.11.2", "numpy==1.24"));
  ASSERT_EQ(spec.environments.size(), 1u);
  EXPECT_THAT(spec.environments[0].packages, ElementsAre("python==3.12.1", "p0==1.0", "p1==1.0"));

  spec = {.packages = {"@internet"}};
  const auto notes = list_packages(machine, {of("a", 600), of("b", 600)}, spec);
  EXPECT_THAT(notes, ::testing::Contains(HasSubstr("does not hear of 203 packages of "
                                                   "environment b")));
  std::size_t count = spec.packages.size();
  for (const auto& e : spec.environments) count += e.packages.size();
  EXPECT_EQ(count, market::kPackagesMax);
}

}  // namespace
}  // namespace souk::cli
