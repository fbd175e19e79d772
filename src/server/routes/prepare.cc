#include "wire/prepare.h"

#include "job/train/training_file.h"
#include "server/http/router.h"
#include "server/routes/samples.h"
#include "server/routes/views.h"
#include "train/aggregators/aggregator.h"
#include "train/codecs/codec.h"

// From a job file to a job, for browsers, and what they offer to write into one.

namespace souk::server {
namespace {

template <class List, class Make>
std::vector<wire::Choice> choices(const List& list, Make make) {
  std::vector<wire::Choice> out;
  for (const auto& item : list) out.push_back(make(item));
  return out;
}

wire::TrainingChoices training_choices() {
  const auto plain = [](const auto& item) {
    return wire::Choice{std::string(item.name), std::string(item.what)};
  };
  return {.models = choices(job::models(), plain),
          .data = choices(job::built_in_data(), plain),
          .rules = choices(train::rules(), plain),
          .codecs = choices(train::codecs(), plain)};
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
             "Models, data, rules and codecs that a training can name", Access::user,
             [](Context&) -> Result<wire::TrainingChoices> { return training_choices(); });
}

}  // namespace souk::server
