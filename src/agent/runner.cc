#include "agent/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>

#include "agent/remote.h"
#include "agent/runner_place.h"
#include "base/containment.h"
#include "base/text.h"
#include "blob/folder.h"
#include "job/image.h"
#include "job/kinds.h"
#include "job/work.h"
#include "wire/api/log.h"
#include "wire/json.h"

namespace souk::agent {
namespace {

using base::Code;
using base::Duration;
using base::fail;
using base::Result;
using base::Time;

constexpr std::int64_t kMostLog = 60 << 20;
constexpr auto kRunnerStep = std::chrono::milliseconds(20);
constexpr auto kUsageEvery = base::seconds(1);
constexpr auto kToSave = base::seconds(10);  // Of a drain, kept for saving what was done.
constexpr auto kToStart = base::seconds(1);  // In which a sandbox that cannot start it says so.
constexpr auto kNoticeComes = std::chrono::seconds(2);
constexpr auto kShortNotice = base::seconds(1);
constexpr auto kLastWords = base::seconds(2);
constexpr auto kToLeave = base::seconds(10);  // A trainer, after its goodbye.
constexpr int kMostProcesses = 1024;

// By somebody other than the agent: who ends a whole computer or batch job tells all its processes.
bool was_told_to_end(const Exit& exit) {
  return exit.signal == SIGTERM || exit.signal == SIGINT || exit.signal == SIGHUP;
}

// The shell waits for the command that runs when SIGTERM comes, and begins no other.
std::string script_of(const wire::Batch& batch) {
  const auto run = "trap 'exit 143' TERM\n" + batch.run;
  if (batch.setup.empty()) return run;
  return fmt::format("( {}\n) || exit $?\n{}", batch.setup, run);
}

// Files that are no files, or more of them than fit here: the job asks for what cannot be had, and
// the machine should not lose its standing for that.
wire::Fault fault_of_files(const base::Error& error) {
  const auto codes = {Code::invalid, Code::too_large, Code::conflict, Code::exhausted};
  return std::ranges::find(codes, error.code) != codes.end() ? wire::Fault::job
                                                             : wire::Fault::machine;
}

// The file in a folder with one file.
std::string only_file(const std::string& folder) {
  std::error_code error;
  const std::filesystem::directory_iterator it(folder, error);
  return error || it == std::filesystem::directory_iterator() ? folder : it->path().string();
}

bool has_nothing(const std::string& folder) {
  std::error_code error;
  return !std::filesystem::exists(folder, error) || std::filesystem::is_empty(folder, error);
}

// A path as the server accepted it, without a slash at its end.
std::string without_slash(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

Runner::Runner(wire::Lease lease, Workshop& workshop)
    : lease_(std::move(lease)), shop_(workshop), thread_([this] { run(); }) {}

Runner::~Runner() {
  stopped_ = true;
  thread_.join();
}

wire::LeaseReport Runner::held() const {
  const std::lock_guard lock(mutex_);
  auto usage = usage_.value_or(wire::Usage{});
  usage.received_bytes = received_ + network_received_;
  usage.sent_bytes = sent_ + network_sent_;
  return {.lease = lease_.id, .epoch = lease_.epoch, .doing = doing_, .usage = usage};
}

void Runner::drain(Time until, std::string reason) {
  const std::lock_guard lock(mutex_);
  if (drain_until_ && *drain_until_ <= until) return;
  drain_until_ = until;
  drain_reason_ = std::move(reason);
}

bool Runner::draining() const {
  const std::lock_guard lock(mutex_);
  return drain_until_.has_value();
}

Time Runner::drain_until() const {
  const std::lock_guard lock(mutex_);
  return drain_until_.value_or(base::kNever);
}

void Runner::doing(std::string text) {
  const std::lock_guard lock(mutex_);
  doing_ = std::move(text);
}

std::string Runner::path(std::string_view action) const {
  return fmt::format("/v1/leases/{}/{}", to_string(lease_.id), action);
}

void Runner::run() {
  const auto done = base::contained([this] { return work(); });
  // What it held in its hands is gone by now. Should there be no memory for the report either, then
  // the agent hands back a lease that it has no runner for.
  if (!done && link_ && !stopped_)
    (void)base::contained([&]() -> Result<> {
      report(started_ ? wire::ReportedOutcome::released : wire::ReportedOutcome::unstarted,
             "the machine's agent could not go on: " + done.error().message);
      return {};
    });
  finished_ = true;
}

// An error is one that nobody has reported yet.
Result<> Runner::work() {
  SOUK_ASSIGN(link_, Link::make(shop_.link));
  Place place;
  auto ready = prepare(place);
  if (ready) ready = begin(place);
  if (!ready) {
    if (stopped_) return {};
    const auto outcome =
        place.leaves ? wire::ReportedOutcome::released : wire::ReportedOutcome::unstarted;
    report(outcome, ready.error().message, {}, place.fault);
    return {};
  }
  attend(place);
  place.lines.reset();
  save_volumes(place);
  if (!stopped_)
    finish(place);
  else  // The lease is over; what was printed is still worth reading.
    (void)place.log->finish(kLastWords);
  place.coach.reset();
  place.gang.reset();
  place.process.reset();
  return {};
}

bool Runner::on_disk() const {
  return (lease_.task->batch.scratch_mib.value_or(0) << 20) > shop_.scratch_bytes;
}

std::int64_t Runner::scratch_bytes() const {
  return on_disk() ? *lease_.task->batch.scratch_mib << 20 : shop_.scratch_bytes;
}

// A folder that the market has, in the store; pinned there while the lease runs.
Result<blob::Manifest> Runner::fetch(Place& place, const std::string& name, std::string_view what) {
  SOUK_ASSIGN(const auto root, blob::parse_digest(name));
  doing(fmt::format("fetching {}", what));
  blob::TransferOptions options;
  options.on_progress = [&](const blob::Progress& p) {
    if (p.bytes_total > 0)
      doing(fmt::format("fetching {} {}% of {}", what, p.bytes_done * 100 / p.bytes_total,
                        base::bytes_text(p.bytes_total)));
  };
  options.most_bytes =
      static_cast<std::uint64_t>(std::max(scratch_bytes(), shop_.trees->max_bytes()));
  // Whoever begins elsewhere has something to give to others of the same job.
  if (shop_.link.peers) options.shuffle = lease_.id.value + 1;
  auto downloaded = blob::download(root, *shop_.store,
                                   blobs_at(shop_.link, "lease=" + to_string(lease_.id)), options);
  if (!downloaded) place.fault = fault_of_files(downloaded.error());
  SOUK_ASSIGN(auto got, std::move(downloaded));
  place.pins.push_back(std::move(got.pin));
  const std::lock_guard lock(mutex_);
  received_ += static_cast<std::int64_t>(got.stats.bytes_moved);
  return std::move(got.manifest);
}

// Bound read-only from the machine's cache; without a sandbox nothing can be bound: then a copy.
Result<> Runner::add_input(Place& place, const wire::BatchInput& input) {
  const auto to = without_slash(input.path);
  if (shop_.sandbox == "none" && !lease_.task->batch.image) {
    if (!input.url.empty()) return not_lent(place, "this machine fetches no inputs");
    SOUK_ASSIGN(auto files, fetch(place, input.blob, input.path));
    for (auto& entry : files.entries) {
      entry.path = input.file ? to : to + "/" + entry.path;
      place.files.entries.push_back(std::move(entry));
    }
    return {};
  }
  SOUK_ASSIGN(auto tree, input_tree(place, input));
  place.program.inputs.push_back(
      {input.file ? only_file(tree.path()) : tree.path(), "/work/" + to});
  place.inputs.push_back(std::move(tree));
  return {};
}

// From the market, or from where the job says that it is.
Result<Trees::Use> Runner::input_tree(Place& place, const wire::BatchInput& input) {
  if (!input.url.empty()) {
    if (!shop_.web_inputs) return not_lent(place, "this machine fetches no inputs");
    auto fetched = shop_.web_inputs->use(input, watch());
    if (!fetched && fetched.error().code != Code::unavailable) place.fault = wire::Fault::job;
    return fetched;
  }
  SOUK_ASSIGN(const auto root, blob::parse_digest(input.blob));
  if (!shop_.trees->has(root)) SOUK_TRY(fetch(place, input.blob, input.path));
  auto unpacked = shop_.trees->use(root, *shop_.store);
  if (!unpacked) place.fault = fault_of_files(unpacked.error());
  return unpacked;
}

// The lender's environment that has what is demanded, and the job's own, which all leases share. An
// image has its own. Without a sandbox it is used where it lies: whoever could change it there can
// change everything else, too.
Result<> Runner::add_environment(Place& place) {
  const auto& task = *lease_.task;
  place.program.env = task.batch.env;
  if (task.batch.image) return add_image(place);
  if (const auto* lent = choose_environment(shop_.environments, task.packages))
    enter_lent(*lent, place.program);
  if (!task.batch.environment) return {};
  SOUK_ASSIGN(auto tree, environment_tree(place));
  const auto folder = tree.path() + (task.batch.environment->blob.empty() ? "/site" : "");
  if (shop_.sandbox == "none") {
    enter_own(folder, place.program);
  } else {
    place.program.inputs.push_back({folder, kJobEnvironment});
    enter_own(kJobEnvironment, place.program);
  }
  place.inputs.push_back(std::move(tree));
  return {};
}

// Built by the borrower, or here.
Result<Trees::Use> Runner::environment_tree(Place& place) {
  const auto& task = *lease_.task;
  const auto& environment = *task.batch.environment;
  if (!environment.wheels.empty()) {
    if (!shop_.builder) return not_lent(place, "this machine builds no environments");
    auto built = shop_.builder->use(environment, shop_.environments, task.packages, watch());
    if (!built && built.error().code != Code::unavailable) place.fault = wire::Fault::job;
    return built;
  }
  SOUK_ASSIGN(const auto root, blob::parse_digest(environment.blob));
  if (!shop_.trees->has(root)) SOUK_TRY(fetch(place, environment.blob, "environment"));
  auto unpacked = shop_.trees->use(root, *shop_.store);
  if (!unpacked) place.fault = fault_of_files(unpacked.error());
  return unpacked;
}

Images::Watch Runner::watch() {
  return {.doing = [this](std::string text) { doing(std::move(text)); },
          .give_up = [this] { return stopped_.load(); },
          .received =
              [this](std::int64_t bytes) {
                const std::lock_guard lock(mutex_);
                received_ += bytes;
              }};
}

// One that is named by its digest is pulled; any other is podman's business.
Result<> Runner::add_image(Place& place) {
  const auto& batch = lease_.task->batch;
  if (!job::names_digest(*batch.image)) {
    place.program.image = *batch.image;
    return {};
  }
  if (!shop_.images) return not_lent(place, "this machine pulls no images");
  auto unpacked = shop_.images->use(*batch.image, watch());
  // A registry that cannot be reached now is the machine's trouble; all else is the image's.
  if (!unpacked && unpacked.error().code != Code::unavailable) place.fault = wire::Fault::job;
  SOUK_ASSIGN(auto image, std::move(unpacked));
  SOUK_TRY(enter_image(image, batch, place.program));
  place.inputs.push_back(std::move(image.tree));
  return {};
}

// The job should not have come here.
base::Failure Runner::not_lent(Place& place, std::string what) {
  place.fault = wire::Fault::job;
  return fail(Code::forbidden, std::move(what));
}

// Files, sandbox, scratch: everything that is not billed. Nothing of the borrower's runs here.
Result<> Runner::prepare(Place& place) {
  const auto& task = *lease_.task;
  SOUK_ASSIGN(place.kind, job::kind_of(task));
  SOUK_TRY(add_environment(place));
  for (const auto& input : task.batch.inputs) {
    if (stopped_) return fail(Code::conflict, "stopped");
    SOUK_TRY(add_input(place, input));
  }
  if (task.batch.workdir) {
    SOUK_ASSIGN(auto files, fetch(place, *task.batch.workdir, "files"));
    std::ranges::move(files.entries, std::back_inserter(place.files.entries));
  }
  if (task.checkpoint && task.batch.checkpoint) {
    SOUK_ASSIGN(auto saved, fetch(place, *task.checkpoint, "checkpoint"));
    const auto folder = without_slash(task.batch.checkpoint->path);
    std::erase_if(place.files.entries,
                  [&](const auto& e) { return base::is_below(e.path, folder); });
    std::ranges::move(saved.entries, std::back_inserter(place.files.entries));
  }
  SOUK_TRY(fetch_volumes(place));
  std::ranges::sort(place.files.entries, blob::path_before, &blob::Entry::path);
  doing("unpacking");
  SOUK_TRY(open_log(place));
  return fill_scratch(place);
}

Result<> Runner::open_log(Place& place) {
  SOUK_ASSIGN(auto link, Link::make(shop_.link));  // Its own: it is used on another thread.
  const auto send = [this, link = std::make_shared<Link>(std::move(link))](
                        std::int64_t offset, std::string_view text) -> Result<std::int64_t> {
    const wire::LogPiece piece{lease_.epoch, offset, std::string(text)};
    SOUK_ASSIGN(const auto answer, link->post(path("log"), wire::to_json(piece)));
    SOUK_ASSIGN(const auto size, wire::from_json<wire::LogSize>(answer));
    return size.size;
  };
  const auto file = fmt::format("{}/{}.log", shop_.folder, to_string(lease_.id));
  SOUK_ASSIGN(place.log, LogSpool::open(file, kMostLog, send));
  std::error_code ignored;
  std::filesystem::remove(file, ignored);  // It lives as long as it is open.
  return {};
}

Result<> Runner::fill_scratch(Place& place) {
  const auto& task = *lease_.task;
  auto& program = place.program;
  if (program.argv.empty()) program.argv = {"/bin/sh", "-c", script_of(task.batch)};
  if (place.kind->trains) SOUK_TRY(add_trainer(place));
  if (place.kind->serves) SOUK_TRY(lend_trainer(place));
  SOUK_TRY(add_network(place));
  program.env["SOUK_JOB"] = to_string(lease_.job);
  program.env["SOUK_INDEX"] = std::to_string(task.index);
  program.env["SOUK_WORKERS"] = std::to_string(task.workers);
  program.env["SOUK_TRY"] = std::to_string(task.tries);
  program.internet = task.batch.network == wire::Network::internet;
  if (program.internet && !shop_.internet) return not_lent(place, "this machine lends no internet");
  if (task.gpus > 0) {
    SOUK_ASSIGN(place.gpus, shop_.gpus->take(task.gpus));
    program.devices = place.gpus.devices();
    if (!program.root.empty()) add_gpu_driver(program, driver_folders());
    program.env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
    place.gpu_use = shop_.gpu_meter->watch(place.gpus.uuids());
  }
  // Where no sandbox hides the machine's GPUs, a program must not use what its lease has not got.
  program.env["CUDA_VISIBLE_DEVICES"] = place.gpus.visible();
  program.limits = {.cores = static_cast<double>(task.cores) * shop_.cpu_share,
                    .memory_bytes = task.memory_mib << 20,
                    .scratch_bytes = shop_.scratch_bytes,
                    .pids = kMostProcesses};
  if (on_disk()) {
    if (scratch_bytes() > shop_.disk_scratch_bytes)
      return fail(Code::unavailable,
                  fmt::format("this machine lends {} of scratch to a worker, not {}",
                              base::bytes_text(static_cast<std::uint64_t>(
                                  std::max(shop_.scratch_bytes, shop_.disk_scratch_bytes))),
                              base::bytes_text(static_cast<std::uint64_t>(scratch_bytes()))));
    program.limits.disk_bytes = scratch_bytes();
    program.disk_place = shop_.scratch_folder;
  }
  program.output_fd = place.log->program_end();
  if (place.kind->attended) SOUK_TRY(add_terminal(place));
  const auto name = program.image.empty() ? shop_.sandbox : "podman";
  const auto sandbox = shop_.sandboxes.find(name);
  if (sandbox == shop_.sandboxes.end())
    return fail(Code::unavailable, fmt::format("this machine has no {}", name));
  const auto fits = blob::check_size(place.files, static_cast<std::uint64_t>(scratch_bytes()));
  if (!fits) place.fault = fault_of_files(fits.error());
  SOUK_TRY(base::located(fits, "the working folder"));
  SOUK_ASSIGN(place.process, sandbox->second->prepare(program));
  const auto unpacked = blob::unpack(place.files, *shop_.store, place.process->scratch());
  if (!unpacked) place.fault = fault_of_files(unpacked.error());
  SOUK_TRY(unpacked);
  SOUK_TRY(make_volumes(place));
  return add_host_file(place);
}

// Runs the program.
Result<> Runner::begin(Place& place) {
  SOUK_TRY(place.process->start());
  if (place.porter) SOUK_TRY(gather(place));
  place.began = now();
  place.log->close_program_end();
  if (place.talk[0]) start_coach(place);
  offer_lines(place);
  const auto& batch = lease_.task->batch;
  if (batch.checkpoint) place.next_checkpoint = now() + batch.checkpoint->every;
  shop_.tell(fmt::format("lease {}: running {}", to_string(lease_.id), lease_.task->job_name));
  return {};
}

// Billing begins here, with the first instruction of the set-up: what sets up a program computes as
// well as the program does. A sandbox that then cannot start it is reported as such, and not paid.
void Runner::tell_started() {
  const auto answer = link_->insist(path("start"), wire::to_json(wire::LeaseStart{lease_.epoch}),
                                    shop_.grace, [this] { return stopped_.load(); });
  if (!answer) stopped_ = true;  // The lease is not ours any more.
  started_ = answer.has_value();
  if (lease_.task->gang) {
    const auto lease = answer ? wire::from_json<wire::Lease>(*answer) : base::Result<wire::Lease>();
    if (lease && lease->state == base::LeaseState::running) begun_ = true;
    return;
  }
  doing("running");
}

// Until the program has ended, or must.
void Runner::attend(Place& place) {
  Time told_at;
  bool told_to_end = false;
  if (!place.kind->together) tell_started();
  while (!place.exit) {
    if (stopped_) return place.process->kill();
    if (draining() && !told_to_end && !is_talked_to(place)) {
      told_to_end = true;
      doing("draining");
      if (place.coach)
        place.coach->drain();
      else
        place.process->terminate();
      told_at = now();
    }
    if (place.coach && place.coach->finished() && !told_to_end) {
      told_to_end = true;  // It was told goodbye; it should be gone soon.
      told_at = now();
    }
    if (!told_to_end && is_idle(place)) {
      told_to_end = place.idle = true;
      place.process->terminate();
      told_at = now();
    }
    const auto last_moment = draining() && !place.idle
                                 ? std::max(told_at + kShortNotice, drain_until() - kToSave)
                                 : told_at + (place.idle ? kLastWords : kToLeave);
    if (told_to_end && now() >= last_moment) place.process->kill();
    if (now() >= place.next_usage) {
      look_at_usage(place);
      place.next_usage = now() + kUsageEvery;
    }
    if (now() >= place.next_checkpoint && !told_to_end) {
      checkpoint(place);
      place.next_checkpoint = now() + lease_.task->batch.checkpoint->every;
    }
    if (now() >= place.next_volumes && !told_to_end) save_volumes(place);
    place.exit = place.process->wait(
        base::Duration(std::chrono::duration_cast<std::chrono::microseconds>(kRunnerStep).count()));
  }
  // Then the agent's notice is on its way.
  if (!told_to_end && was_told_to_end(*place.exit))
    for (auto waited = kRunnerStep; waited < kNoticeComes && !draining() && !stopped_;
         waited += kRunnerStep)
      std::this_thread::sleep_for(kRunnerStep);
  look_at_usage(place);
}

void Runner::look_at_usage(Place& place) {
  const auto u = place.process->usage();
  const std::lock_guard lock(mutex_);
  network_received_ = u.received_bytes;
  network_sent_ = u.sent_bytes;
  usage_ = wire::Usage{.cpu_seconds = u.cpu_seconds,
                       .memory_bytes = u.memory_bytes,
                       .memory_peak_bytes = u.memory_peak_bytes,
                       .scratch_bytes = u.scratch_bytes};
  if (!place.gpu_use) return;
  usage_->gpu_seconds = place.gpu_use->seconds();
  usage_->gpu_memory_bytes = place.gpu_use->memory_bytes();
}

// The named parts of /work, on the market's server.
Result<blob::Digest> Runner::save(const std::string& folder, std::vector<std::string> only) {
  SOUK_ASSIGN(const auto packed, blob::pack(folder, *shop_.store, {.only = std::move(only)}));
  SOUK_ASSIGN(const auto stats, blob::upload(packed.root, *shop_.store, blobs_at(shop_.link)));
  const std::lock_guard lock(mutex_);
  sent_ += static_cast<std::int64_t>(stats.bytes_moved);
  return packed.root;
}

void Runner::checkpoint(Place& place) {
  // In a gang usually worker 0 saves, and nobody should go on from another's nothing.
  const auto folder = place.process->scratch() + "/" + lease_.task->batch.checkpoint->path;
  if (lease_.task->gang && lease_.task->index > 0 && has_nothing(folder)) return;
  const auto saved = [&]() -> Result<> {
    SOUK_ASSIGN(const auto root, save(place.process->scratch(),
                                      {without_slash(lease_.task->batch.checkpoint->path)}));
    SOUK_TRY(link_->post(path("checkpoint"),
                         wire::to_json(wire::LeaseCheckpoint{lease_.epoch, to_string(root)})));
    return {};
  }();
  // A file that is being written is not an accident: the next one will do.
  if (!saved) place.log->say("no checkpoint this time: " + saved.error().message);
}

Result<std::string> Runner::collect(Place& place) {
  doing("sending results");
  std::vector<std::string> only;
  for (const auto& output : lease_.task->batch.outputs) only.push_back(without_slash(output));
  // Who is paid for accepted work alone gives nothing else back.
  if (only.empty() || place.kind->pay == market::Pay::work) return std::string();
  const auto deadline = now() + shop_.grace;
  for (;;) {
    const auto root = save(place.process->scratch(), only);
    if (root) return to_string(*root);
    if (root.error().code != Code::unavailable || now() > deadline || stopped_)
      return std::unexpected(root.error());
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

void Runner::finish(Place& place) {
  const auto& exit = *place.exit;
  const bool has_checkpoint = lease_.task->batch.checkpoint.has_value();
  if (draining()) {
    if (has_checkpoint && started_) checkpoint(place);
    // Of a gang that ends with its worker 0 the others are told to end.
    std::optional<std::string> left;
    if (const auto& gang = lease_.task->batch.gang; gang && gang->led)
      if (auto kept = collect(place); kept && !kept->empty()) left = *std::move(kept);
    std::string reason;
    {
      const std::lock_guard lock(mutex_);
      reason = drain_reason_;
    }
    place.log->say("stopped: " + reason);
    (void)place.log->finish(base::seconds(2));
    return report(wire::ReportedOutcome::released, reason, std::move(left));
  }
  if (!exit.started) {
    place.log->say(exit.text);
    (void)place.log->finish(base::seconds(2));
    if (started_ && now() - place.began > kToStart)
      return report(wire::ReportedOutcome::failed, exit.text);
    // An image that does not exist, or a sandbox that does not work? Somebody else should try it,
    // and this machine is not to blame.
    return report(wire::ReportedOutcome::unstarted, exit.text, {}, wire::Fault::job);
  }
  bool good = exit.code == 0 && exit.signal == 0;
  auto text = exit.text;
  if (place.coach) {
    while (!place.coach->finished()) std::this_thread::sleep_for(kRunnerStep);
    if (good && !place.coach->failure().empty()) text = place.coach->failure();
    good = good && place.coach->failure().empty();
  }
  if (place.idle) {
    good = true;
    text = fmt::format("nobody used it for {}", to_string(lease_.task->batch.session->idle));
  } else if (good && place.kind->serves) {
    good = false;
    text = "the program has ended; a service runs until it is cancelled";
  }
  if (!good) place.log->say(text);
  // Outputs of a failure are worth a look too.
  const auto result = collect(place);
  if (!result) place.log->say("the results could not be kept: " + result.error().message);
  if (const auto sent = place.log->finish(shop_.grace); !sent) shop_.tell(sent.error().message);
  if (good && !result)
    return report(wire::ReportedOutcome::failed,
                  "the results could not be kept: " + result.error().message);
  succeeded_ = good;
  report(good ? wire::ReportedOutcome::completed : wire::ReportedOutcome::failed, text,
         result && !result->empty() ? std::optional(*result) : std::nullopt);
}

void Runner::report(wire::ReportedOutcome outcome, std::string detail,
                    std::optional<std::string> result, std::optional<wire::Fault> fault) {
  constexpr std::size_t most = 1'000;
  const auto body = wire::to_json(wire::LeaseFinish{lease_.epoch, outcome, detail.substr(0, most),
                                                    std::move(result), held().usage, fault});
  const auto answer =
      link_->insist(path("finish"), body, shop_.grace, [this] { return stopped_.load(); });
  shop_.tell(fmt::format("lease {}: {} ({}){}", to_string(lease_.id), to_string(outcome), detail,
                         answer ? "" : ", not reported: " + answer.error().message));
}

}  // namespace souk::agent
