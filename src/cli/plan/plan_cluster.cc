#include <fmt/format.h>

#include <algorithm>

#include "advisor/catalog.h"
#include "base/check.h"
#include "base/file.h"
#include "cli/plan/plan.h"
#include "cli/shell/human.h"
#include "lab/files/plan_files.h"
#include "wire/json.h"

// A parameter server and workers of one type (FC2).

namespace souk::cli {
namespace {

using advisor::ClusterChoice;
using advisor::ClusterRecommender;
using advisor::ClusterRequest;

const ClusterRecommender& recommender(std::string_view name) {
  const auto all = advisor::cluster_recommenders();
  const auto at = std::ranges::find(all, name, &ClusterRecommender::name);
  CHECK(at != all.end());
  return *at;
}

Result<ClusterRequest> request_of(const PlanFlags& f, const lab::CatalogFile& file,
                                  const ClusterRecommender& r) {
  const bool named = r.name == "scala-opt-m";
  if (named == f.type.empty())
    return usage(named ? "scala-opt-m needs a --type" : fmt::format("{} takes no --type", r.name),
                 named ? "scala-opt chooses one by itself" : "scala-opt-m does; --types limits");
  ClusterRequest out{.server = f.ps, .types = f.types.items, .budget = f.budget};
  if (named) out.types = {f.type};
  // A budget alone says how far to go; the file's number is for those who give neither.
  out.max_workers = f.max_workers || f.budget ? f.max_workers : file.max_workers;
  out.share = f.share ? *f.share : file.share.value_or(out.share);
  if (!f.bandwidth.empty()) {
    auto map = lab::parse_bandwidth(f.bandwidth);
    if (!map)
      return usage("--bandwidth: " + map.error().message, R"(write it as {"t2.xlarge":180})");
    out.bandwidth_mbps = *std::move(map);
  }
  // Who measured some types chooses among those, whatever the algorithm.
  if (out.types.empty())
    for (const auto& [type, mbps] : out.bandwidth_mbps) out.types.push_back(type);
  return out;
}

struct ClusterPlan {
  std::string ps, type;
  std::int32_t workers = 0;
  base::Credits cost_per_hour;
  std::string binding;
  std::optional<PricesUsed> prices;
  SOUK_FIELDS(ClusterPlan, ps, type, workers, cost_per_hour, binding, prices)
};

std::string count_text(const std::optional<std::int32_t>& n) {
  return n ? std::to_string(*n) : "-";
}

void show_clusters(const Context& c, const ClusterRecommender& r, const advisor::Sized& all,
                   const ClusterChoice& choice) {
  using enum Column::Align;
  Table table({{""},
               {"worker type"},
               {"an hour", right},
               {"Mbps", right},
               {"by bandwidth", right},
               {"by budget", right},
               {"at most", right},
               {"workers", right},
               {"cluster, an hour", right}});
  for (const auto& size : all.sizes) {
    const bool chosen = size.type.name == choice.size.type.name;
    table.add({chosen ? "*" : "", Cell(size.type.name, chosen ? Tone::strong : Tone::plain),
               brief(size.type.price),
               size.bandwidth_mbps ? fmt::format("{:g}", *size.bandwidth_mbps) : "-",
               count_text(size.by_bandwidth), count_text(size.by_budget),
               count_text(size.by_max_workers), std::to_string(size.workers()),
               brief(ClusterChoice{all.server, size}.per_hour())});
  }
  c.print(table);
  c.print(
      wrapped(fmt::format("{} beside {} for {} an hour: {} takes {}, and {} is the limit.",
                          fmt::format("{} x {}", choice.size.workers(), choice.size.type.name),
                          choice.server.name, base::to_string(choice.per_hour()), r.name, r.summary,
                          choice.size.binding() == advisor::Binding::max_workers
                              ? "the largest number of workers"
                              : fmt::format("the {}", to_string(choice.size.binding()))),
              0, text_width(c.out())) +
      "\n");
}

}  // namespace

Result<> plan_cluster(Context& c, const PlanFlags& f) {
  const auto& r = recommender(f.algorithm);
  if (f.catalog.empty())
    return usage(fmt::format("{} needs a --catalog", r.name),
                 "a file with the prices of servers and workers; docs/planning.md shows one");
  SOUK_ASSIGN(const auto text, base::read_file(f.catalog, "docs/planning.md shows such a file"));
  SOUK_ASSIGN(
      const auto file,
      lab::parse_catalog(text, f.catalog, f.buy ? std::optional(f.buy->way) : std::nullopt));
  if (file.prices) note_age(c, *file.prices);
  SOUK_ASSIGN(const auto request, request_of(f, file, r));
  SOUK_ASSIGN(const auto choice, r.recommend(file.catalog, request));
  if (c.json()) {
    ClusterPlan out{.ps = choice.server.name,
                    .type = choice.size.type.name,
                    .workers = choice.size.workers(),
                    .cost_per_hour = choice.per_hour(),
                    .binding = std::string(to_string(choice.size.binding()))};
    if (file.prices) out.prices = prices_used(*file.prices);
    return c.print_json(wire::to_json(out));
  }
  SOUK_ASSIGN(const auto all, advisor::size_all(file.catalog, request, r.bandwidth));
  show_clusters(c, r, all, choice);
  if (file.prices) c.print(prices_line(*file.prices));
  return {};
}

}  // namespace souk::cli
