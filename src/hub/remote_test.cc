#include "hub/remote.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/port.h"
#include "hub/service.h"
#include "hub/testing/names.h"
#include "hub/ticket.h"
#include "net/client.h"
#include "net/tls.h"
#include "train/testing/updates.h"

namespace souk::hub {
namespace {

using base::Code;
using ::testing::HasSubstr;
using testing::kSecret;

std::unique_ptr<Service> service(std::optional<net::ServerTls> tls = {}) {
  auto started = Service::start({.store = "memory", .secret = kSecret, .tls = std::move(tls)});
  CHECK(started.has_value());
  return *std::move(started);
}
HubAddress at(const Service& s) { return {fmt::format("http://127.0.0.1:{}", s.port())}; }
// Where nobody listens.
HubAddress nowhere() {
  static const base::testing::Port port;
  return {fmt::format("http://127.0.0.1:{}", port.number())};
}

class RemoteTest : public ::testing::Test {
 protected:
  std::unique_ptr<Remote> make(const std::vector<HubAddress>& hubs, std::string secret = kSecret) {
    auto made = Remote::make(hubs, std::move(secret), clock_);
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }
  // As the worker who was given the pass.
  static net::Response use(const wire::UnitHub& pass, std::string_view method,
                           const std::string& path, std::string_view body = {}) {
    auto client =
        net::Client::make({.base_url = pass.url, .pinned_sha256 = pass.pinned.value_or("")});
    auto answer = client->send(method, path, {{"Authorization", "Bearer " + pass.ticket}}, body);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? *std::move(answer) : net::Response{.status = 0};
  }
  static void begin(Service& hub, const std::vector<float>& values) {
    auto client = net::Client::make({.base_url = at(hub).url});
    const std::string_view body(reinterpret_cast<const char*>(values.data()),
                                values.size() * sizeof(float));
    ASSERT_EQ(client
                  ->send("PUT", "/v1/hub/j1/parameters?rule=downpour",
                         {{"Authorization", "Bearer " + kSecret}}, body)
                  ->status,
              200);
  }

  base::SystemClock now_;
  base::FakeClock clock_{now_.now()};
};

TEST_F(RemoteTest, AnUpdateGoesFromAWorkerIntoTheParameters) {
  const auto hub = service();
  begin(*hub, {0, 0});
  const auto remote = make({at(*hub)});
  const auto pass = remote->pass(0, "j1", "u1", clock_.now() + base::hours(1));
  const auto body = train::pack(std::vector<float>{3, 4}, train::testing::fp32(), {});
  EXPECT_EQ(use(pass, "PUT", "/v1/hub/j1/updates/u1?offset=0", body).status, 200);
  const Remote::Name name{0, "j1", "u1"};
  const auto measured = remote->measure(name, "fp32", 2);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_NEAR(measured->stats.norm, 5, 1e-4);
  const Remote::Fold fold{.id = 1, .codec = "fp32", .rule = {"downpour", {{"eta", 0.5}}}};
  EXPECT_EQ(remote->fold(name, fold), 1);
  EXPECT_EQ(use(pass, "GET", "/v1/hub/j1/parameters").status, 200);
  EXPECT_EQ(remote->measure(name, "fp32", 2).error().code, Code::not_found);
  EXPECT_TRUE(remote->drop(name));
  EXPECT_EQ(remote->choose(0), 0);  // A missing update does not speak against the hub.
  EXPECT_TRUE(remote->check().empty());
}

TEST_F(RemoteTest, ChoosesInTurnAndLeavesOutWhatFailedForAWhile) {
  const auto hub = service();
  const auto remote = make({at(*hub), nowhere()});
  EXPECT_EQ(remote->choose(4), 0);
  EXPECT_EQ(remote->choose(5), 1);
  EXPECT_EQ(remote->measure({1, "j1", "u"}, "fp32", 2).error().code, Code::unavailable);
  EXPECT_EQ(remote->choose(5), 0);
  clock_.advance(base::minutes(1));
  EXPECT_EQ(remote->choose(5), 1);
  EXPECT_FALSE(remote->drop({1, "j1", "u"}));
  EXPECT_FALSE(make({nowhere()})->check().empty());
}

TEST_F(RemoteTest, NoHubIsBetterThanOneThatFails) {
  const auto remote = make({nowhere()});
  EXPECT_FALSE(remote->drop({0, "j1", "u"}));
  EXPECT_FALSE(remote->choose(1));
}

TEST_F(RemoteTest, ASecretThatTheHubDoesNotKnowIsReported) {
  const auto hub = service();
  const auto wrong = make({at(*hub)}, "another secret of the test's")->check();
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_THAT(wrong[0].message, HasSubstr(at(*hub).url));
  EXPECT_THAT(wrong[0].message, HasSubstr("secret"));
  EXPECT_FALSE(Remote::make({at(*hub)}, "short", clock_));
}

TEST_F(RemoteTest, ACertificateOfItsOwnIsPinnedByMarketAndWorkers) {
  const std::vector<std::string> names{"127.0.0.1"};
  const auto made = *net::self_signed(names, 1);
  const auto hub = service(net::ServerTls{made.certificate_pem, made.key_pem});
  const auto url = fmt::format("https://127.0.0.1:{}", hub->port());
  EXPECT_FALSE(make({*parse_hub(url)})->check().empty());
  const auto address = parse_hub(url + "#" + *net::fingerprint(made.certificate_pem));
  ASSERT_TRUE(address) << address.error().message;
  const auto remote = make({*address});
  EXPECT_TRUE(remote->check().empty());
  const auto pass = remote->pass(0, "j1", "u1", clock_.now() + base::hours(1));
  EXPECT_EQ(use(pass, "PUT", "/v1/hub/j1/updates/u1", "x").status, 200);
}

TEST(ParseHub, ReadsAnAddressAndAPinAndRefusesTheRest) {
  EXPECT_EQ(parse_hub("http://127.0.0.1:7071/")->url, "http://127.0.0.1:7071");
  for (const auto* text : {"", "hub", "ftp://hub", "http://hub:1#00", "https://hub:1#zz"})
    EXPECT_FALSE(parse_hub(text)) << text;
}

}  // namespace
}  // namespace souk::hub
