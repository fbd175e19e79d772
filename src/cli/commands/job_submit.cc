#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/job_flags.h"
#include "cli/commands/sweep.h"
#include "cli/commands/upload.h"
#include "cli/plan/plan_job.h"
#include "cli/shell/human.h"
#include "job/job_file.h"
#include "job/job_terms.h"
#include "job/kinds.h"
#include "job/train/training_file.h"
#include "job/train/training_work.h"

namespace souk::cli {
namespace {

constexpr std::uint64_t kManyBytes = 1'000'000'000;

struct Submit {
  std::string file;
  std::optional<std::string> name, kind, slot_class;
  std::optional<std::int32_t> cores, gpus;
  std::optional<Memory> memory, gpu_memory;
  JobFlags flags;
  bool yes = false;
  bool wait = false;
  bool detach = false;
};

Result<> choose_budget(Context& c, job::JobFile& file) {
  auto& job = file.job;
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto me, parsed<wire::Account>(api->get("/v1/me")));
  SOUK_ASSIGN(const auto page, parsed<wire::Page<wire::SlotClass>>(api->get("/v1/classes")));
  SOUK_TRY(job::check_classes(job, page.items));
  auto packed = job;  // As far as its price depends on it.
  if (const auto* training = job::training_of(file); training != nullptr && packed.batch)
    packed.batch->train = training->train;
  job.budget = job::likely_budget(packed, page.items, me);
  // A token with a spending limit sees itself only.
  SOUK_ASSIGN(const auto tokens, parsed<wire::Page<wire::Token>>(api->get("/v1/tokens")));
  if (tokens.items.size() == 1 && tokens.items.front().limit) {
    const auto& t = tokens.items.front();
    const auto left =
        *t.limit - t.spent.value_or(base::Credits()) - t.reserved.value_or(base::Credits());
    job.budget = std::min(job.budget, left);
    if (left <= base::Credits())
      return failed(fmt::format("token {} has used all {} credits that it can spend",
                                to_string(t.id), to_string(*t.limit)),
                    "ask the owner of the account for another: souk spend CREDITS");
  }
  if (job.budget > base::Credits()) return {};
  return failed("you have no credits to spend on a job",
                "lend a machine (souk lend), or ask: souk account request 20 --why 'a first job'");
}

Result<job::JobFile> draft(Context& c, const Submit& o) {
  job::JobFile file;
  if (!o.file.empty()) {
    SOUK_ASSIGN(file, job::load_job_file(o.file, c.now()));
  }
  auto& job = file.job;
  if (o.name) job.name = *o.name;
  if (o.kind) {
    SOUK_ASSIGN(const auto* kind, job::kind_named(*o.kind));
    job.kind = kind->name;
  }
  if (o.slot_class) {
    const auto names = base::split(*o.slot_class, ',');
    job.class_ = names.front();
    job.also_classes.assign(names.begin() + 1, names.end());
    job.resources.reset();
  }
  if (o.cores || o.gpus || o.memory || o.gpu_memory) {
    auto& r = job.resources ? *job.resources : job.resources.emplace();
    if (o.cores) r.cores = *o.cores;
    if (o.gpus) r.gpus = *o.gpus;
    if (o.memory) r.memory_mib = o.memory->mib;
    if (o.gpu_memory) r.gpu_memory_mib = o.gpu_memory->mib;
    if (!o.slot_class) {
      job.class_.reset();
      job.also_classes.clear();
    }
  }
  if (job.class_ && job.resources)
    return usage("a job has either a class or resources", "leave one of them out");
  const auto& f = o.flags;
  if (f.workers) job.workers = *f.workers;
  if (f.limit) job.limit = f.limit;
  if (f.budget) job.budget = *f.budget;
  if (f.deadline) job.deadline = f.deadline;
  if (f.priority) job.priority = *f.priority;
  f.overlay(job.constraints);
  if (job.budget == base::Credits()) SOUK_TRY(choose_budget(c, file));
  return file;
}

// Before anything is reserved: what it is, what it may cost, and how far that goes.
Result<> show_terms(Context& c, const job::JobFile& file, const JobFiles& files,
                    const std::string& path) {
  const auto& job = file.job;
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto me, parsed<wire::Account>(api->get("/v1/me")));
  SOUK_ASSIGN(const auto page, parsed<wire::Page<wire::SlotClass>>(api->get("/v1/classes")));
  SOUK_ASSIGN(const auto plan, ask_plan(c, job));
  const auto* k = job::likely_class(job, page.items);
  auto limit = job::likely_limit(job, page.items);
  if (!plan.prices.empty()) {  // What the market would do, if it is one that says so.
    const auto& first = plan.prices.front();
    limit = first.limit;
    const auto known = std::ranges::find(page.items, first.class_, &wire::SlotClass::name);
    if (known != page.items.end()) k = &*known;
  }
  std::string out =
      fmt::format("  job       {} ({})\n", job.name.empty() ? "(no name)" : job.name, job.kind);
  if (k != nullptr)
    out += fmt::format("  workers   {} x {}: {}, {}{}\n", to_string(job.workers), k->name,
                       plural(k->cores, "core"), to_string(Memory{k->memory_mib}),
                       k->gpus > 0 ? ", " + plural(k->gpus, "GPU") : "");
  if (!job.also_classes.empty())
    out += fmt::format("  or on     {}, where that is better\n",
                       printable(base::join(job.also_classes, ", ")));
  out += fmt::format("  price     at most {} per slot-hour{}\n", brief(limit),
                     job.limit ? "" : " (you set none: twice the suggested)");
  if (limit > base::Credits())
    out += fmt::format("  pays for  {} for {} at that price\n", plural(job.workers.max, "worker"),
                       rough(base::affordable(limit, job.workers.max, job.budget)));
  if (job.deadline) out += fmt::format("  deadline  {}\n", to_string(*job.deadline));
  out += fmt::format("  reserve   {} of your {} credits; what is not spent comes back\n",
                     brief(job.budget), brief(me.available + me.bonus));
  if (job.batch) {
    SOUK_ASSIGN(const auto to_send, files.bytes_to_send(c));
    SOUK_ASSIGN(const auto* kind, job::kind_named(job.kind));
    const auto intent = kind->describe(file);
    out += fmt::format("  {:<9} {}\n", intent.verb, printable(intent.object));
    if (const auto& e = job.batch->environment)
      out += fmt::format("  brings    {} for Python {} (lock {})\n", plural(e->count, "package"),
                         e->python, e->lock.substr(0, 12));
    out += fmt::format("  files     {}, of which {} must be sent{}\n", bytes_text(files.bytes()),
                       bytes_text(to_send),
                       to_send > kManyBytes ? ": .soukignore leaves out what is not needed" : "");
  }
  c.note("will submit:");
  std::fputs(out.c_str(), stderr);
  show_prices(c, plan);
  if (plan.sweep) show_sweep_plan(c, *plan.sweep);
  if (!job::trains(job.kind)) return {};
  show_plan(c, plan);
  if (!plan.profiled) c.note(fmt::format("`souk plan {} --measure` would tell", path));
  return {};
}

// Of the console.
std::string page_of(const Target& target, base::JobId job) {
  return fmt::format("{}/jobs/{}", target.server, to_string(job));
}

Result<> submit(Context& c, const Submit& o, bool must_run) {
  SOUK_ASSIGN(auto file, draft(c, o));
  if (must_run && !file.job.batch)
    return usage(fmt::format("'{}' does not say what to run", o.file), "add run: with the command");
  SOUK_ASSIGN(const auto files, JobFiles::pack(c, file));
  if (!o.yes && !c.json()) {
    SOUK_TRY(show_terms(c, file, files, o.file));
    if (!ask_yes("Proceed?", true)) return failed("nothing was submitted");
  } else if (!c.json()) {
    SOUK_ASSIGN(const auto plan, ask_plan(c, file.job));
    show_prices(c, plan);
  }
  SOUK_TRY(files.send(c));
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto body, api->post("/v1/jobs", wire::to_json(file.job)));
  SOUK_ASSIGN(const auto made, parse_body<wire::Job>(body));
  SOUK_ASSIGN(const auto* target, c.target());
  // A training or a sweep is watched, unless a program asks or somebody says not to.
  const bool sweeps = file.job.batch && file.job.batch->sweep;
  const bool watch = (job::trains(file.job.kind) || sweeps) && must_run && !o.detach && !c.json();
  if (o.wait || watch) {
    if (!c.json())
      c.note(fmt::format("submitted {}: {}", to_string(made.id), page_of(*target, made.id)));
    SOUK_TRY(wait_for(c, made.id, {}));
    const auto id = to_string(made.id);
    if (sweeps && !c.json())
      c.print(fmt::format("next: souk job trials {0}, souk results {0}\n", id));
    if (job::trains(file.job.kind) && !c.json())
      c.print(job::has_native_trainer(*file.job.batch)
                  ? fmt::format("next: souk results {0}, souk predict {0} < input\n", id)
                  : fmt::format("next: souk results {}\n", id));
    return {};
  }
  if (c.json()) return c.print_json(body);
  const auto id = to_string(made.id);
  c.print(fmt::format("submitted {}: {} x {}, {} credits reserved\n{}\n", id,
                      to_string(made.workers), printable(made.class_), brief(made.budget),
                      page_of(*target, made.id)));
  c.print(made.batch || file.job.batch
              ? fmt::format("next: souk logs {0} -f, souk job wait {0}, souk results {0}\n", id)
              : fmt::format("next: souk job wait {0}, souk job show {0}, souk why {0}\n", id));
  return {};
}

// In each of its classes.
Result<> measure_everywhere(Context& c, wire::NewJob job) {
  const auto others = std::exchange(job.also_classes, {});
  SOUK_TRY(measure_job(c, job));
  for (const auto& other : others) {
    job.class_ = other;
    job.resources.reset();
    SOUK_TRY(measure_job(c, job));
  }
  return {};
}

}  // namespace

Result<> plan_job(Context& c, const std::string& path, bool measure) {
  SOUK_ASSIGN(auto file, draft(c, {.file = path}));
  if (measure && !job::trains(file.job.kind))
    return failed(fmt::format("'{}' trains nothing, and only trainings can be measured", path),
                  "leave --measure out");
  SOUK_ASSIGN(const auto files, JobFiles::pack(c, file));
  if (measure) {
    SOUK_TRY(files.send(c));
    SOUK_TRY(measure_everywhere(c, file.job));
  }
  SOUK_ASSIGN(const auto plan, ask_plan(c, file.job));
  if (c.json()) return c.print_json(wire::to_json(plan));
  show_prices(c, plan);
  if (plan.sweep && !plan.candidates.empty()) c.print("one trial:\n");
  show_plan(c, plan);
  if (plan.sweep) show_sweep_plan(c, *plan.sweep);
  if (!plan.profiled && job::trains(file.job.kind))
    c.print(
        fmt::format("next: souk plan {} --measure runs it for a minute at most, on one "
                    "worker, and pays for that\n",
                    path));
  return {};
}

namespace {

// "batch (default) or train".
std::string kind_help() {
  auto out = job::kind_names();
  return out.insert(job::kinds().front().name.size(), " (default)");
}

std::string class_help() {
  return fmt::format("a slot class; for kind {} several: c1,c4",
                     job::kind_names([](const job::Kind& kind) { return kind.may_move(); }));
}

void add_flags(Command& out, Submit& o) {
  std::vector<Option> mine{flag("--name NAME", "what to call it", o.name),
                           flag("--kind KIND", kind_help(), o.kind),
                           flag("--class CLASS", class_help(), o.slot_class),
                           flag("--cores N", "or what a worker needs: cores,", o.cores),
                           flag("--memory SIZE", "memory (8G),", o.memory),
                           flag("--gpus N", "GPUs", o.gpus),
                           flag("--gpu-memory SIZE", "with this much memory each", o.gpu_memory)};
  for (auto& option : job_flags(o.flags)) mine.push_back(std::move(option));
  mine.push_back(flag("--yes", "do not ask", o.yes));
  mine.push_back(flag("--wait", "follow it to its end", o.wait));
  mine.push_back(
      flag("--detach", "do not follow it; without this a training is followed", o.detach));
  out.options.insert(out.options.end(), mine.begin(), mine.end());
}

}  // namespace

Command submit_command() {
  auto o = std::make_shared<Submit>();
  Command out{.name = "submit",
              .summary = "ask for workers",
              .examples = {"job submit job.yaml",
                           "job submit --class c4 --workers 1..4 --price 0.8 --budget 20",
                           "job submit job.yaml --budget 5 --yes --wait"}};
  out.options = {
      optional(argument("FILE", "a job file (YAML); flags override what it says", o->file))};
  add_flags(out, *o);
  out.details =
      "The budget is reserved at once and spent only for time that was worked; the rest comes "
      "back. "
      "On a terminal the plan is shown first and you are asked.";
  out.run = [o](Context& c) { return submit(c, *o, false); };
  return out;
}

Command run_command() {
  auto o = std::make_shared<Submit>();
  Command out{.name = "run",
              .summary = "run a program on other people's machines",
              .examples = {"run job.yaml", "run job.yaml --workers 4 --budget 2 --yes --wait",
                           "run job.yaml --yes --json"}};
  out.options = {argument("FILE", "a job file (YAML); flags override what it says", o->file)};
  add_flags(out, *o);
  out.details =
      "The file says what to run (run:), with which files (workdir:, inputs:), what to bring back "
      "(outputs:) and what it may cost (price:); docs/borrowing.md lists every key. Files that the "
      "server lacks are sent first. Without a budget, an hour of all workers at the limit price is "
      "reserved, or what you have. The kinds of jobs:";
  for (const auto& kind : job::kinds())
    out.details += fmt::format(" kind: {}. {}", kind.name, kind.summary);
  out.run = [o](Context& c) { return submit(c, *o, true); };
  return out;
}

}  // namespace souk::cli
