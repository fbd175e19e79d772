#include <fmt/format.h>

#include <map>

#include "server/http/router.h"

// What Prometheus collects.

namespace souk::server {
namespace {

using base::Code;
using base::fail;

// The text that it reads.
class MetricsText {
 public:
  void counter(std::string_view name, std::string_view help, std::uint64_t value) {
    add(name, "counter", help, std::to_string(value));
  }
  void gauge(std::string_view name, std::string_view help, std::uint64_t value) {
    add(name, "gauge", help, std::to_string(value));
  }
  void add(std::string_view name, std::string_view type, std::string_view help,
           std::string_view value) {
    family(name, type, help);
    out_ += fmt::format("{} {}\n", name, value);
  }
  // A name under which samples with labels follow.
  void family(std::string_view name, std::string_view type, std::string_view help) {
    out_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
  }
  void sample(std::string_view name_and_labels, std::string_view value) {
    out_ += fmt::format("{} {}\n", name_and_labels, value);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void add_server(MetricsText& out, const ServerContext& server) {
  const auto core = server.core.counters();
  out.counter("souk_commands_total", "Commands decided.", core.commands);
  out.counter("souk_commands_refused_total", "Commands refused.", core.refused);
  out.counter("souk_events_total", "Events committed.", core.events);
  out.counter("souk_commits_total", "Journal commits.", core.commits);
  out.add("souk_commit_seconds_total", "counter", "Time spent in journal commits.",
          fmt::format("{}", static_cast<double>(core.commit_us) / 1e6));
  out.counter("souk_queue_full_total", "Requests turned away because the core was busy.",
              core.queue_full);
  if (server.options.net_counters) {
    const auto net = server.options.net_counters();
    out.gauge("souk_connections", "Open connections.", net.open);
    out.gauge("souk_connections_strangers", "Of these, without a proof of who it is yet.",
              net.strangers);
    out.gauge("souk_connections_limit", "Connections that may be open.", net.limit);
    out.counter("souk_connections_evicted_total", "Strangers' connections closed to make room.",
                net.evicted);
    out.counter("souk_requests_total", "HTTP requests.", net.requests);
    out.counter("souk_connections_refused_total", "Connections over a limit.", net.refused);
  }
  if (server.options.journal_figures) {
    const auto journal = server.options.journal_figures();
    out.gauge("souk_journal_bytes", "Of the journal on disk; 0 in memory.", journal.bytes);
    out.gauge("souk_journal_first_event", "The oldest event that the journal still has.",
              journal.first_event);
    out.add("souk_snapshot_timestamp_seconds", "gauge",
            "When the last snapshot was saved; 0: not since the start.",
            fmt::format("{}", static_cast<double>(journal.last_snapshot.us) / 1e6));
  }
  out.gauge("souk_readers", "Streams and long polls.", server.feed.readers());
}

void add_budgets(MetricsText& out, const Budgets& budgets) {
  const auto rows = [&](std::string_view name, std::string_view help, const auto& value) {
    out.family(name, "gauge", help);
    for (const auto* b : budgets.all)
      out.sample(fmt::format("{}{{budget=\"{}\"}}", name, b->name()), std::to_string(value(*b)));
  };
  rows("souk_budget_used", "What all accounts use of a budget.",
       [](const base::Budget& b) { return b.used_in_all(); });
  rows("souk_budget_limit", "What all accounts may use of it.",
       [](const base::Budget& b) { return b.limit().all; });
  rows("souk_budget_limit_each", "What one account may use of it.",
       [](const base::Budget& b) { return b.limit().each; });
}

void add_files(MetricsText& out, const blob::StoreFigures& files) {
  out.gauge("souk_blob_bytes", "Of files kept for jobs.", files.bytes);
  out.gauge("souk_blob_chunks", "Chunks that they are cut into.", files.chunks);
  out.gauge("souk_blobs_to_move", "Chunks that are still in the folder and not in the bucket.",
            files.to_move);
  out.gauge("souk_blobs_to_remove", "Chunks that the bucket has still to forget.", files.to_remove);
  out.gauge("souk_blob_store_trouble", "1: the bucket refuses or does not answer.",
            files.trouble.empty() ? 0 : 1);
  out.family("souk_blob_reads_total", "counter", "Chunks read, by where they came from.");
  out.sample("souk_blob_reads_total{from=\"cache\"}", std::to_string(files.from_cache));
  out.sample("souk_blob_reads_total{from=\"bucket\"}", std::to_string(files.from_bucket));
}

void add_market(MetricsText& out, const market::State& s) {
  out.gauge("souk_accounts", "Accounts.", s.accounts.size());
  out.gauge("souk_machines", "Machines.", s.machines.size());
  out.gauge("souk_offers", "Offers.", s.offers.size());
  out.add("souk_ledger_sum_credits", "gauge", "Sum of all balances; anything but 0 is a bug.",
          to_string(s.ledger.sum()));
  out.add("souk_minted_credits", "gauge", "Credits granted so far.", to_string(s.ledger.minted()));
  std::map<std::string_view, int> jobs;
  for (const auto state : names_of(market::JobState{})) jobs[state] = 0;
  s.jobs.for_each([&](const market::Job& j) { ++jobs[to_string(j.state)]; });
  out.family("souk_jobs", "gauge", "Jobs by state.");
  for (const auto& [state, n] : jobs)
    out.sample(fmt::format("souk_jobs{{state=\"{}\"}}", state), std::to_string(n));
}

void add_forecasts(MetricsText& out, const ForecastErrors& errors) {
  out.gauge("souk_forecasts", "Forecasts of trainings that were compared with what happened.",
            static_cast<std::uint64_t>(errors.count()));
  out.family("souk_forecast_error", "gauge", "How far their times were off, as a share.");
  for (const auto q : {0.5, 0.9})
    if (const auto error = errors.quantile(q))
      out.sample(fmt::format("souk_forecast_error{{quantile=\"{}\"}}", q),
                 fmt::format("{:.4f}", *error));
}

void add_slots(MetricsText& out, const market::State& s) {
  out.family("souk_slots", "gauge", "Slots by class.");
  const auto slots = [&](const std::string& name, std::string_view kind, std::int64_t n) {
    out.sample(fmt::format("souk_slots{{class=\"{}\",kind=\"{}\"}}", name, kind),
               std::to_string(n));
  };
  for (const auto& c : s.classes) {
    const auto& index = s.index.classes[c.id.value - 1];
    slots(c.name, "leased", index.leased);
    slots(c.name, "wanted", index.wanted);
  }
}

// This computer, operators, and everybody if the operator wants that.
Result<> may_read(ServerContext& server, const Core::Turn& turn, ApiCall& call) {
  if (server.options.metrics_public || is_local(call.http)) return {};
  SOUK_ASSIGN(const auto actor, server.authentication.actor_of(turn, call));
  if (actor.scope == market::Scope::operator_) return {};
  return fail(Code::forbidden, "metrics are for operators");
}

void serve_metrics(ServerContext& server, ApiCallPtr call) {
  to_core(server, std::move(call), [&server](Core::Turn& turn, ApiCallPtr c) {
    if (const auto allowed = may_read(server, turn, *c); !allowed)
      return answer_after(turn, std::move(c), refusal(allowed.error()));
    MetricsText text;
    add_server(text, server);
    add_budgets(text, server.services.budgets);
    add_files(text, server.services.blobs->figures());
    add_market(text, turn.state());
    add_forecasts(text, server.services.forecast_errors);
    add_slots(text, turn.state());
    answer_after(turn, std::move(c),
                 {.content_type = "text/plain; version=0.0.4", .body = text.take()});
  });
}

}  // namespace

void add_metrics_routes(Routes& routes) {
  routes
      .on_io<void, void>("GET", "/metrics", "getMetrics",
                         "Prometheus metrics, for loopback and operators", Access::everybody,
                         &serve_metrics)
      .doc.media = "text/plain";
}

}  // namespace souk::server
