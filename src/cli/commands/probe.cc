#include <fmt/format.h>

#include <memory>
#include <optional>

#include "blob/chunk.h"
#include "blob/folder.h"
#include "cli/commands/commands.h"
#include "cli/commands/job_flags.h"
#include "cli/commands/upload.h"
#include "cli/shell/human.h"
#include "cli/shell/session.h"
#include "cli/shell/table.h"
#include "job/job_file.h"
#include "job/kinds.h"

// `souk probe`: jobs whose result the operator knows. The market gives them to lenders at random,
// who cannot tell them from others.

namespace souk::cli {
namespace {

struct Add {
  std::string file;
  std::string expect;
  std::int32_t times = 20;
};

// The name of a result, or of a folder's files as an agent would send them.
Result<std::string> name_of_result(Context& c, const std::string& expect,
                                   const std::vector<std::string>& outputs) {
  if (const auto digest = blob::parse_digest(expect)) return to_string(*digest);
  SOUK_ASSIGN(const auto store, user_store(c));
  SOUK_ASSIGN(const auto packed, blob::pack(expect, *store, {.only = outputs}));
  if (packed.manifest.entries.empty())
    return failed(fmt::format("'{}' has none of the job's outputs", printable(expect)),
                  "name the folder that `souk results` made, or the name of a result");
  return to_string(packed.root);
}

Result<> add(Context& c, const Add& o) {
  SOUK_ASSIGN(auto file, job::load_job_file(o.file, c.now()));
  auto& job = file.job;
  if (job::trains(job.kind) || !job.batch || job.batch->outputs.empty())
    return failed(fmt::format("'{}' has no outputs that could be compared", o.file),
                  "a probe is a batch job: add outputs: with what it makes");
  job.workers = {1, o.times};
  job.batch->retry.on = {wire::RetryOn::lost, wire::RetryOn::failed};
  SOUK_ASSIGN(job.expect, name_of_result(c, o.expect, job.batch->outputs));
  if (job.budget == base::Credits())
    return failed(fmt::format("'{}' has no budget", o.file),
                  fmt::format("add price: {{limit: ..., budget: ...}} for {} uses", o.times));
  SOUK_ASSIGN(const auto files, JobFiles::pack(c, file));
  SOUK_TRY(files.send(c));
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto body, api->post("/v1/jobs", wire::to_json(job)));
  return c.show<wire::Job>(body, [&](const wire::Job& made) {
    c.print(fmt::format("added {}: {} uses, {} credits reserved, expects {}\n", to_string(made.id),
                        made.workers.max, brief(made.budget), printable(*job.expect)));
  });
}

Command add_probe_command() {
  auto o = std::make_shared<Add>();
  Command out{.name = "add",
              .summary = "a job file whose result is known",
              .examples = {"probe add job.yaml --expect results",
                           "probe add job.yaml --expect results --times 50"}};
  out.options = {
      argument("FILE", "a job file (YAML) with outputs, a limit and a budget", o->file),
      required(flag("--expect RESULT", "the name of the right result, or a folder with its files",
                    o->expect)),
      flag("--times N", "on this many machines, each of another owner; default 20", o->times)};
  out.details =
      "For operators. Each use is paid like any other job, from the account that adds it. Lenders "
      "see that account's name: use one that does not give it away. A machine that gives another "
      "result is not paid, loses reliability, and lends nothing until it has met a challenge. "
      "Nobody is blamed before a first machine has given the expected result. `souk settings set "
      "probes=0.01` says how often probes are used.";
  out.run = [o](Context& c) { return add(c, *o); };
  return out;
}

std::string uses_of(const wire::Job& job) {
  return fmt::format("{} of {}", job.done, job.workers.max);
}

Command list_probes_command() {
  Command out{.name = "list",
              .summary = "probes, how often they were used, and how often the result was wrong",
              .examples = {"probe list", "probe list --json"}};
  out.run = [](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    wire::Page<wire::Job> probes;
    std::string next;
    do {  // Page by page: other jobs may be many.
      std::vector<std::pair<std::string, std::string>> query{{"all", "true"}, {"limit", "200"}};
      if (!next.empty()) query.emplace_back("after", next);
      SOUK_ASSIGN(auto page,
                  parsed<wire::Page<wire::Job>>(api->get("/v1/jobs" + query_string(query))));
      for (auto& job : page.items)
        if (job.expect) probes.items.push_back(std::move(job));
      next = page.next.value_or("");
    } while (!next.empty());
    return c.show<wire::Page<wire::Job>>(wire::to_json(probes), [&](const auto& page) {
      if (page.items.empty())
        return c.print("no probes: souk probe add job.yaml --expect RESULT\n");
      using enum Column::Align;
      Table table({{"id"},
                   {"name", left, 8},
                   {"owner", left, 6, 1},
                   {"class"},
                   {"state"},
                   {"used", right},
                   {"wrong", right},
                   {"spent", right},
                   {"reason", left, 8, 2}});
      for (const auto& j : page.items)
        table.add({to_string(j.id), j.name, j.owner, j.class_, std::string(to_string(j.state)),
                   uses_of(j), std::to_string(j.wrong.value_or(0)), brief(j.spent), j.reason});
      c.print(table.render(c.out()));
    });
  };
  return out;
}

Command remove_probe_command() {
  auto id = std::make_shared<base::JobId>();
  Command out{.name = "remove",
              .summary = "use a probe no more; what is not spent comes back",
              .examples = {"probe remove j7"}};
  out.options = {argument("PROBE", "its id", *id)};
  out.run = [id](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->post(path_of("/v1/jobs", to_string(*id), "/cancel"),
                                           wire::to_json(wire::Cancel{"removed"})));
    return c.show<wire::Job>(
        body, [&](const wire::Job& j) { c.print(fmt::format("removed {}\n", to_string(j.id))); });
  };
  return out;
}

}  // namespace

Command probe_command() {
  Command out{.name = "probe",
              .summary = "operators: jobs with known results, which show who does the work",
              .examples = {"probe add job.yaml --expect results", "probe list"}};
  out.commands = {add_probe_command(), list_probes_command(), remove_probe_command()};
  return out;
}

}  // namespace souk::cli
