#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <thread>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/job_flags.h"
#include "cli/commands/sweep.h"
#include "cli/commands/training_watch.h"
#include "cli/commands/worker_watch.h"
#include "cli/plan/plan_job.h"
#include "cli/shell/human.h"
#include "cli/shell/last_words.h"
#include "cli/shell/progress.h"
#include "cli/shell/session.h"
#include "job/kinds.h"
#include "wire/api/why.h"
#include "wire/json.h"

namespace souk::cli {

void show_leases(Context& c, const std::vector<wire::Lease>& leases) {
  using enum Column::Align;
  Table table({{"lease"},
               {"job", left, 0, 6},
               {"machine", left, 0, 4},
               {"lender", left, 6, 3},
               {"slots", right},
               {"price", right},
               {"state"},
               {"outcome", left, 6, 7},
               {"paid", right},
               {"term ends", right, 0, 5},
               {"granted", right, 0, 1},
               {"detail", left, 8, 2}});
  for (const auto& l : leases)
    table.add({to_string(l.id), to_string(l.job), to_string(l.machine), l.lender,
               std::to_string(l.slots), brief(l.price), state_cell(l.state),
               l.outcome ? word(*l.outcome) : Cell(""), brief(l.paid),
               l.ended ? "" : relative(l.until, c.now()), relative(l.granted, c.now()),
               l.detail.value_or(l.doing.value_or(""))});
  c.print(table);
}

// What has accrued is paid when it is accepted: till then it may come back.
std::string spent_so_far(const wire::Job& job) {
  const auto accrued = job.accrued.value_or(base::Credits());
  return fmt::format("{} spent{}", brief(job.spent),
                     accrued > base::Credits() ? fmt::format(", {} accrued", brief(accrued)) : "");
}

void show_job(Context& c, const wire::Job& j) {
  c.print(fmt::format("{} {} ({}) of {}: {}{}\n", to_string(j.id), printable(j.name), j.kind,
                      printable(j.owner),
                      paint(std::string(to_string(j.state)), tone_of(j.state), c.out()),
                      j.reason.empty() ? "" : ", " + printable(j.reason)));
  c.print(is_sweep(j) ? fmt::format("  workers   {} now, {} x {} for each trial\n", j.held,
                                    to_string(j.workers), printable(j.class_))
                      : fmt::format("  workers   {} of {} x {}, {} finished\n", j.held,
                                    to_string(j.workers), printable(j.class_), j.done));
  if (j.sweep) c.print(fmt::format("  trial of  {}\n", to_string(*j.sweep)));
  c.print(fmt::format("  price     at most {} per slot-hour\n", brief(j.limit)));
  // What has accrued is still in escrow.
  const auto accrued = j.accrued.value_or(base::Credits());
  const std::array parts{j.spent, accrued, j.escrow - accrued};
  const auto shown = briefs(parts);
  const bool whole = j.spent + j.escrow == j.budget;  // Else the rest has come back.
  c.print(fmt::format("  budget    {}: {} spent{}, {} in escrow{}\n",
                      whole ? shown.back() : brief(j.budget), shown[0],
                      j.accrued ? fmt::format(", {} accrued and not settled yet", shown[1]) : "",
                      shown[2], j.runway ? fmt::format(", lasts {}", rough(*j.runway)) : ""));
  if (j.low)
    c.print(paint("  warning   its escrow runs low: souk job edit --budget adds to it\n",
                  Tone::warning, c.out()));
  if (j.deadline) c.print(fmt::format("  deadline  {}\n", relative(*j.deadline, c.now())));
  show_forecast(c, j);
  if (!j.leases.empty()) show_leases(c, j.leases);
  if (j.state == base::JobState::queued)
    c.print(fmt::format("next: souk why {}\n", to_string(j.id)));
}

namespace {

// What a training came to, so far.
Result<> show_training(Context& c, const wire::Job& job) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(
      const auto training,
      parsed<wire::Training>(api->get(path_of("/v1/jobs", to_string(job.id), "/training"))));
  show_outcome(c, job, training);
  if (const auto found = measured(training); !found.empty())
    c.print(fmt::format("  measured  {}\n", found));
  if (const auto codecs = codecs_in_use(training); !codecs.empty())
    c.print(fmt::format("  codec     {}\n", codecs));
  if (const auto warning = unmeasured(training); !warning.empty())
    c.print(paint(fmt::format("  warning   {}\n", warning), Tone::warning, c.out()));
  return {};
}

}  // namespace

Result<> wait_for(Context& c, base::JobId id, base::Duration timeout) {
  SOUK_ASSIGN(auto* api, c.api());
  const auto path = path_of("/v1/jobs", to_string(id));
  const auto start = c.now();
  std::string last;
  std::optional<Progress> progress;
  TrainingWatch training;
  SweepWatch sweep;
  WorkerWatch workers;
  const LastWords on_interrupt(fmt::format(
      "\n{0} goes on, and is paid for. Follow it: souk job wait {0}. End it: souk cancel {0}\n",
      to_string(id)));
  for (auto pause = std::chrono::milliseconds(200);;) {
    SOUK_ASSIGN(const auto body, api->get(path));
    SOUK_ASSIGN(const auto job, parse_body<wire::Job>(body));
    const bool trains = job::trains(job.kind);
    const auto state = fmt::format("{} {}, {} of {} workers", to_string(id), to_string(job.state),
                                   job.held, to_string(job.workers));
    if (trains && job.ended) SOUK_TRY(training.step(c, job, progress));
    if (state != last && !c.json()) {
      progress.reset();
      c.note(fmt::format("{}, {}", state, spent_so_far(job)));
      const bool counted = trains || is_sweep(job);
      progress.emplace(state, counted ? "%" : "% of the budget", 100, c.err());
    }
    last = state;
    if (!c.json()) SOUK_TRY(workers.step(c, job));
    if (trains) pause = std::min(pause, std::chrono::milliseconds(1000));
    // What machines do before they run is not billed, but it takes its time.
    const auto busy = std::ranges::find_if(job.leases, [](const auto& l) {
      return l.state == base::LeaseState::granted && l.doing.has_value();
    });
    if (progress) progress->say(busy == job.leases.end() ? state : state + ", " + *busy->doing);
    if (trains && !job.ended) {
      SOUK_TRY(training.step(c, job, progress));
    } else if (is_sweep(job)) {
      SOUK_TRY(sweep.step(c, job, progress));
    } else if (progress && job.budget > base::Credits())
      progress->update(static_cast<std::uint64_t>(100.0 * static_cast<double>(job.spent.micro) /
                                                  static_cast<double>(job.budget.micro)));
    if (job.ended) {
      progress.reset();
      SOUK_TRY(c.show<wire::Job>(body, [&](const auto& j) { show_job(c, j); }));
      if (trains && !c.json()) SOUK_TRY(show_training(c, job));
      if (job.state == base::JobState::succeeded) return {};
      return failed(fmt::format("job {} {}: {}", to_string(id), to_string(job.state), job.reason));
    }
    if (timeout.us > 0 && c.now() - start > timeout)
      return failed(
          fmt::format("job {} is {} after {}", to_string(id), to_string(job.state), rough(timeout)),
          fmt::format("souk why {}", to_string(id)));
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 3 / 2, std::chrono::milliseconds(2000));
  }
}

namespace {

Result<> show_job(Context& c, const Result<std::string>& body) {
  if (!body) return std::unexpected(body.error());
  return c.show<wire::Job>(*body, [&](const auto& job) { show_job(c, job); });
}

Command show_job_command() {
  auto o = std::make_shared<OneJob>();
  Command out{
      .name = "show", .summary = "one job", .examples = {"job show j1", "job show j1 --json"}};
  out.options = {job_argument(*o)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_TRY(o->find(c));
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get(o->path()));
    SOUK_TRY(show_job(c, body));
    SOUK_ASSIGN(const auto job, parse_body<wire::Job>(body));
    if (!c.json() && is_sweep(job)) {
      SOUK_ASSIGN(const auto sweep, ask_sweep(c, job.id));
      c.print(fmt::format("  trials    {}\n", sweep_summary(sweep)));
      show_trials(c, sweep);
    }
    return c.json() || !job::trains(job.kind) ? Result<>() : show_training(c, job);
  };
  return out;
}

Command edit_job_command() {
  struct Options : OneJob {
    JobFlags flags;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "edit",
              .summary = "change what a job wants; what is not given stays",
              .examples = {"job edit j1 --budget 40", "job edit j1 --price 0.6 --workers 1..8",
                           "job edit j1 --regions any"}};
  out.options = job_flags(o->flags);
  out.options.insert(out.options.begin(), job_argument(*o));
  out.run = [o](Context& c) -> Result<> {
    SOUK_TRY(o->find(c));
    SOUK_ASSIGN(auto* api, c.api());
    const auto& f = o->flags;
    wire::JobEdit edit{f.workers, f.limit, f.budget, f.deadline, f.priority, {}};
    if (f.constrains()) {
      SOUK_ASSIGN(auto job, parsed<wire::Job>(api->get(o->path())));
      f.overlay(job.constraints);
      edit.constraints = std::move(job.constraints);
    }
    return show_job(c, api->patch(o->path(), wire::to_json(edit)));
  };
  return out;
}

Command act_on_job_command(std::string name, std::string summary) {
  auto o = std::make_shared<OneJob>();
  Command out{.name = name, .summary = std::move(summary), .examples = {"job " + name + " j1"}};
  out.options = {job_argument(*o)};
  out.run = [o, name](Context& c) -> Result<> {
    SOUK_TRY(o->find(c));
    SOUK_ASSIGN(auto* api, c.api());
    return show_job(c, api->post(o->path("/" + name)));
  };
  return out;
}

Command wait_command() {
  struct Options : OneJob {
    base::Duration timeout;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "wait",
              .summary = "follow a job to its end; exit status 0 if it succeeded",
              .examples = {"job wait j1", "job wait j1 --timeout 1h --json"}};
  out.options = {job_argument(*o), flag("--timeout TIME", "give up after this long", o->timeout)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_TRY(o->find(c));
    return wait_for(c, o->id, o->timeout);
  };
  return out;
}

Command leases_command() {
  struct Options : OneJob {
    Paging paging;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "leases",
              .summary = "all leases of a job, ended ones too",
              .examples = {"job leases j1"}};
  out.options = paging_flags(o->paging);
  out.options.insert(out.options.begin(), job_argument(*o));
  out.run = [o](Context& c) -> Result<> {
    SOUK_TRY(o->find(c));
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get(o->path("/leases") + query_string(params(o->paging))));
    return c.show<wire::Page<wire::Lease>>(body, [&](const auto& page) {
      if (page.items.empty())
        return c.print(fmt::format("no leases yet: souk why {}\n", to_string(o->id)));
      show_leases(c, page.items);
      show_next(c, page.next);
    });
  };
  return out;
}

}  // namespace

Command cancel_command() {
  struct Options {
    std::vector<std::string> jobs;
    std::string reason;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "cancel",
              .summary = "end jobs; unspent credits come back",
              .examples = {"cancel j1", "cancel j1 mnist --reason 'wrong data'"}};
  out.options = {argument("JOB", "ids, or names: then the newest of that name", o->jobs),
                 flag("--reason TEXT", "kept with the job", o->reason)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    std::vector<OneJob> jobs;
    for (const auto& named : o->jobs) SOUK_TRY(jobs.emplace_back(named).find(c));
    for (const auto& job : jobs)
      SOUK_TRY(show_job(c, api->post(job.path("/cancel"), wire::to_json(wire::Cancel{o->reason}))));
    return {};
  };
  return out;
}

Command job_command() {
  Command out{.name = "job",
              .summary = "borrow machines: submit, follow and change jobs",
              .examples = {"job submit job.yaml", "job show j1", "job wait j1"}};
  auto list = jobs_command();
  list.name = "list";
  out.commands = {submit_command(),
                  std::move(list),
                  show_job_command(),
                  edit_job_command(),
                  act_on_job_command("pause", "give its workers back, keep its escrow"),
                  act_on_job_command("resume", "look for workers again"),
                  cancel_command(),
                  wait_command(),
                  leases_command(),
                  trials_command(),
                  top_command()};
  return out;
}

Command jobs_command() {
  struct Options {
    std::optional<base::JobState> state;
    bool trials = false;
    Paging paging;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "jobs",
              .summary = "your jobs, newest first",
              .examples = {"jobs", "jobs --state running --json"}};
  out.options = paging_flags(o->paging);
  out.options.insert(out.options.begin(),
                     flag("--state STATE", one_of<base::JobState>(), o->state));
  out.options.insert(out.options.begin() + 1, flag("--trials", "trials of sweeps, too", o->trials));
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    auto query = params(o->paging);
    if (o->state) query.emplace_back("state", to_string(*o->state));
    if (o->trials) query.emplace_back("trials", "true");
    SOUK_ASSIGN(const auto body, api->get("/v1/jobs" + query_string(query)));
    return c.show<wire::Page<wire::Job>>(body, [&](const auto& page) {
      if (page.items.empty())
        return c.print(!o->state ? "no jobs yet: souk job submit --class c1 --budget 1\n"
                                 : "no jobs in this state\n");
      using enum Column::Align;
      Table table({{"id"},
                   {"name", left, 8},
                   {"owner", left, 6, 2},
                   {"class"},
                   {"workers", right},
                   {"state"},
                   {"limit", right, 0, 4},
                   {"spent", right},
                   {"budget", right},
                   {"made", right, 0, 3},
                   {"reason", left, 8, 1}});
      for (const auto& j : page.items)
        table.add({to_string(j.id), j.name, j.owner, j.class_,
                   fmt::format("{}/{}", j.held, to_string(j.workers)), state_cell(j.state),
                   brief(j.limit), brief(j.spent), brief(j.budget), relative(j.created, c.now()),
                   j.reason});
      c.print(table);
      show_next(c, page.next);
    });
  };
  return out;
}

Command why_command() {
  auto o = std::make_shared<OneJob>();
  Command out{.name = "why",
              .summary = "why a job does not run, and the cheapest change that would help",
              .examples = {"why j1", "why j1 --json"}};
  out.options = {job_argument(*o)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_TRY(o->find(c));
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get(o->path("/why")));
    return c.show<wire::Why>(body, [&](const wire::Why& why) {
      // Of a job that has ended the summary is the whole sentence: "it has succeeded".
      const bool over = base::is_final(why.state) && why.summary.starts_with("it ");
      c.print(over ? fmt::format("{}{}\n", to_string(why.job), printable(why.summary.substr(2)))
                   : fmt::format("{} is {}: {}\n", to_string(why.job), to_string(why.state),
                                 printable(why.summary)));
      for (const auto& g : why.groups) {
        std::vector<std::string_view> obstacles;
        for (const auto obstacle : g.obstacles) obstacles.push_back(to_string(obstacle));
        c.print(fmt::format("  {} ({}), e.g. {}: {}\n", plural(g.offers, "offer"),
                            plural(g.slots, "slot"), to_string(g.example),
                            fmt::join(obstacles, ", ")));
      }
      for (const auto& n : why.nearly)
        c.print(fmt::format("  nearly: {} of {}{} lacks {}\n", to_string(n.offer),
                            printable(n.machine),
                            n.environment.empty() ? "" : printable(" (" + n.environment + ")"),
                            printable(base::join(n.lacks, ", "))));
      for (const auto& m : why.unproved)
        c.print(fmt::format("  {} ({}) is not yet proved{}\n", to_string(m.machine),
                            printable(m.name),
                            m.busy ? ": " + wire::busy_text(*m.busy, c.now()) : ""));
      if (!why.relaxations.empty()) c.print("what would help, cheapest first:\n");
      for (const auto& r : why.relaxations) {
        // The class of a job is fixed: another one means another job.
        const auto command = r.flag.empty() ? std::string()
                             : r.kind == base::RelaxKind::slot_class
                                 ? "souk job submit " + r.flag
                                 : fmt::format("souk job edit {} {}", to_string(why.job), r.flag);
        c.print(fmt::format("  {} ({} match{}){}{}\n", printable(r.change), plural(r.slots, "slot"),
                            r.extra_per_hour > base::Credits()
                                ? fmt::format(", {} more per hour", brief(r.extra_per_hour))
                                : "",
                            command.empty() ? "" : ": ", printable(command)));
      }
    });
  };
  return out;
}

}  // namespace souk::cli
