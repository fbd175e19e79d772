#include "wire/api/prepare.h"

#include "job/train/training_file.h"
#include "lab/report/choices.h"
#include "server/http/router.h"
#include "server/routes/samples.h"
#include "server/routes/views.h"

// From a job file to a job, for browsers, and what they offer to write into one.

namespace souk::server {
namespace {

template <class Table>
std::vector<wire::Choice> choices(const Table& table) {
  std::vector<wire::Choice> out;
  for (const auto& item : table)
    out.push_back({.name = std::string(item.name), .summary = std::string(item.what)});
  return out;
}

wire::TrainingChoices training_choices() {
  auto out = lab::training_choices();
  out.models = choices(job::models());
  out.data = choices(job::built_in_data());
  return out;
}

struct PrepareRequest {
  wire::JobDraft draft;
  Prepare::Asker asker;
};

Result<PrepareRequest> prepare_request(Context& c, wire::JobDraft draft) {
  const auto& s = c.state();
  Prepare::Asker asker{.account = view(s, s.accounts.at(c.actor.account))};
  for (const auto& k : s.classes) asker.classes.push_back(view(s, k, c.server().clock.now()));
  return PrepareRequest{std::move(draft), std::move(asker)};
}

Result<wire::PreparedJob> prepare_job(PoolContext& p, const PrepareRequest& request) {
  return p.prepare().job(request.draft, request.asker);
}

}  // namespace

void add_prepare_routes(Routes& routes) {
  auto& prepare = routes.on_preparers<wire::JobDraft>(
      "POST", "/v1/jobs/prepare", "prepareJob",
      "A job file as a job that can be planned and submitted: what it names is put on the server. "
      "Changes nothing in the market",
      Access::user, &prepare_request, &prepare_job);
  prepare.doc.idempotency_key = false;  // It may be asked again.
  routes.get("/v1/samples", "listSamples", "Job files to begin with", Access::user,
             [](Context&) -> Result<wire::Samples> { return samples(); });
  routes.get("/v1/training/choices", "listTrainingChoices",
             "Models, data, aggregators, codecs and validators that a training can name",
             Access::user,
             [](Context&) -> Result<wire::TrainingChoices> { return training_choices(); });
}

}  // namespace souk::server
