#include "server/proof/busy_machines.h"

#include <gtest/gtest.h>

#include <limits>

namespace souk::server {
namespace {

using base::milliseconds;
using base::minutes;
using base::seconds;
using base::Time;

constexpr base::MachineId kMachine(1), kOther(2);
constexpr auto kSilence = seconds(45);
const Time kNow(1'800'000'000'000'000);

TEST(BusyMachines, AMachineIsShownAsBusyAsLongAsItSaysSo) {
  BusyMachines busy;
  EXPECT_FALSE(busy.find(kMachine, kNow, kSilence));
  EXPECT_FALSE(busy.was_busy(kMachine));
  busy.set(kMachine, wire::BusyReport{1.9, 2, minutes(3), minutes(5)}, kNow);
  auto shown = busy.find(kMachine, kNow + seconds(1), kSilence);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->cores, 1.9);
  EXPECT_EQ(shown->of, 2);
  EXPECT_EQ(shown->since, kNow - minutes(3));
  EXPECT_EQ(shown->again, kNow + minutes(5));
  EXPECT_FALSE(busy.find(kOther, kNow, kSilence));

  // The second heartbeat came sooner after it was sent.
  busy.set(kMachine, wire::BusyReport{1.8, 2, minutes(3) + milliseconds(900), {}},
           kNow + seconds(1));
  shown = busy.find(kMachine, kNow + seconds(1), kSilence);
  EXPECT_EQ(shown->since, kNow - minutes(3)) << "it does not jump to and fro";
  EXPECT_FALSE(shown->again);
  EXPECT_FALSE(busy.find(kMachine, kNow + minutes(1), kSilence)) << "it has fallen silent";

  busy.set(kMachine, {}, kNow + seconds(2));
  EXPECT_FALSE(busy.find(kMachine, kNow + seconds(2), kSilence));
  EXPECT_TRUE(busy.was_busy(kMachine));
  busy.set(kMachine, wire::BusyReport{2, 2, seconds(1), {}}, kNow + minutes(9));
  EXPECT_EQ(busy.find(kMachine, kNow + minutes(9), kSilence)->since, kNow + minutes(9) - seconds(1))
      << "it was quiet between";
  busy.forget(kMachine);
  EXPECT_FALSE(busy.was_busy(kMachine));
}

TEST(BusyMachines, WhatALenderSendsIsBounded) {
  const auto refused = [](const wire::BusyReport& report) {
    const auto checked = BusyMachines::check(report);
    return checked ? "" : checked.error().field;
  };
  EXPECT_EQ(refused({2, 2, {}, minutes(10)}), "");
  EXPECT_EQ(refused({2.1, 2, {}, {}}), "busy.cores");
  EXPECT_EQ(refused({-0.1, 2, {}, {}}), "busy.cores");
  EXPECT_EQ(refused({std::numeric_limits<double>::quiet_NaN(), 2, {}, {}}), "busy.cores");
  EXPECT_EQ(refused({0, 0, {}, {}}), "busy.of");
  EXPECT_EQ(refused({0, 65'537, {}, {}}), "busy.of");
  EXPECT_EQ(refused({1, 2, seconds(-1), {}}), "busy.lasting") << "since a time to come";
  EXPECT_EQ(refused({1, 2, base::days(367), {}}), "busy.lasting");
  EXPECT_EQ(refused({1, 2, {}, minutes(11)}), "busy.put_off");
  EXPECT_EQ(refused({1, 2, {}, seconds(-1)}), "busy.put_off");
}

}  // namespace
}  // namespace souk::server
