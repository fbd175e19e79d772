#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/lab/lab.h"
#include "cli/shell/human.h"
#include "cli/shell/progress.h"
#include "lab/report/report.h"
#include "lab/report/summary.h"
#include "lab/strategies/best_response.h"
#include "lab/worlds/experiment.h"
#include "server/http/embedded.h"
#include "server/http/version.h"
#include "wire/json.h"

// The laboratory: scenarios under several mechanisms, and what came of them.

namespace souk::cli {
namespace {

namespace fs = std::filesystem;

struct LabRun {
  std::string file, folder;
  Names mechanisms;
  std::optional<std::uint64_t> seeds;
  std::int32_t threads = 0;
};

Result<lab::Scenario> load(const LabRun& o) {
  SOUK_ASSIGN(auto scenario, lab::load_scenario(o.file));
  SOUK_TRY(lab::change(scenario, o.mechanisms.items, o.seeds));
  if (o.threads < 0 || o.threads > 1'024) return usage("use 1 to 1024 threads");
  return scenario;
}

struct FinishedRuns {
  std::vector<lab::Run> runs;
  std::string speed;  // For people; differs from time to time.
};

Result<FinishedRuns> run_all(Context& c, const lab::Scenario& scenario, std::int32_t threads) {
  constexpr std::uint64_t parts = 1'000;
  const auto begin = std::chrono::steady_clock::now();
  FinishedRuns out;
  {
    Progress bar("simulating", "parts", parts, c.err());
    SOUK_ASSIGN(out.runs,
                lab::run_experiment(scenario, {.threads = threads, .progress = [&](double d) {
                                                 bar.update(static_cast<std::uint64_t>(d * parts));
                                               }}));
  }
  const auto wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::uint64_t events = 0;
  double busy = 0;
  for (const auto& run : out.runs) {
    events += run.events;
    busy += run.seconds;
  }
  out.speed =
      fmt::format("{} runs, {} events in {:.1f} s: {:.0f} events/s, {:.0f} a second of one core",
                  out.runs.size(), events, wall, static_cast<double>(events) / std::max(wall, 1e-9),
                  static_cast<double>(events) / std::max(busy, 1e-9));
  return out;
}

Result<> write_file(const fs::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.flush();
  if (!out) return failed(fmt::format("cannot write {}", path.string()), "is there room?");
  return {};
}

constexpr const char* kNameFolder = "name the folder that `souk lab run -o` made";

Result<> make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return failed(fmt::format("cannot make {}: {}", folder, error.message()));
  return {};
}

void show_summary(const Context& c, const lab::Summary& s) {
  using enum Column::Align;
  std::vector<Column> columns{{"metric"}};
  for (const auto& m : s.mechanisms) columns.push_back({m.name, right});
  Table table(columns);
  for (const auto& metric : lab::metric_names()) {
    std::vector<Cell> row{std::string(metric.title)};
    bool any = false;
    for (const auto& m : s.mechanisms) {
      const auto at = m.metrics.find(std::string(metric.field));
      any |= at != m.metrics.end();
      row.emplace_back(at == m.metrics.end() ? "-" : lab::metric_text(metric, at->second));
    }
    if (any) table.add(std::move(row));
  }
  c.print(table);
}

Result<> run(Context& c, const LabRun& o) {
  SOUK_ASSIGN(const auto scenario, load(o));
  if (!o.folder.empty()) SOUK_TRY(make_folder(o.folder));
  SOUK_ASSIGN(const auto done, run_all(c, scenario, o.threads));
  const auto summary = lab::summarise(scenario, done.runs, server::kVersion);
  const auto json = wire::to_json(summary);
  if (!o.folder.empty()) {
    const auto csv = lab::trades_csv(scenario, done.runs);
    const fs::path folder(o.folder);
    SOUK_TRY(write_file(folder / "summary.json", json + "\n"));
    SOUK_TRY(write_file(folder / "trades.csv", csv));
    SOUK_ASSIGN(const auto prices, lab::price_series(csv, "trades.csv"));
    SOUK_TRY(write_file(folder / "report.html", lab::report_html(summary, prices)));
  }
  if (c.json()) {
    SOUK_TRY(c.print_json(json));
  } else {
    show_summary(c, summary);
    if (!o.folder.empty())
      c.print(fmt::format("{0}/summary.json, {0}/trades.csv, {0}/report.html\n", o.folder));
  }
  c.note(done.speed);
  return {};
}

Result<> compare(Context& c, const LabRun& o) {
  SOUK_ASSIGN(const auto scenario, load(o));
  if (scenario.mechanisms.size() < 2)
    return usage("there is nothing to compare", "name two or more with --mechanisms a,b");
  SOUK_ASSIGN(const auto done, run_all(c, scenario, o.threads));
  using enum Column::Align;
  const auto pairs = lab::comparisons(scenario, done.runs);
  if (c.json()) return c.print_json(fmt::format("{{\"items\":{}}}", wire::to_json(pairs)));
  for (const auto& pair : pairs) {
    Table table({{"metric"}, {pair.a, right}, {pair.b, right}, {"difference", right}, {""}});
    for (const auto& row : pair.metrics) {
      const auto names = lab::metric_names();
      const auto& metric = *std::ranges::find(names, row.metric, &lab::MetricName::field);
      table.add({std::string(metric.title), lab::metric_text(metric, row.a),
                 lab::metric_text(metric, row.b),
                 Cell(lab::metric_text(metric, row.difference),
                      row.significant ? Tone::strong : Tone::dim),
                 row.significant ? "*" : ""});
    }
    c.print(table);
  }
  c.print(
      fmt::format("{} seeds, the same for all; *: the 95% interval of the paired difference "
                  "does not contain 0\n",
                  scenario.seeds.size()));
  c.note(done.speed);
  return {};
}

Result<> report(Context& c, const std::string& folder) {
  SOUK_ASSIGN(const auto text, base::read_file(folder + "/summary.json", kNameFolder));
  auto summary = wire::from_json<lab::Summary>(text);
  if (!summary)
    return failed(fmt::format("{}/summary.json: {}", folder, summary.error().message),
                  "make it again with `souk lab run`");
  SOUK_ASSIGN(const auto csv, base::read_file(folder + "/trades.csv", kNameFolder));
  SOUK_ASSIGN(const auto prices, lab::price_series(csv, folder + "/trades.csv"));
  const auto path = (fs::path(folder) / "report.html").string();
  SOUK_TRY(write_file(path, lab::report_html(*summary, prices)));
  return c.done(fmt::format(R"({{"file":{}}})", wire::to_json(path)), path);
}

Result<> best_response(Context& c, const LabRun& o) {
  SOUK_ASSIGN(const auto scenario, load(o));
  std::string json = "{\"items\":[";
  for (std::size_t i = 0; i < scenario.mechanisms.size(); ++i) {
    const auto& mechanism = scenario.mechanisms[i];
    lab::BestResponseOptions options{.threads = o.threads};
    std::optional<Progress> bar;
    bar.emplace("searching " + mechanism.label, "rounds", std::nullopt, c.err());
    options.progress = [&](std::int32_t round) { bar->update(static_cast<std::uint64_t>(round)); };
    SOUK_ASSIGN(const auto found, lab::search_best_responses(scenario, mechanism, options));
    bar.reset();
    json += (i > 0 ? "," : "") + wire::to_json(found);
    if (c.json()) continue;
    using enum Column::Align;
    Table table({{"population"}, {"line"}, {"gain each period", right}});
    for (const auto& p : found.play)
      table.add({p.population,
                 fmt::format("{:.4f} x {} {} {:.4f}", p.slope, p.lends ? "cost" : "value",
                             p.intercept < 0 ? "-" : "+", std::abs(p.intercept)),
                 fmt::format("{:.5f}", p.gain)});
    c.print(table);
    c.print(fmt::format(
        "{}: {} after {}; gains {} of the most there could be, {} if all said the "
        "truth\n",
        mechanism.label, found.settled ? "settled" : "still moving", plural(found.rounds, "round"),
        percent(found.efficiency, 1), percent(found.truthful, 1)));
  }
  return c.json() ? c.print_json(json + "]}") : Result<>{};
}

std::vector<Option> run_options(LabRun& o) {
  return {
      argument("FILE", "the scenario", o.file),
      flag("--mechanisms NAMES", "instead of the file's: k-double:kappa=0.25,posted", o.mechanisms),
      flag("--seeds N", "1 to N, instead of the file's", o.seeds),
      flag("--threads N", "default: all cores; changes no result", o.threads)};
}

Command run_lab_command() {
  auto o = std::make_shared<LabRun>();
  Command out{.name = "run",
              .summary = "run a scenario under its mechanisms",
              .examples = {"lab run examples/lab/smith.yaml -o out",
                           "lab run cluster.yaml --mechanisms posted,k-double --seeds 30 --json"}};
  out.options = run_options(*o);
  out.options.push_back(with_letter(
      'o', flag("--output FOLDER", "for summary.json, trades.csv and report.html", o->folder)));
  out.details =
      "Every mechanism meets the same draws. The same file and version give the same summary.json "
      "and trades.csv, bit for bit.";
  out.run = [o](Context& c) { return run(c, *o); };
  return out;
}

Command compare_runs_command() {
  auto o = std::make_shared<LabRun>();
  Command out{.name = "compare",
              .summary = "differences between mechanisms, seed by seed",
              .examples = {"lab compare examples/lab/cluster.yaml --mechanisms posted,k-double"}};
  out.options = run_options(*o);
  out.details = "The first mechanism is compared with each of the others.";
  out.run = [o](Context& c) { return compare(c, *o); };
  return out;
}

// Of the comment that the text begins with.
std::string first_sentence(std::string_view text) {
  std::string out;
  for (const auto line : base::split(text, '\n')) {
    if (!line.starts_with("# ")) break;
    out += (out.empty() ? "" : " ") + std::string(line.substr(2));
  }
  return out.substr(0, std::min(out.find(". "), out.size() - out.ends_with('.')));
}

Command list_runs_command() {
  Command out{.name = "list",
              .summary = "scenarios to begin from",
              .examples = {"lab list", "lab list --json"}};
  out.run = [](Context& c) -> Result<> {
    Table table({{"scenario"}, {"what", Column::Align::left, 10}});
    std::string json;
    for (const auto& s : server::example_scenarios()) {
      const auto what = first_sentence(s.text);
      table.add({std::string(s.name), what});
      json += fmt::format(R"({}{{"name":{},"what":{}}})", json.empty() ? "" : ",",
                          wire::to_json(std::string(s.name)), wire::to_json(what));
    }
    if (c.json()) return c.print_json("{\"items\":[" + json + "]}");
    c.print(table);
    c.note("souk lab run examples/lab/NAME.yaml runs one");
    return {};
  };
  return out;
}

Command report_command() {
  auto folder = std::make_shared<std::string>();
  Command out{.name = "report",
              .summary = "make report.html again from the other two files",
              .examples = {"lab report out"}};
  out.options = {argument("FOLDER", "of `souk lab run -o`", *folder)};
  out.run = [folder](Context& c) { return report(c, *folder); };
  return out;
}

Command best_response_command() {
  auto o = std::make_shared<LabRun>();
  Command out{.name = "best-response",
              .summary = "search for an equilibrium in linear strategies",
              .examples = {"lab best-response examples/lab/chatterjee_samuelson.yaml"}};
  out.options = run_options(*o);
  out.details =
      "Of a book. Whatever strategies the file names, each population bids a line of its value; in "
      "turn one trader of each looks for a better line, until none finds one.";
  out.run = [o](Context& c) { return best_response(c, *o); };
  return out;
}

}  // namespace

Command lab_command() {
  Command out{.name = "lab",
              .summary = "experiments: scenarios under several mechanisms",
              .examples = {"lab run examples/lab/smith.yaml -o out",
                           "lab compare examples/lab/cluster.yaml"}};
  out.commands = {run_lab_command(),   list_runs_command(),     compare_runs_command(),
                  report_command(),    best_response_command(), lab_replay_command(),
                  lab_trace_command(), lab_spot_command()};
  for (auto& command : out.commands) command.common = Common::local;
  return out;
}

}  // namespace souk::cli
