#pragma once

#include <string>

#include "wire/api/batch.h"
#include "wire/api/lease.h"
#include "wire/api/training.h"

namespace souk::agent::testing {

// Leases as a machine gets them.
inline wire::Lease lease(std::uint64_t number, base::LeaseState state = base::LeaseState::granted) {
  wire::Lease out;
  out.id = base::LeaseId(number);
  out.job = base::JobId(number);
  out.offer = base::OfferId(1);
  out.machine = base::MachineId(1);
  out.borrower = "bob";
  out.epoch = 7;
  out.state = state;
  return out;
}

inline wire::Lease batch_lease(std::string run, wire::Batch more = {}, std::uint64_t number = 1) {
  auto out = lease(number);
  more.run = std::move(run);
  out.task = wire::BatchAssignment{.job_name = "test", .batch = std::move(more), .memory_mib = 64};
  return out;
}

inline wire::Lease training_lease(std::string codec = "fp32") {
  auto out = batch_lease("trainer");
  out.task->kind = "train";
  out.task->batch.train = wire::Train{.trainer = wire::Trainer::python, .codec = std::move(codec)};
  return out;
}

}  // namespace souk::agent::testing
