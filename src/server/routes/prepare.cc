#include "wire/api/prepare.h"
#include "server/http/app_on_files.h"
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

}  // namespace

void App::serve_prepare(CallPtr call) {
  struct Seen {
    wire::JobDraft draft;
    Prepare::Asker asker;
  };
  on_pool(
      preparers_, std::move(call),
      [this](const market::State& s, const market::Actor& actor, Call& c) -> Result<Seen> {
        SOUK_ASSIGN(auto draft, wire::from_json<wire::JobDraft>(c.http.body));
        Prepare::Asker asker{.account = view(s, s.accounts.at(actor.account))};
        for (const auto& k : s.classes) asker.classes.push_back(view(s, k, clock_.now()));
        return Seen{std::move(draft), std::move(asker)};
      },
      [this](Call&, const Seen& seen) -> Result<net::Response> {
        SOUK_ASSIGN(const auto prepared, prepare_.job(seen.draft, seen.asker));
        return as_json(wire::to_json(prepared));
      });
}

void add_prepare_routes(Routes& routes) {
  auto& prepare = routes.special<wire::JobDraft, wire::PreparedJob>(
      "POST", "/v1/jobs/prepare", "prepareJob",
      "A job file as a job that can be planned and submitted: what it names is put on the server. "
      "Changes nothing in the market",
      Access::user, 200);
  prepare.doc.idempotency_key = false;  // It may be asked again.
  routes.get("/v1/samples", "listSamples", "Job files to begin with", Access::user,
             [](Context&) -> Result<wire::Samples> { return samples(); });
  routes.get("/v1/training/choices", "listTrainingChoices",
             "Models, data, rules and codecs that a training can name", Access::user,
             [](Context&) -> Result<wire::TrainingChoices> { return training_choices(); });
}

}  // namespace souk::server
