#include "agent/image/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "agent/fetch/sha256.h"
#include "agent/image/images.h"
#include "agent/testing/scripted_server.h"
#include "agent/testing/tars.h"
#include "blob/testing/samples.h"

namespace souk::agent {
namespace {

using base::Code;
using blob::testing::Folder;
using blob::testing::slurp;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ScriptedServer;
using testing::Tar;

// A registry that has what the test puts there, and may lie about it.
class Registry : public ::testing::Test {
 protected:
  std::optional<net::Response> answer(const net::Request& request) {
    if (request.path == "/token") return net::Response{.body = R"({"token": "let-me-in"})"};
    if (!token_.empty() && request.header("Authorization") != "Bearer " + token_)
      return net::Response{
          .status = 401,
          .headers = {{"WWW-Authenticate", fmt::format("Bearer realm=\"{}/token\",service=\"s\","
                                                       "scope=\"repository:team/bb:pull\"",
                                                       server_.url())}}};
    if (request.path.starts_with("/elsewhere/")) {
      EXPECT_EQ(request.header("Authorization"), "") << "or a token would leak to other hosts";
      return net::Response{.body = blobs_[request.path.substr(11)]};
    }
    const auto digest = request.path.substr(request.path.find("sha256:") + 7);
    if (!blobs_.contains(digest)) return net::Response{.status = 404};
    if (!redirect_.empty() && request.path.contains("/blobs/"))
      return net::Response{.status = 307, .headers = {{"Location", redirect_ + digest}}};
    return net::Response{.body = blobs_[digest]};
  }

  std::string put(const std::string& content) {
    const auto digest = sha256_hex(content);
    blobs_[digest] = content;
    return digest;
  }
  static std::string blob(const std::string& digest, std::size_t size) {
    return fmt::format(R"({{"digest": "sha256:{}", "size": {}}})", digest, size);
  }
  // An image of one layer; its name.
  std::string image(const std::string& layer, const std::string& config) {
    layer_ = put(layer);
    config_ = put(config);
    const auto manifest = fmt::format(R"({{"schemaVersion": 2, "config": {}, "layers": [{}]}})",
                                      blob(config_, config.size()), blob(layer_, layer.size()));
    manifest_ = put(manifest);
    return name(manifest_);
  }
  [[nodiscard]] std::string name(const std::string& digest) const {
    return fmt::format("{}/team/bb@sha256:{}", server_.url().substr(7), digest);
  }
  std::unique_ptr<Trees> trees(std::int64_t bytes = 64 << 20) {
    return *Trees::open(folder_ / "trees", bytes);
  }
  base::Result<UnpackedImage> use(const std::string& image, Trees& trees) {
    Images images({*job::parse_registry(server_.url() + "/team")}, "x86_64", trees);
    return images.use(image, {});
  }
  Code refusal(const std::string& image) {
    const auto place = trees();
    const auto got = use(image, *place);
    EXPECT_FALSE(got);
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "trees")) << "nothing of it stays";
    return got ? Code::internal : got.error().code;
  }

  std::map<std::string, std::string> blobs_;
  std::string token_, redirect_, layer_, config_, manifest_;
  Folder folder_;
  ScriptedServer server_{[this](const net::Request& r) { return answer(r); }};
};

const std::string kConfig =
    R"({"architecture": "amd64", "config": {"Env": ["A=1", "=x", "B"], "Cmd": ["b"],
        "Entrypoint": ["/bin/a"], "WorkingDir": "/srv"}})";

TEST_F(Registry, AnImageIsPulledOnceWithATokenAndThroughARedirect) {
  ScriptedServer elsewhere([this](const net::Request& r) {
    EXPECT_EQ(r.header("Authorization"), "") << "a token is for its registry alone";
    return std::optional(net::Response{.body = blobs_[r.path.substr(1)]});
  });
  redirect_ = elsewhere.url() + "/";
  token_ = "let-me-in";
  const auto name = image(Tar().file("hello", "world").text(), kConfig);
  const auto place = trees();
  {
    const auto got = use(name, *place);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(slurp(got->root() + "/hello"), "world");
    EXPECT_THAT(got->config.env, ElementsAre("A=1"));
    EXPECT_EQ(got->config.workdir, "/srv");
    EXPECT_FALSE(std::filesystem::exists(got->tree.path() + "/layer"));
  }
  const auto asked = server_.asked().size();
  EXPECT_TRUE(use(name, *place));
  EXPECT_EQ(server_.asked().size(), asked) << "it is here";
  EXPECT_TRUE(place->names().empty()) << "the market knows nothing of images";
  // An agent that starts again knows it.
  EXPECT_TRUE(use(name, *trees()));
  EXPECT_EQ(server_.asked().size(), asked);
}

TEST_F(Registry, AListNamesTheImageOfTheMachine) {
  image(Tar().file("a", "").text(), kConfig);
  const auto entry = [&](const char* arch, const std::string& digest) {
    return fmt::format(
        R"({{"digest": "sha256:{}", "size": 1, "platform": {{"os": "linux", "architecture": "{}"}}}})",
        digest, arch);
  };
  const auto list =
      put(fmt::format(R"({{"manifests": [{}, {}]}})", entry("arm64", std::string(64, '0')),
                      entry("amd64", manifest_)));
  const auto place = trees();
  EXPECT_TRUE(use(name(list), *place));
  const auto arm = put(fmt::format(R"({{"manifests": [{}]}})", entry("arm64", manifest_)));
  const auto got = use(name(arm), *place);
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, HasSubstr("nothing for linux on x86_64"));
  const auto loop = put(fmt::format(R"({{"manifests": [{}]}})", entry("amd64", list)));
  EXPECT_FALSE(use(name(loop), *place));
}

TEST_F(Registry, WhatHasAnotherDigestOrSizeIsNotUsed) {
  const auto good = image(Tar().file("a", "b").text(), kConfig);
  const auto keep = blobs_;
  for (const auto& which : {manifest_, config_, layer_}) {
    blobs_ = keep;
    blobs_[which].back() ^= 1;
    EXPECT_EQ(refusal(good), Code::damaged) << which;
  }
  blobs_ = keep;
  blobs_[layer_] += "more";
  EXPECT_EQ(refusal(good), Code::damaged) << "longer than promised";
  blobs_ = keep;
  blobs_.erase(layer_);
  EXPECT_EQ(refusal(good), Code::not_found);
  for (const auto* text : {"[]", "{", R"({"config": 1, "layers": []})",
                           R"({"config": {"digest": "md5:1", "size": 1}, "layers": []})",
                           R"({"config": {"digest": "sha256:../../x", "size": 1}, "layers": []})"})
    EXPECT_EQ(refusal(name(put(text))), Code::invalid) << text;
  blobs_ = keep;
  EXPECT_TRUE(use(good, *trees()));
}

TEST_F(Registry, OnlyAllowedRegistriesAreAskedAndOnlyForWhatFits) {
  const auto good = image(std::string(100'000, 'x'), kConfig);
  const auto place = trees();
  Images other({*job::parse_registry(server_.url() + "/other")}, "x86_64", *place);
  const auto refused = other.use(good, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::forbidden);
  EXPECT_TRUE(server_.asked().empty());
  const auto small = trees(50'000);
  const auto large = use(good, *small);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, Code::too_large);
  EXPECT_TRUE(server_.asked(fmt::format("GET /v2/team/bb/blobs/sha256:{}", layer_)).empty());
}

TEST_F(Registry, ARegistryWithTlsLeadsNobodyToOneWithout) {
  image(Tar().file("a", "b").text(), kConfig);
  redirect_ = "ftp://elsewhere/";
  EXPECT_NE(refusal(name(manifest_)), Code::internal);
  redirect_ = "http://user:pass@127.0.0.1/";
  EXPECT_NE(refusal(name(manifest_)), Code::internal);
  redirect_ = server_.url() + "/v2/team/bb/blobs/sha256:";  // Round and round.
  EXPECT_NE(refusal(name(manifest_)), Code::internal);
}

TEST(RegistryWords, AChallengeSaysWhereTokensAre) {
  EXPECT_EQ(token_address("Bearer realm=\"https://a.b/t\",service=\"r.x\",scope=\"no\"", "team/x"),
            "https://a.b/t?service=r.x&scope=repository%3Ateam%2Fx%3Apull");
  EXPECT_EQ(token_address("bearer service=\"s\", realm=\"https://a/t?x=1\"", "y"),
            "https://a/t?x=1&service=s&scope=repository%3Ay%3Apull");
  for (const auto* other : {"Basic realm=\"x\"", "Bearer", "", "Bearer realm=x", "Bearer realm=\""})
    EXPECT_EQ(token_address(other, "y"), "") << other;
}

TEST(EnterImage, TheJobsCommandWinsAndTheImagesProgramRunsWithoutOne) {
  Folder folder;
  const auto trees = *Trees::open(folder / "trees", 1 << 20);
  auto tree = trees->use("image-x", [](const auto&, const auto&) { return base::Result<>(); });
  UnpackedImage image{*std::move(tree), {{"PATH=/opt/bin", "A=1"}, {"/bin/a"}, {"b", "c"}, "/srv"}};
  Program program;
  program.env["A"] = "mine";
  ASSERT_TRUE(enter_image(image, {.run = "true"}, program));
  EXPECT_EQ(program.env["PATH"], "/opt/bin");
  EXPECT_EQ(program.env["A"], "mine");
  EXPECT_EQ(program.workdir, "/work");
  EXPECT_TRUE(program.argv.empty());
  ASSERT_TRUE(enter_image(image, {}, program));
  EXPECT_THAT(program.argv, ElementsAre("/bin/a", "b", "c"));
  EXPECT_EQ(program.workdir, "/srv");
  ASSERT_TRUE(enter_image(image, {.setup = "x"}, program));
  EXPECT_THAT(program.argv,
              ElementsAre("/bin/sh", "-c", HasSubstr("exec \"$@\""), "sh", "/bin/a", "b", "c"));
  image.config = {};
  EXPECT_FALSE(enter_image(image, {}, program));
}

TEST(EnterImage, TheMachinesDriverComesAlong) {
  Folder folder;
  blob::testing::spill(folder / "lib/libcuda.so.550", "");
  std::filesystem::create_symlink("libcuda.so.550", folder / "lib/libcuda.so.1");
  Program program;
  program.env["LD_LIBRARY_PATH"] = "/opt/lib";
  const std::vector<std::string> folders{folder / "none", folder / "lib"};
  add_gpu_driver(program, folders);
  ASSERT_EQ(program.inputs.size(), 1U);
  EXPECT_EQ(program.inputs[0].to, "/work/.nvidia/libcuda.so.1");
  EXPECT_THAT(program.inputs[0].from, HasSubstr("/libcuda.so.550"));
  EXPECT_EQ(program.env["LD_LIBRARY_PATH"], "/opt/lib:/work/.nvidia");
  Program plain;
  add_gpu_driver(plain, std::vector<std::string>{folder / "none"});
  EXPECT_TRUE(plain.env.empty());
}

}  // namespace
}  // namespace souk::agent
