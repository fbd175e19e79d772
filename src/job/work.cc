#include "job/work.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/packages.h"
#include "job/kinds.h"
#include "job/program.h"
#include "wire/api_json.h"

namespace souk::job {

base::Result<market::SubmitJob> command_for(const wire::NewJob& job) {
  SOUK_ASSIGN(const auto* kind, kind_named(job.kind));
  if (!job.also_classes.empty() && !kind->may_move())
    return base::fail(base::Code::invalid,
                      fmt::format("{} slot classes for a job of kind '{}'",
                                  job.also_classes.size() + 1, kind->name),
                      fmt::format("name one class; only jobs of kind {} can move between classes",
                                  kind_names([](const Kind& k) { return k.may_move(); })),
                      "also_classes");
  return market::SubmitJob{.name = job.name, .kind = job.kind, .pay = kind->pay};
}

base::Result<> add_work(const wire::NewJob& job, market::SubmitJob& command) {
  SOUK_ASSIGN(const auto* kind, kind_named(job.kind));
  SOUK_TRY(kind->check(job));
  if (!job.batch) return {};
  const auto& work = *job.batch;
  const auto on = [&](wire::RetryOn what) {
    return std::ranges::find(work.retry.on, what) != work.retry.on.end();
  };
  command.retry = {
      .lost = on(wire::RetryOn::lost), .failed = on(wire::RetryOn::failed), .max = work.retry.max};
  auto& packages = command.terms.constraints.packages;
  for (auto& demand : program_demands(work)) packages.push_back(std::move(demand));
  if (kind->demands != nullptr)
    for (const auto demand : kind->demands(work)) packages.emplace_back(demand);
  command.replicate = work.replicate.value_or(1);
  command.work = wire::to_json(work);
  return {};
}

std::vector<std::string> blobs_of(std::string_view kind, const wire::Batch& work) {
  auto out = program_blobs(work);
  if (const auto* known = find_kind(kind); known != nullptr && known->blobs != nullptr)
    for (auto& blob : known->blobs(work)) out.push_back(std::move(blob));
  return out;
}

wire::BatchAssignment task_of(const market::State& s, const market::Lease& l,
                              const wire::Batch& work) {
  const auto& job = s.jobs.at(l.job);
  const auto& slot_class = s.slot_class(l.slot_class);
  wire::BatchAssignment out{.job_name = job.name,
                            .kind = job.kind,
                            .index = l.part,
                            .workers = job.terms.workers.max,
                            .batch = work,
                            .cores = slot_class.cores,
                            .memory_mib = slot_class.memory_mib,
                            .gpus = slot_class.gpus};
  if (const auto* part = job.part(l.part)) {
    out.tries = part->tries;
    if (!part->checkpoint.empty()) out.checkpoint = part->checkpoint;
  }
  for (const auto& demand : job.terms.constraints.packages)
    if (!base::is_feature(demand)) out.packages.push_back(demand);
  return out;
}

base::Result<const Kind*> kind_of(const wire::BatchAssignment& task) {
  const auto* kind = find_kind(task.kind);
  if (kind == nullptr)
    return base::fail(
        base::Code::unavailable,
        fmt::format("this machine's souk knows no jobs of kind '{}'", task.kind.substr(0, 80)),
        "update souk on this machine");
  if (kind->trains && !task.batch.train)
    return base::fail(base::Code::invalid, "the task does not say what to train");
  return kind;
}

}  // namespace souk::job
