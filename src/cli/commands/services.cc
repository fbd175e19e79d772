#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/commands/job_flags.h"
#include "cli/commands/upload.h"
#include "cli/shell/config.h"
#include "cli/shell/human.h"
#include "cli/shell/table.h"
#include "job/job_file.h"
#include "job/service/service.h"
#include "job/train/training_file.h"
#include "job/train/training_work.h"
#include "wire/api/service.h"

// Programs and models that answer requests at addresses of the market.

namespace souk::cli {
namespace {

constexpr std::int32_t kPort = 8080;

Result<> list_services(Context& c) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto body, api->get("/v1/services"));
  SOUK_ASSIGN(const auto* target, c.target());
  return c.show<wire::ServiceList>(body, [&](const wire::ServiceList& all) {
    if (all.items.empty())
      return c.print("no services: souk examples service, or souk serve-model JOB\n");
    using enum Column::Align;
    Table table({{"address", left, 12},
                 {"job"},
                 {"callers"},
                 {"model", left, 6},
                 {"workers", right},
                 {"in work", right},
                 {"waiting", right}});
    for (const auto& s : all.items)
      table.add({fmt::format("{}/v1/services/{}/", target->server, s.name), to_string(s.job),
                 std::string(to_string(s.callers)), s.model.value_or("-"),
                 std::to_string(s.workers), std::to_string(s.in_work), std::to_string(s.queued)});
    c.print(table);
  });
}

struct ServeModel : OneJob {
  std::optional<std::string> name, model, slot_class;
  JobFlags flags;
  std::optional<base::Credits> request;
  bool members = false;
};

// What the machines must have, as for training it.
void add_demands(const wire::Job& trained, wire::NewJob& job) {
  job.constraints = trained.constraints;
  std::erase_if(job.constraints.packages, [](const std::string& p) { return p.starts_with('@'); });
}

Result<job::JobFile> draft_service(Context& c, const ServeModel& o, const wire::Job& trained) {
  job::JobFile file;
  auto& job = file.job;
  job.kind = "service";
  job.name = o.name.value_or(fmt::format("model-{}", to_string(o.id)));
  job.class_ = o.slot_class.value_or(trained.class_);
  job.workers = o.flags.workers.value_or(wire::Workers{1, 1});
  job.limit = o.flags.limit;
  job.budget = o.flags.budget.value_or(base::Credits());
  job.deadline = o.flags.deadline;
  job.per_request = o.request;
  add_demands(trained, job);
  auto& work = job.batch.emplace();
  const bool writes = job::has_transformers_trainer(*trained.batch);
  work.run = fmt::format("exec python3 -m souk.model_server {} model --port {}{}",
                         writes ? "transformers" : "native", kPort, writes ? " --base base" : "");
  work.env["PYTHONPATH"] = "/work/sdk";
  work.env["PYTHONSAFEPATH"] = "1";
  if (!writes) work.env[job::kTrainerVariable] = job::kOfTheLender;
  work.retry = {.on = {wire::RetryOn::lost, wire::RetryOn::failed}, .max = 100};
  work.environment = trained.batch->environment;
  work.service =
      wire::BatchService{.name = job.name,
                         .port = kPort,
                         .health = "/health",
                         .callers = o.members ? wire::Callers::members : wire::Callers::owner,
                         .model = o.model.value_or(writes ? job.name : "")};
  SOUK_ASSIGN(const auto sdk, sdk_folder(c.env()));
  file.inputs.push_back({.path = "sdk", .source = sdk});
  file.inputs.push_back({.path = "model", .blob = *trained.result});
  if (writes) {
    const auto base =
        std::ranges::find(trained.batch->inputs, job::kModelInput, &wire::BatchInput::path);
    if (base != trained.batch->inputs.end())
      file.inputs.push_back({.path = "base", .blob = base->blob});
  }
  return file;
}

Result<> serve_model(Context& c, const ServeModel& o) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto trained, parsed<wire::Job>(api->get(o.path())));
  if (!trained.result || !trained.batch || !trained.batch->train)
    return failed(fmt::format("job {} has no model: it is {} and of kind {}", to_string(o.id),
                              to_string(trained.state), trained.kind),
                  "name a training that has ended");
  if (!job::has_native_trainer(*trained.batch) && !job::has_transformers_trainer(*trained.batch))
    return failed("models of scripts are served by scripts",
                  "kind: service runs your own program: souk examples service");
  SOUK_ASSIGN(auto file, draft_service(c, o, trained));
  if (file.job.budget == base::Credits())
    return usage("a service needs a budget", "for example --budget 5");
  SOUK_ASSIGN(const auto files, JobFiles::pack(c, file));
  SOUK_TRY(files.send(c));
  SOUK_ASSIGN(const auto body, api->post("/v1/jobs", wire::to_json(file.job)));
  SOUK_ASSIGN(const auto* target, c.target());
  return c.show<wire::Job>(body, [&](const wire::Job& made) {
    const auto& service = *file.job.batch->service;
    c.print(fmt::format("submitted {}: {}/v1/services/{}/predict\n", to_string(made.id),
                        target->server, service.name));
    if (!service.model.empty())
      c.print(fmt::format("as in OpenAI's API: {}/v1/chat/completions with model {}\n",
                          target->server, service.model));
    c.print(fmt::format("next: souk services, souk logs {0} -f, souk cancel {0}\n",
                        to_string(made.id)));
  });
}

}  // namespace

Command services_command() {
  Command out{.name = "services",
              .summary = "programs that answer requests at addresses of the market",
              .examples = {"services", "examples service > service.yaml"}};
  out.run = [](Context& c) { return list_services(c); };
  return out;
}

Command serve_model_command() {
  auto o = std::make_shared<ServeModel>();
  Command out{.name = "serve-model",
              .summary = "let a trained model answer requests on leased machines",
              .examples = {"serve-model j7 --budget 5", "serve-model j7 --workers 1..4 --members"}};
  out.options = {
      job_argument(*o, "the id of a training that has ended"),
      flag("--name NAME", "in its address; default model-JOB", o->name),
      flag("--model NAME", "what clients of OpenAI's API call it; default its name", o->model),
      flag("--workers N", "one to so many machines: 1..4; default 1", o->flags.workers),
      flag("--class CLASS", "of its machines; default that of the training", o->slot_class),
      flag("--price PRICE", "the most to pay per slot-hour", o->flags.limit),
      flag("--request PRICE", "what a lender gets for each request, too", o->request),
      flag("--budget CREDITS", "the most to pay in all", o->flags.budget),
      flag("--deadline TIME", "until when: 8h, or a time", o->flags.deadline),
      flag("--members", "every member of the market may call it, not only you", o->members)};
  out.details =
      "Models of `trainer: torch` answer POST .../predict with one sample a line, as `souk "
      "predict` "
      "does; language models of souk.transformers also answer /v1/chat/completions and "
      "/v1/completions. docs/services.md.";
  out.run = [o](Context& c) -> Result<> {
    SOUK_TRY(o->find(c));
    return serve_model(c, *o);
  };
  return out;
}

}  // namespace souk::cli
