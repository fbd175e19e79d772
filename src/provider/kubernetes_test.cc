#include "provider/kubernetes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/json.h"

namespace souk::provider {
namespace {

using ::testing::HasSubstr;

// Answers as the API of 1.29 documents them, shortened. No API server has answered here.
class KubernetesTest : public ::testing::Test {
 protected:
  Kubernetes kubernetes() {
    return Kubernetes({.server = "https://10.0.0.1:6443",
                       .namespace_ = "souk",
                       .image = "registry/souk:1",
                       .cores = 4,
                       .memory_mib = 6000,
                       .gpus = 1,
                       .node_selector = {{"pool", "gpu"}},
                       .lifetime = base::hours(1)},
                      {"ann-1", "k8s", ""}, [this](const HttpCall& call) -> Result<HttpAnswer> {
                        calls_.push_back(call);
                        if (answers_.empty())
                          return base::fail(base::Code::unavailable, "no answer");
                        auto out = answers_.front();
                        if (answers_.size() > 1) answers_.erase(answers_.begin());
                        return out;
                      });
  }
  static StartRequest request() {
    return {.name = {"ann-1", "k8s", "00aa"},
            .join = {.server = "https://market", .token = "souk_x", .flags = {"--class", "g1"}}};
  }
  std::vector<HttpCall> calls_;
  std::vector<HttpAnswer> answers_;
};

TEST_F(KubernetesTest, APodAsksForWhatItLendsAndEndsByItself) {
  const auto pod = wire::parse(kubernetes().pod(request()));
  ASSERT_TRUE(pod);
  const auto& spec = pod->at("spec");
  EXPECT_EQ(spec.at("activeDeadlineSeconds").to_number<int>(), 3600);
  EXPECT_EQ(spec.at("restartPolicy").as_string(), "Never");
  EXPECT_FALSE(spec.at("automountServiceAccountToken").as_bool());
  EXPECT_EQ(spec.at("nodeSelector").at("pool").as_string(), "gpu");
  const auto& amounts = spec.at("containers").at(0).at("resources");
  EXPECT_EQ(amounts.at("limits"), amounts.at("requests"));
  EXPECT_EQ(amounts.at("limits").at("cpu").as_string(), "4");
  EXPECT_EQ(amounts.at("limits").at("memory").as_string(), "6000Mi");
  EXPECT_EQ(amounts.at("limits").at("nvidia.com/gpu").as_string(), "1");
  EXPECT_EQ(pod->at("metadata").at("labels").at("souk-intent").as_string(), "00aa");
}

TEST_F(KubernetesTest, ATryThatWasHeardBeforeIsThePodItMade) {
  answers_ = {{500, "{}"}, {409, R"({"reason":"AlreadyExists"})"}};
  auto k = kubernetes();
  EXPECT_EQ(k.start(request()), "souk-00aa");
  EXPECT_EQ(calls_.size(), 2u);
}

TEST_F(KubernetesTest, AQuotaIsToBeWaitedForAndAMissingRightIsNot) {
  auto k = kubernetes();
  answers_ = {
      {403, R"({"message":"pods \"x\" is forbidden: exceeded quota: q, requested: pods=1"})"}};
  EXPECT_EQ(k.start(request()).error().code, base::Code::exhausted);
  answers_ = {{403, R"({"message":"pods is forbidden: User \"x\" cannot create resource"})"}};
  EXPECT_EQ(k.start(request()).error().code, base::Code::forbidden);
  answers_ = {{429, "{}"}};
  EXPECT_EQ(k.start(request()).error().code, base::Code::exhausted);
  answers_ = {};
  EXPECT_EQ(k.start(request()).error().code, base::Code::unavailable);
}

TEST_F(KubernetesTest, EvictedPodsHaveEndedAndAllPagesAreRead) {
  answers_ = {
      {200, R"({"metadata":{"continue":"next"},"items":[{"metadata":{"name":"souk-1",
        "labels":{"souk-intent":"1"}},"status":{"phase":"Running"}}]})"},
      {200, R"({"metadata":{},"items":[{"metadata":{"name":"souk-2","labels":{"souk-intent":"2"}},
        "status":{"phase":"Failed","reason":"Evicted","message":"The node was low on memory."}},
        {"metadata":{"name":"souk-3","labels":{"souk-intent":"3"}},"status":{}}]})"}};
  auto k = kubernetes();
  const auto listed = k.list({});
  ASSERT_TRUE(listed) << listed.error().message;
  ASSERT_EQ(listed->size(), 3u);
  EXPECT_EQ(listed->at(0).state, MachineState::running);
  EXPECT_EQ(listed->at(1).detail, "Evicted: The node was low on memory.");
  EXPECT_EQ(listed->at(2).state, MachineState::pending);
  EXPECT_THAT(calls_.at(0).url, HasSubstr("labelSelector=souk-owner%3Dann-1%2Csouk-pool%3Dk8s"));
  EXPECT_THAT(calls_.at(1).url, HasSubstr("continue=next"));
}

TEST_F(KubernetesTest, AnAnswerThatCannotBeReadIsNotAnEmptyListing) {
  auto k = kubernetes();
  for (const auto& answer : {HttpAnswer{200, "{}"}, HttpAnswer{503, ""}, HttpAnswer{403, "{}"}}) {
    answers_ = {answer};
    EXPECT_EQ(k.list({}).error().code, base::Code::unavailable);
  }
}

TEST_F(KubernetesTest, APodThatIsGoneCanBeStopped) {
  auto k = kubernetes();
  answers_ = {{404, "{}"}};
  EXPECT_TRUE(k.stop("souk-1", true));
  EXPECT_THAT(calls_.back().body, HasSubstr(R"("gracePeriodSeconds":1)"));
  EXPECT_TRUE(k.stop("souk-1", false));
  EXPECT_THAT(calls_.back().body, HasSubstr(R"("gracePeriodSeconds":60)"));
}

}  // namespace
}  // namespace souk::provider
