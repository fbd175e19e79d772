#pragma once

#include <set>
#include <string>

#include "cli/shell/context.h"
#include "wire/api/job.h"
#include "wire/api/lease.h"

namespace souk::cli {

// Says on the terminal what became of workers that a job lost.
class WorkerWatch {
 public:
  Result<> step(Context& c, const wire::Job& job);

 private:
  std::set<base::LeaseId> known_;
};

// "worker 0 on m1 is lost: the machine fell silent". Empty: there is nothing to tell.
std::string loss_text(const wire::Lease& lease);

}  // namespace souk::cli
