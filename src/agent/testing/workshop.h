#pragma once

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <string>

#include "agent/runner.h"
#include "agent/sandbox/bare.h"
#include "agent/testing/fake_market.h"
#include "agent/testing/fake_sandbox.h"
#include "base/check.h"
#include "base/clock.h"
#include "blob/testing/samples.h"

namespace souk::agent::testing {

// What a machine's leases share, with a market, a clock and programs that the test plays.
struct FakeWorkshop {
  FakeMarket market;
  base::FakeClock clock{base::Time(1'800'000'000'000'000)};
  blob::testing::Folder folder;
  FakeSandbox* sandbox = nullptr;  // Owned by `shop`.
  Workshop shop;

  FakeWorkshop() {
    auto owned = std::make_unique<FakeSandbox>();
    sandbox = owned.get();
    shop.link = market.link();
    shop.folder = folder.path();
    shop.store = *blob::Store::open(folder / "store");
    shop.trees = *Trees::open(folder / "trees", std::int64_t{1} << 30);
    shop.sandboxes["fake"] = std::move(owned);
    shop.sandbox = "fake";
    shop.grace = base::seconds(20);
    shop.clock = &clock;
    shop.tell = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      told_ += line + "\n";
    };
  }

  // From now on programs run, as the tests' own user.
  void use_real_programs() {
    shop.sandboxes["none"] = make_bare();
    shop.sandbox = "none";
  }
  // What the lender has read.
  [[nodiscard]] std::string told() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }
  // Of the last report of the lease's end; "no report" before.
  [[nodiscard]] std::string finish(std::string_view what, std::string_view lease = "l1") const {
    const auto reports = market.bodies(fmt::format("POST /v1/leases/{}/finish", lease));
    return reports.empty() ? "no report" : field(reports.back(), what);
  }

 private:
  mutable std::mutex mutex_;
  std::string told_;
};

}  // namespace souk::agent::testing
