#include "base/packages.h"

#include <gtest/gtest.h>

#include <vector>

namespace souk::base {
namespace {

// In the order of PEP 440, section "Summary of permitted suffixes and relative ordering".
TEST(Versions, ComeInTheOrderThatPythonHas) {
  const std::vector<std::string_view> order{"1.0.dev456",
                                            "1.0a1",
                                            "1.0a2.dev456",
                                            "1.0a12.dev456",
                                            "1.0a12",
                                            "1.0b1.dev456",
                                            "1.0b2",
                                            "1.0rc1",
                                            "1.0",
                                            "1.0+cu118",
                                            "1.0.post456.dev34",
                                            "1.0.post456",
                                            "1.1.dev1",
                                            "1.9",
                                            "1.10",
                                            "2024.1",
                                            "1!0.1"};
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = 0; j < order.size(); ++j) {
      const int by = compare_versions(order[i], order[j]);
      EXPECT_EQ(by < 0, i < j) << order[i] << " " << order[j];
      EXPECT_EQ(by > 0, i > j) << order[i] << " " << order[j];
    }
  EXPECT_EQ(compare_versions("1.0", "1.0.0"), 0);
  EXPECT_EQ(compare_versions("v1.0-RC1", "1.0rc1"), 0);
  EXPECT_GT(compare_versions("nonsense", "99"), 0) << "what is no version comes last";
}

TEST(Demands, AreMetByTheVersionsThatTheyName) {
  struct Case {
    std::string_view version, demand;
    bool met;
  };
  const Case cases[] = {{"2.4.0", "torch", true},
                        {"2.4.0", "torch>=2.4", true},
                        {"1.13.1", "torch>=2.4", false},
                        {"2.11.0+cu128", "torch>=2.4", true},
                        {"2.4.0+cu124", "torch==2.4", true},
                        {"2.4.0", "torch==2.4.0+cu124", false},
                        {"2.4.1", "torch==2.4.*", true},
                        {"2.40", "torch==2.4.*", false},
                        {"2.4.1", "torch!=2.4.*", false},
                        {"2.4.9", "torch~=2.4.1", true},
                        {"2.5", "torch~=2.4.1", false},
                        {"3.11.2", "python>=3.11,<3.12", true},
                        {"3.12.0rc1", "python<3.12", false},
                        {"3.12.0", "python>=3.11,<3.12", false},
                        {"3.0.post1", "x>3.0", false},
                        {"3.1", "x>3.0", true},
                        {"1.0", "x===1.0", true},
                        {"1.0.0", "x===1.0", false},
                        {"2.4", "torch[all]>=2", true},
                        {"", "torch>=2", false},
                        {"", "torch", true},
                        {"2.4", "torch>=", false}};
  for (const auto& c : cases)
    EXPECT_EQ(version_meets(c.version, c.demand), c.met) << c.version << " " << c.demand;
}

TEST(Demands, FindAPackageHoweverItsNameIsSpelled) {
  const std::vector<std::string> installed{"Foo_Bar==1.2", "python3-torch", "numpy==1.24.2"};
  for (const auto* demand : {"foo-bar", "FOO.bar>=1", "python3-torch", "numpy==1.24.2", "numpy"})
    EXPECT_TRUE(has_package(installed, demand)) << demand;
  for (const auto* demand : {"foo", "foo-bar>=2", "numpy==1.24", "python3-torch>=1"})
    EXPECT_FALSE(has_package(installed, demand)) << demand;
  EXPECT_TRUE(same_package("a--b", "A_b"));
  EXPECT_FALSE(same_package("ab", "a-b"));
  EXPECT_EQ(normal_name("Foo..Bar"), "foo-bar");
  EXPECT_TRUE(has_packages(installed, std::vector<std::string>{"@internet", "numpy>=1"}))
      << "features are not installed";
}

TEST(Demands, AreToldInWords) {
  EXPECT_EQ(in_words(std::vector<std::string>{"numpy>=1", "@torch", "scipy", "@gpu:a100"}),
            "the built-in trainer (@torch), @gpu:a100, packages numpy>=1, scipy");
  EXPECT_EQ(in_words(std::vector<std::string>{}), "");
}

TEST(Demands, ThatCannotBeMetAreRefused) {
  for (const auto* good : {"torch", "torch>=2.4", "python>=3.11,<3.12", "a[b]>=1", "@internet"})
    EXPECT_TRUE(check_demand(good, "packages")) << good;
  for (const auto* bad : {">=2.4", "<3.12", "torch>=", "torch=2", "torch[x", "a>=1<2"}) {
    const auto refused = check_demand(bad, "packages");
    ASSERT_FALSE(refused) << bad;
    EXPECT_TRUE(refused.error().message.contains(bad)) << refused.error().message;
  }
}

}  // namespace
}  // namespace souk::base
