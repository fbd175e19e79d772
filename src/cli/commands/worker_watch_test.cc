#include "cli/commands/worker_watch.h"

#include <gtest/gtest.h>

namespace souk::cli {
namespace {

TEST(WorkerWatch, ALossIsToldWithItsReasonAndAGoodEndIsNot) {
  using enum base::LeaseOutcome;
  wire::Lease lease{.id = base::LeaseId(4), .machine = base::MachineId(1)};
  EXPECT_EQ(loss_text(lease), "");
  lease.outcome = lost;
  lease.detail = "the machine fell silent";
  lease.part = 0;
  EXPECT_EQ(loss_text(lease), "worker 0 on m1 is lost: the machine fell silent");
  lease.outcome = unstarted;
  lease.detail = "no space\x1b[2J";
  lease.part.reset();
  EXPECT_EQ(loss_text(lease), "a worker on m1 did not start: no space?[2J");
  for (const auto outcome : {completed, released, term, job}) {
    lease.outcome = outcome;
    EXPECT_EQ(loss_text(lease), "");
  }
}

}  // namespace
}  // namespace souk::cli
