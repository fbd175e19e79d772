#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/shell/command.h"
#include "wire/api/job.h"
#include "wire/api/lease.h"

namespace souk::cli {

// What can be said of a job on the command line: for `submit` it goes over the file's word, for
// `edit` over what the job has now. The spellings are those that `souk why` suggests.
struct JobFlags {
  std::optional<wire::Workers> workers;
  std::optional<base::Credits> limit, budget;
  std::optional<base::Time> deadline;
  std::optional<std::int32_t> priority;
  std::optional<Names> packages, regions, lenders, refuse_lenders, providers, refuse_providers;
  std::optional<OrAny<std::int32_t>> max_rtt;
  std::optional<OrAny<double>> min_reliability;

  [[nodiscard]] bool constrains() const;
  void overlay(wire::Constraints& out) const;
};

std::vector<Option> job_flags(JobFlags& f);

// For commands about one job, which people name by its id or by its name.
struct OneJob {
  std::string named;
  base::JobId id;
  // Finds the job that was named: of those of that name the newest.
  Result<> find(Context& c);
  [[nodiscard]] std::string path(std::string_view suffix = {}) const {
    return path_of("/v1/jobs", to_string(id), suffix);
  }
};

Option job_argument(OneJob& job,
                    std::string help = "its id, or its name: then the newest of that name");

Command submit_command();
Command top_command();

// "0.5 spent, 0.1 accrued".
std::string spent_so_far(const wire::Job& job);
void show_job(Context& c, const wire::Job& job);
void show_leases(Context& c, const std::vector<wire::Lease>& leases);
// Follows the job until it ends or `timeout` (0: never) passes; an end other than success is an
// error.
Result<> wait_for(Context& c, base::JobId job, base::Duration timeout);

}  // namespace souk::cli
