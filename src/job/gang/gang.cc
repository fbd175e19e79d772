#include "job/gang/gang.h"

#include <fmt/format.h>

#include "job/file_keys.h"
#include "job/packages.h"
#include "job/program.h"

namespace souk::job {
namespace {

// Workers of one gang. Each pair of them may talk.
constexpr std::int32_t kMostWorkers = 256;

struct GangKeys {
  std::optional<std::string> until;  // "all", or "worker-0".
  SOUK_FIELDS(GangKeys, until)
};

}  // namespace

std::span<const std::string_view> gang_keys() {
  static const auto keys = [] {
    std::vector<std::string_view> out(wire::field_names<ProgramKeys>.begin(),
                                      wire::field_names<ProgramKeys>.end());
    out.insert(out.end(), wire::field_names<GangKeys>.begin(), wire::field_names<GangKeys>.end());
    return out;
  }();
  return keys;
}

base::Result<> read_gang(const boost::json::object& file, const PathRules& rules, JobFile& out) {
  SOUK_ASSIGN(auto program, read_keys<ProgramKeys>(file));
  SOUK_ASSIGN(const auto keys, read_keys<GangKeys>(file));
  if (keys.until && *keys.until != "all" && *keys.until != "worker-0")
    return std::unexpected(at({base::Code::invalid, fmt::format("'{}'", *keys.until),
                               "use all (each worker runs to its end) or worker-0 (the others end "
                               "when it has)"},
                              "until"));
  SOUK_TRY(read_program(std::move(program), rules, out));
  out.job.batch->gang = wire::BatchGang{.led = keys.until == "worker-0"};
  return {};
}

Intent describe_gang(const JobFile& file) {
  return {"runs together", file.job.batch->run.substr(0, 100)};
}

base::Result<> check_gang(const wire::NewJob& job) {
  if (!job.batch || !job.batch->gang)
    return base::fail(base::Code::invalid, "a gang without work", "give batch, with batch.gang",
                      "batch");
  const auto& work = *job.batch;
  if (work.replicate.value_or(1) != 1)
    return base::fail(base::Code::invalid, "a gang with replicate",
                      "drop replicate: what a gang computes depends on all its machines",
                      "batch.replicate");
  if (job.workers.max > kMostWorkers)
    return base::fail(base::Code::invalid, fmt::format("{} workers", job.workers.max),
                      fmt::format("{} at most in one gang", kMostWorkers), "workers");
  SOUK_TRY(check_own_network(work));
  return check_program(work);
}

std::vector<std::string_view> gang_demands(const wire::Batch&) { return {kGangs}; }

}  // namespace souk::job
