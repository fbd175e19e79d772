#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/market.h"

// A machine that is not proved because other programs use it: everybody who wants it learns so.

namespace souk::server {
namespace {

using testing::Fair;
using ::testing::HasSubstr;

Options proving() {
  auto out = testing::in_memory();
  out.challenge_every = base::hours(6);
  return out;
}

constexpr std::string_view kBusy =
    R"({"leases":[],"busy":{"cores":1.9,"of":2,"lasting":"3m","put_off":"5m"}})";

TEST(BusyMachine, IsNamedToItsLenderAndToWhoWantsIt) {
  Fair f(proving());
  const auto beat = "/v1/machines/" + f.box + "/heartbeat";
  const auto offer = f.offer(f.agent, f.box);
  const auto job = f.job(f.borrower);
  const auto orders = f.must("POST", beat, f.agent, kBusy);
  EXPECT_EQ(orders.at("unproved"), "true");
  EXPECT_EQ(orders.at("heartbeat_every"), "1s");
  EXPECT_EQ(orders.at("challenge"), "") << "it has put it off";

  const auto machine = f.get("/v1/machines/" + f.box, f.lender.token);
  EXPECT_EQ(machine.at("busy.cores"), "1.9");
  EXPECT_EQ(machine.at("busy.of"), "2");
  EXPECT_NE(machine.at("busy.since"), "");
  EXPECT_NE(machine.at("busy.again"), "");
  EXPECT_EQ(f.get("/v1/machines", f.lender.token).at("items.0.busy.of"), "2");
  EXPECT_EQ(f.get("/v1/offers/" + offer, f.borrower.token).at("busy.of"), "2");
  const auto offers = f.get("/v1/offers?where=class%3Dc1", f.borrower.token);
  EXPECT_EQ(offers.at("items.0.state"), "doubted");
  EXPECT_EQ(offers.at("items.0.busy.cores"), "1.9");

  const auto why = f.get("/v1/jobs/" + job + "/why", f.borrower.token);
  EXPECT_THAT(why.at("summary"),
              HasSubstr("none match: a machine that would do is not yet proved"));
  EXPECT_EQ(why.at("unproved.0.machine"), f.box);
  EXPECT_EQ(why.at("unproved.0.name"), "box");
  EXPECT_EQ(why.at("unproved.0.busy.cores"), "1.9");

  f.must("POST", beat, f.agent, R"({"leases":[]})");
  EXPECT_EQ(f.get("/v1/machines/" + f.box, f.lender.token).at("busy.of"), "");
  EXPECT_EQ(f.get("/v1/jobs/" + job + "/why", f.borrower.token).at("unproved.0.busy.of"), "");
}

TEST(BusyMachine, IsNotAskedBeforeItsTimeAndThenIs) {
  Fair f(proving());
  const auto beat = "/v1/machines/" + f.box + "/heartbeat";
  // The questions are prepared meanwhile, in a second or so.
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(f.must("POST", beat, f.agent, kBusy).at("challenge.id"), "");
  const auto asked = [&] {
    return f.must("POST", beat, f.agent,
                  R"({"leases":[],"busy":{"cores":2,"of":2,"lasting":"9m"}})")
               .at("challenge.id") != "";
  };
  EXPECT_TRUE(testing::eventually(asked)) << "it is willing, busy or not";
}

TEST(BusyMachine, WhatItSaysIsChecked) {
  Fair f(proving());
  const auto beat = "/v1/machines/" + f.box + "/heartbeat";
  const auto a =
      f.call("POST", beat, f.agent, R"({"leases":[],"busy":{"cores":3,"of":2,"lasting":"1s"}})");
  EXPECT_EQ(a.status, 400);
  EXPECT_EQ(a.at("field"), "busy.cores");
  EXPECT_EQ(f.get("/v1/machines/" + f.box, f.lender.token).at("busy.of"), "");
}

// At a market that asks for no proofs all machines lend, and nothing is to be explained.
TEST(BusyMachine, ThatLendsIsNotShownAsBusy) {
  Fair f;
  const auto orders = f.must("POST", "/v1/machines/" + f.box + "/heartbeat", f.agent, kBusy);
  EXPECT_EQ(orders.at("unproved"), "");
  EXPECT_EQ(f.get("/v1/machines/" + f.box, f.lender.token).at("busy.of"), "");
}

}  // namespace
}  // namespace souk::server
