#include "job/image.h"

#include <gtest/gtest.h>

#include "base/packages.h"

namespace souk::job {
namespace {

const std::string kDigest = "@sha256:" + std::string(64, 'a');

TEST(Image, NamesAreReadAsDockerReadsThem) {
  const std::tuple<std::string, std::string, std::string> rows[] = {
      {"python", "docker.io", "library/python"},
      {"python:3.12", "docker.io", "library/python"},
      {"team/x", "docker.io", "team/x"},
      {"docker.io/library/python", "docker.io", "library/python"},
      {"ghcr.io/a/b/c:v1.2", "ghcr.io", "a/b/c"},
      {"localhost:5000/x", "localhost:5000", "x"},
      {"127.0.0.1:5000/a_b/c-d.e", "127.0.0.1:5000", "a_b/c-d.e"}};
  for (const auto& [text, registry, repository] : rows) {
    const auto name = parse_image(text + kDigest);
    ASSERT_TRUE(name) << text << ": " << name.error().message;
    EXPECT_EQ(name->registry, registry);
    EXPECT_EQ(name->repository, repository);
    EXPECT_EQ(name->sha256, std::string(64, 'a'));
  }
  for (const auto* bad : {"a", "@sha256:1", "a@md5:1", "a@sha256:AA", "../a", "a//b", "A", "a/-b",
                          "x.y/", "x.y/..", "evil.example/a?b", "a b", ".x/a", "x.y:/a"}) {
    const auto with = std::string(bad).contains('@') ? bad : bad + kDigest;
    if (std::string(bad) == "a") continue;
    EXPECT_FALSE(parse_image(with)) << with;
  }
  EXPECT_FALSE(parse_image("a"));
  EXPECT_FALSE(parse_image(std::string(200, 'a') + kDigest));
}

TEST(Image, ALenderCoversWhatIsBelowWhatIsAllowed) {
  const auto image = *parse_image("docker.io/library/python" + kDigest);
  for (const auto* yes :
       {"docker.io", "https://docker.io/", "docker.io/library", "docker.io/library/python"}) {
    const auto registry = *parse_registry(yes);
    EXPECT_TRUE(allows(registry, image)) << yes;
    const std::vector<std::string> offer{"numpy", image_offer(registry)};
    EXPECT_TRUE(base::has_feature(offer, image_demand(image))) << yes;
  }
  for (const auto* no :
       {"docker.io/lib", "ghcr.io", "docker.io/library/python/x", "docker.io/library/pyth"}) {
    const auto registry = *parse_registry(no);
    EXPECT_FALSE(allows(registry, image)) << no;
    const std::vector<std::string> offer{image_offer(registry)};
    EXPECT_FALSE(base::has_feature(offer, image_demand(image))) << no;
  }
  EXPECT_TRUE(parse_registry("http://localhost:5000")->plain);
  for (const auto* bad : {"", "http://", "a b", "x/../y", "ftp://x", "X.io", "x.io//y"})
    EXPECT_FALSE(parse_registry(bad)) << bad;
}

}  // namespace
}  // namespace souk::job
