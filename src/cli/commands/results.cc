#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "agent/remote.h"
#include "blob/folder.h"
#include "blob/transfer.h"
#include "cli/commands/commands.h"
#include "cli/commands/job_flags.h"
#include "cli/commands/language_model.h"
#include "cli/commands/sweep.h"
#include "cli/commands/training_watch.h"
#include "cli/commands/upload.h"
#include "cli/plan/plan_job.h"
#include "cli/shell/human.h"
#include "cli/shell/progress.h"
#include "cli/shell/session.h"
#include "hub/run/event_file.h"
#include "job/kinds.h"
#include "job/train/training_file.h"
#include "wire/api/log.h"

// What a batch job gives back: its logs, its files, and a look at what it uses.

namespace souk::cli {
namespace {

namespace fs = std::filesystem;

// Prints the logs of a job's leases as they grow, each line with its worker when there are several.
class LogReader {
 public:
  LogReader(Context& c, const OneJob& job, std::optional<std::int32_t> worker, bool raw)
      : c_(c), job_(job), worker_(worker), raw_(raw) {}

  // Prints what is new. True when nothing can follow.
  Result<bool> step() {
    SOUK_ASSIGN(auto* api, c_.api());
    SOUK_ASSIGN(const auto state, parsed<wire::Job>(api->get(job_.path())));
    SOUK_ASSIGN(auto leases, all_of<wire::Lease>(*api, job_.path("/leases")));
    std::ranges::reverse(leases);  // Oldest first.
    bool all_ended = state.ended.has_value();
    for (const auto& lease : leases) {
      if (worker_ && lease.part != worker_) continue;
      auto& log = logs_[lease.id];
      const bool prefix = state.workers.max > 1 && !worker_;
      while (!log.ended) {
        const auto path = path_of("/v1/leases", to_string(lease.id), "/log");
        SOUK_ASSIGN(
            const auto piece,
            parsed<wire::Log>(api->get(
                path + query_string({{"from", log.next > 0 ? std::to_string(log.next) : ""}}))));
        log.next = piece.next;
        log.ended = piece.ended;
        print(piece.text, log, prefix ? fmt::format("[{}] ", lease.part.value_or(0)) : "");
        if (piece.text.empty()) break;
      }
      all_ended = all_ended && log.ended;
    }
    return all_ended;
  }

 private:
  struct Read {
    std::int64_t next = 0;
    bool ended = false;
    std::string line;  // Its beginning, until the rest arrives.
  };

  void print(std::string_view text, Read& log, const std::string& prefix) {
    if (prefix.empty()) return show(text);
    log.line += text;
    std::string out;
    for (std::size_t end; (end = log.line.find('\n')) != std::string::npos;) {
      out += prefix + log.line.substr(0, end + 1);
      log.line.erase(0, end + 1);
    }
    if (log.ended && !log.line.empty()) out += prefix + std::exchange(log.line, {}) + "\n";
    show(out);
  }
  void show(std::string_view text) const {
    c_.print_raw(raw_ ? std::string(text) : printable_lines(text, Colours::none));
  }

  Context& c_;
  const OneJob job_;
  const std::optional<std::int32_t> worker_;
  const bool raw_;
  std::map<base::LeaseId, Read> logs_;
};

struct Results : OneJob {
  std::string folder;
  bool watch = false;
  Memory max_size{10 << 10};

  [[nodiscard]] std::uint64_t most_bytes() const {
    return static_cast<std::uint64_t>(max_size.mib) << 20;
  }
};

// Others made it, so what it claims to be is checked before it is fetched and unpacked.
Result<blob::Downloaded> download(const Results& o, const blob::Digest& root, blob::Store& store,
                                  const blob::RemoteFactory& remote,
                                  blob::TransferOptions options) {
  options.most_bytes = o.most_bytes();
  auto got = blob::download(root, store, remote, options);
  if (got) return std::move(*got);
  auto error = std::move(got).error();
  if (error.code != base::Code::too_large) return std::unexpected(std::move(error));
  if (!ask_yes(fmt::format("{}. Fetch it anyway?", error.message), false))
    return failed(error.message, "allow more with --max-size");
  options.most_bytes = blob::TransferOptions().most_bytes;
  SOUK_ASSIGN(auto all, blob::download(root, store, remote, options));
  return all;
}

Result<> fetch_result(Context& c, const Results& o, blob::Store& store, const std::string& name,
                      const std::string& target) {
  SOUK_ASSIGN(const auto root, blob::parse_digest(name));
  SOUK_ASSIGN(const auto* market, c.target());
  std::optional<Progress> bar;
  const auto show = [&](const blob::Progress& p) {
    if (!bar) bar.emplace("fetching " + target, "bytes", p.bytes_total, c.err());
    bar->update(p.bytes_done);
  };
  const auto remote = agent::blobs_at(link_to(*market), "job=" + to_string(o.id));
  SOUK_ASSIGN(const auto got, download(o, root, store, remote, {.on_progress = show}));
  SOUK_TRY(blob::unpack(got.manifest, store, target));
  bar.reset();
  if (!c.json())
    c.print(fmt::format("{}: {} in {}\n", target, bytes_text(got.manifest.total_bytes()),
                        plural(std::ssize(got.manifest.entries), "file")));
  return {};
}

// Follows a training in a file for TensorBoard until its job has ended; at the end it lies beside
// the results, in the place of the shorter one among them.
class LiveEvents {
 public:
  explicit LiveEvents(std::string folder) : folder_(std::move(folder)) {}

  // True when nothing can follow.
  Result<bool> step(Context& c, const Results& o) {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto job, parsed<wire::Job>(api->get(o.path())));
    if (!job::trains(job.kind))
      return failed(fmt::format("job {} is no training", to_string(o.id)),
                    fmt::format("souk job wait {}", to_string(o.id)));
    SOUK_ASSIGN(const auto training, parsed<wire::Training>(api->get(o.path("/training"))));
    const auto now = static_cast<double>(c.now().us) / 1e6;
    std::string news = text_.empty() ? hub::event_head(now) : std::string();
    for (; told_ < training.rows.size(); ++told_)
      news += hub::row_record(training.rows[told_], now - training.elapsed.seconds());
    if (training.samples > samples_) {
      const hub::Scalar live[] = {{"live/loss", training.loss},
                                  {"live/workers", training.workers},
                                  {"live/progress", training.progress}};
      news += hub::event_record(now, training.samples, live);
      samples_ = training.samples;
    }
    text_ += news;
    std::ofstream file(folder_ + "/" + std::string(hub::kEventFile), std::ios::app);
    if (!(file << news).flush()) return failed(fmt::format("cannot write into {}", folder_));
    return job.ended.has_value();
  }
  // The results need an empty folder.
  void make_room() const {
    std::error_code ignored;
    fs::remove(path(), ignored);
  }
  void put_back() const { std::ofstream(path(), std::ios::trunc) << text_; }

 private:
  [[nodiscard]] fs::path path() const { return fs::path(folder_) / hub::kEventFile; }

  const std::string folder_;
  std::string text_;
  std::size_t told_ = 0;
  std::int64_t samples_ = 0;
};

Result<> results(Context& c, const Results& o) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto job, parsed<wire::Job>(api->get(o.path())));
  SOUK_ASSIGN(const auto parts, all_of<wire::WorkerStatus>(*api, o.path("/parts")));
  const auto folder = o.folder.empty() ? to_string(o.id) : o.folder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return failed(fmt::format("cannot make {}: {}", folder, error.message()));
  SOUK_ASSIGN(const auto store, user_store(c));
  std::int64_t found = 0;
  if (job.result) {
    ++found;
    const auto target = is_sweep(job) ? folder + "/best" : folder;
    SOUK_TRY(fetch_result(c, o, *store, *job.result, target));
    if (job.batch && job::has_transformers_trainer(*job.batch)) {
      SOUK_ASSIGN(const auto what, export_language_model(c, job, target));
      if (!c.json()) c.print(what + "\n");
    }
  }
  if (is_sweep(job)) {
    SOUK_ASSIGN(const auto sweep, ask_sweep(c, job.id));
    SOUK_TRY(write_sweep(c, sweep, folder));
    ++found;
  }
  for (const auto& part : parts) {
    if (!part.result) continue;
    ++found;
    // Several workers may write the same names: each has a folder of its own.
    const auto target = job.workers.max > 1 ? fmt::format("{}/{}", folder, part.index) : folder;
    SOUK_TRY(fetch_result(c, o, *store, *part.result, target));
  }
  if (c.json())
    return c.print_json(
        fmt::format(R"({{"folder":{},"workers":{}}})", wire::to_json(folder), found));
  if (found == 0)
    return failed(fmt::format("job {} has no results{}", to_string(o.id),
                              job.ended ? "" : fmt::format(" yet: it is {}", to_string(job.state))),
                  "a job keeps the files that `outputs:` of its job file names");
  show_forecast(c, job);
  if (!job::trains(job.kind)) return {};
  SOUK_ASSIGN(const auto training, parsed<wire::Training>(api->get(o.path("/training"))));
  if (const auto measured = figures(training); !measured.empty())
    c.print(fmt::format("  measured  {}\n", measured));
  return {};
}

Result<> watch_results(Context& c, const Results& o) {
  const auto folder = o.folder.empty() ? to_string(o.id) : o.folder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_empty(folder, error))
    return failed(fmt::format("{} is not an empty folder", folder), "name another with -o");
  LiveEvents events(folder);
  c.note(fmt::format("tensorboard --logdir {}", folder));
  for (;;) {
    SOUK_ASSIGN(const auto ended, events.step(c, o));
    if (ended) break;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  events.make_room();
  auto fetched = results(c, o);
  events.put_back();
  return fetched;
}

// How much of its GPUs it used between two samples, and their memory.
void add_gpu_cells(const wire::Usage& now, const wire::Usage& before, double seconds,
                   std::vector<Cell>& row) {
  const bool known = now.gpu_seconds && before.gpu_seconds && seconds > 0;
  row.emplace_back(known ? percent((*now.gpu_seconds - *before.gpu_seconds) / seconds) : "-");
  const auto bytes = std::max<std::int64_t>(0, now.gpu_memory_bytes.value_or(0));
  row.emplace_back(now.gpu_memory_bytes ? bytes_text(static_cast<std::uint64_t>(bytes)) : "-");
}

void show_usage(Context& c, const wire::Job& job, const std::vector<wire::WorkerStatus>& parts,
                const wire::JobUsage& usage) {
  using enum Column::Align;
  const bool gpus = std::ranges::any_of(usage.items, [](const wire::LeaseUsage& u) {
    return !u.samples.empty() &&
           (u.samples.back().usage.gpu_seconds || u.samples.back().usage.gpu_memory_bytes);
  });
  std::vector<Column> columns{{"worker", right},     {"state"},
                              {"machine", left, 6},  {"cpu", right},
                              {"memory", right},     {"peak", right},
                              {"scratch", right},    {"received", right, 0, 2},
                              {"sent", right, 0, 2}, {"cpu time", right, 0, 1},
                              {"doing", left, 8, 3}};
  if (gpus) columns.insert(columns.begin() + 4, {{"gpu", right}, {"gpu memory", right}});
  Table table(std::move(columns));
  for (const auto& part : parts) {
    const wire::LeaseUsage* series = nullptr;
    for (const auto& item : usage.items)
      if (item.part == part.index) series = &item;  // The latest lease comes last.
    const bool ended = job.ended && part.state != wire::WorkerState::done;
    std::vector<Cell> row{std::to_string(part.index),
                          ended ? Cell("ended", Tone::dim) : state_cell(part.state),
                          part.machine.value_or("")};
    if (series == nullptr) {
      row.resize(gpus ? 12 : 10, Cell(""));
    } else {
      const auto& s = series->samples;
      const auto& last = s.back().usage;
      const auto& before = s.size() > 1 ? s[s.size() - 2] : s.back();
      const auto seconds = (s.back().at - before.at).seconds();
      row.emplace_back(
          seconds > 0 ? percent((last.cpu_seconds - before.usage.cpu_seconds) / seconds) : "-");
      if (gpus) add_gpu_cells(last, before.usage, seconds, row);
      for (const auto bytes : {last.memory_bytes, last.memory_peak_bytes, last.scratch_bytes,
                               last.received_bytes, last.sent_bytes})
        row.emplace_back(bytes_text(static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes))));
      row.emplace_back(rough(base::Duration(static_cast<std::int64_t>(last.cpu_seconds * 1e6))));
    }
    row.emplace_back(part.doing.value_or(""));
    table.add(std::move(row));
  }
  c.print(table);
}

}  // namespace

Command logs_command() {
  struct Options : OneJob {
    std::optional<std::int32_t> worker;
    bool follow = false, raw = false;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "logs",
              .summary = "what a job's programs printed",
              .examples = {"logs j1", "logs j1 -f", "logs j1 --worker 2", "logs j1 --raw > log"}};
  out.options = {
      job_argument(*o), with_letter('f', flag("--follow", "go on until the job ends", o->follow)),
      flag("--worker N", "only this one, from 0", o->worker),
      flag("--raw", "as printed, with escape sequences; else those are left out", o->raw)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_TRY(o->find(c));
    LogReader reader(c, *o, o->worker, o->raw);
    for (;;) {
      SOUK_ASSIGN(const auto ended, reader.step());
      if (ended || !o->follow) return {};
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
  };
  return out;
}

Command results_command() {
  auto o = std::make_shared<Results>();
  Command out{.name = "results",
              .summary = "bring a job's outputs here",
              .examples = {"results j1", "results j1 -o ./out", "results j1 --watch",
                           "results j1 --max-size 50G"}};
  out.options = {
      job_argument(*o),
      with_letter('o', flag("--output FOLDER", "where to; default: the job's id", o->folder)),
      flag("--watch", "a training: keep a file for TensorBoard until it ends, then fetch",
           o->watch),
      flag("--max-size SIZE", "of one worker's outputs, unpacked; default 10G", o->max_size)};
  out.details =
      "The outputs of one worker go into the folder itself, those of several into folders 0, 1, 2 "
      "and so on below it. The folders must be empty. Outputs that claim to be larger than "
      "--max-size "
      "are fetched only if you say so on the terminal. Of a training with trainer: transformers "
      "they "
      "become what PEFT or transformers load, which needs python3 (SOUK_PYTHON). With --watch, "
      "`tensorboard --logdir FOLDER` shows the training while it runs. Of a sweep the table of its "
      "trials (sweep.csv, sweep.json), a picture (sweep.svg) and what its best trial left (best).";
  out.run = [o](Context& c) -> Result<> {
    SOUK_TRY(o->find(c));
    return o->watch ? watch_results(c, *o) : results(c, *o);
  };
  return out;
}

Command top_command() {
  auto o = std::make_shared<OneJob>();
  Command out{.name = "top",
              .summary = "what a job's workers use now, or used last",
              .examples = {"job top j1", "job top j1 --json   # the whole series"}};
  out.options = {job_argument(*o)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_TRY(o->find(c));
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get(o->path("/usage")));
    if (c.json()) return c.print_json(body);
    SOUK_ASSIGN(const auto usage, parse_body<wire::JobUsage>(body));
    SOUK_ASSIGN(const auto job, parsed<wire::Job>(api->get(o->path())));
    SOUK_ASSIGN(const auto parts, all_of<wire::WorkerStatus>(*api, o->path("/parts")));
    if (parts.empty())
      return failed(fmt::format("job {} runs no program, so nothing is known of its workers",
                                to_string(o->id)),
                    fmt::format("souk job show {}", to_string(o->id)));
    if (job.ended)
      c.print(fmt::format("{} ended {}: {}. {}\n", to_string(o->id), relative(*job.ended, c.now()),
                          to_string(job.state),
                          usage.items.empty() ? "No figures of its workers are left."
                                              : "These are the last figures of its workers."));
    show_usage(c, job, parts, usage);
    return {};
  };
  return out;
}

}  // namespace souk::cli
