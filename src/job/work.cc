#include "job/work.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/packages.h"
#include "job/kinds.h"
#include "job/program.h"
#include "wire/json.h"

namespace souk::job {
namespace {

// What belongs to one kind alone.
base::Result<> check_of_other_kinds(const wire::Batch& work, const Kind& kind) {
  const std::initializer_list<std::tuple<std::string_view, bool, bool>> members{
      {"sweep", work.sweep.has_value(), kind.sweeps},
      {"train", work.train.has_value(), kind.trains || kind.sweeps},
      {"gang", work.gang.has_value(), kind.together},
      {"service", work.service.has_value(), kind.serves},
      {"session", work.session.has_value(), kind.attended}};
  for (const auto& [name, given, fits] : members)
    if (given && !fits)
      return base::fail(
          base::Code::invalid, fmt::format("a job of kind '{}' with a {}", kind.name, name),
          fmt::format("drop batch.{0}, or use kind {0}", name), fmt::format("batch.{}", name));
  return {};
}

}  // namespace

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
  if (job.per_request && !kind->serves)
    return base::fail(base::Code::invalid,
                      fmt::format("a job of kind '{}' answers no requests", kind->name),
                      "drop the price of a request, or use kind service", "per_request");
  if (!job.batch) return {};
  const auto& work = *job.batch;
  SOUK_TRY(check_of_other_kinds(work, *kind));
  const auto on = [&](wire::RetryOn what) {
    return std::ranges::find(work.retry.on, what) != work.retry.on.end();
  };
  command.retry = {
      .lost = on(wire::RetryOn::lost), .failed = on(wire::RetryOn::failed), .max = work.retry.max};
  auto& packages = command.terms.constraints.packages;
  for (auto& demand : demands_of(job.kind, work)) packages.push_back(std::move(demand));
  if (work.sweep)
    command.most_trials = std::min(work.sweep->parallel, work.sweep->trials);
  else
    command.replicate = work.replicate.value_or(1);
  command.gang = kind->together;
  command.led = work.gang && work.gang->led;
  command.volumes = work.volumes;
  command.per_request = job.per_request.value_or(base::Credits());
  if (kind->serves) command.planned = job.workers.min;  // It grows with what it has to do.
  command.work = wire::to_json(work);
  return {};
}

std::vector<std::string> demands_of(std::string_view kind, const wire::Batch& work) {
  auto out = program_demands(work);
  if (const auto* known = find_kind(kind); known != nullptr && known->demands != nullptr)
    for (const auto demand : known->demands(work)) out.emplace_back(demand);
  return out;
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
  if (market::is_gang(job)) {
    out.gang = wire::GangPlace{.world = job.held, .restarts = job.gang.restarts};
    // Usually worker 0 saves, and all go on from there.
    if (const auto* first = job.part(0);
        !out.checkpoint && first != nullptr && !first->checkpoint.empty())
      out.checkpoint = first->checkpoint;
  }
  for (const auto& name : work.volumes) {
    wire::VolumeContent volume{.name = name};
    if (const auto it = s.volumes.find(market::volume_key(job.owner, name)); it != s.volumes.end())
      volume.blob = it->second.blob;
    out.volumes.push_back(std::move(volume));
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
  if (kind->together && !task.gang)
    return base::fail(base::Code::invalid, "the task does not say how large its gang is");
  if ((kind->serves && !task.batch.service) || (kind->attended && !task.batch.session))
    return base::fail(base::Code::invalid, "the task does not say where its program listens");
  return kind;
}

}  // namespace souk::job
