#include "lab/files/plan_files.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/value.hpp>
#include <vector>

#include "base/fields.h"
#include "lab/files/price_file.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using base::Code;
using base::Credits;
using base::fail;
using Value = boost::json::value;

// --- Catalogs ---------------------------------------------------------------------------------

struct ServerRow {
  Credits cost;
  double bw_mbps = 0;
  std::optional<double> ecu, mem;
  std::optional<std::string> net;

  SOUK_FIELDS(ServerRow, cost, bw_mbps, ecu, mem, net)
};

struct WorkerRow {
  Credits cost;
  std::optional<double> ecu, mem, gpu;

  SOUK_FIELDS(WorkerRow, cost, ecu, mem, gpu)
};

struct CatalogRows {
  std::optional<std::string> source;
  std::map<std::string, ServerRow> ps;
  std::map<std::string, WorkerRow> workers;
  std::optional<double> p;
  std::optional<std::int32_t> max_workers;

  SOUK_FIELDS(CatalogRows, source, ps, workers, p, max_workers)
};

Result<CatalogFile> catalog_of(const CatalogRows& rows) {
  CatalogFile out{.share = rows.p, .max_workers = rows.max_workers};
  for (const auto& [name, row] : rows.ps) {
    if (row.cost < Credits() || !(row.bw_mbps > 0))
      return fail(Code::invalid,
                  fmt::format("ps {} costs {} and has {} Mbps", name, base::to_string(row.cost),
                              row.bw_mbps),
                  "a cost of 0 or more, a bandwidth above 0");
    out.catalog.servers.push_back({name, row.cost, row.bw_mbps});
  }
  for (const auto& [name, row] : rows.workers) {
    if (row.cost < Credits())
      return fail(Code::invalid, fmt::format("worker {} costs {}", name, base::to_string(row.cost)),
                  "0 or more");
    out.catalog.workers.push_back({name, row.cost});
  }
  return out;
}

bool is_of_a_provider(const Value& value) {
  const auto* object = value.if_object();
  return object && object->contains("provider");
}

// The workers of a cluster are of one type, and bought one way.
Result<CatalogFile> catalog_of(advisor::PriceCatalog prices, std::optional<advisor::Buy> buy) {
  if (buy == advisor::Buy::both)
    return fail(Code::invalid, "the workers of one type are bought one way",
                "say --buy spot or --buy on-demand");
  return CatalogFile{.catalog = cluster_types(prices, buy.value_or(advisor::Buy::on_demand)),
                     .prices = std::move(prices)};
}

// --- Profiles ---------------------------------------------------------------------------------

struct CatalogRow {
  std::string name;
  std::optional<std::int32_t> quota;
  std::optional<Credits> price;
  double step_s = 0;
  double batch = 1;
  std::int32_t gpus = 0;
  double revocations_per_hour = 0;
  std::vector<double> residuals;

  SOUK_FIELDS(CatalogRow, name, quota, price, step_s, batch, gpus, revocations_per_hour, residuals)
  static constexpr auto optional_fields =
      std::array<std::string_view, 3>{"batch", "gpus", "revocations_per_hour"};
};

struct HubRow {
  double bandwidth_mb_s = 0, alpha1 = 0, beta1 = 1, folds_per_s = 0;
  Credits price;

  SOUK_FIELDS(HubRow, bandwidth_mb_s, alpha1, beta1, folds_per_s, price)
  static constexpr auto optional_fields =
      std::array<std::string_view, 5>{"bandwidth_mb_s", "alpha1", "beta1", "folds_per_s", "price"};
};

struct CurveRow {
  double gamma1 = 0, gamma2 = 0, gamma3 = 0, gamma5 = 0;
  std::optional<double> gamma4;

  SOUK_FIELDS(CurveRow, gamma1, gamma2, gamma3, gamma4, gamma5)
};

struct RecoveryRow {
  double interval_s = 0, checkpoint_s = 0, restart_s = 0;

  SOUK_FIELDS(RecoveryRow, interval_s, checkpoint_s, restart_s)
  static constexpr auto optional_fields =
      std::array<std::string_view, 3>{"interval_s", "checkpoint_s", "restart_s"};
};

struct ProfileRows {
  std::vector<CatalogRow> types;
  double model_mb = 0, request_mb_s = 0, pcie_mb_s = 0;
  std::optional<HubRow> hub;
  std::optional<CurveRow> loss;
  std::optional<RecoveryRow> recovery;
  std::optional<wire::AnyJson> fit;

  SOUK_FIELDS(ProfileRows, types, model_mb, request_mb_s, pcie_mb_s, hub, loss, recovery, fit)
  static constexpr auto optional_fields =
      std::array<std::string_view, 3>{"model_mb", "request_mb_s", "pcie_mb_s"};
};

Result<> has_prices(const ProfileRows& rows) {
  for (std::size_t i = 0; i < rows.types.size(); ++i) {
    const auto& t = rows.types[i];
    if (t.price && t.quota) continue;
    return fail(Code::invalid,
                fmt::format("missing key 'types[{}].{}'", i, t.price ? "quota" : "price"),
                "give it, or take prices from a catalog: --prices FILE");
  }
  return {};
}

Result<ProfileFile> profile_of(const ProfileRows& rows, Prices prices) {
  if (prices == Prices::inside) SOUK_TRY(has_prices(rows));
  ProfileFile out;
  auto& p = out.problem;
  p.traffic = {rows.model_mb, rows.request_mb_s, rows.pcie_mb_s};
  if (const auto& h = rows.hub)
    p.hub = {h->bandwidth_mb_s, h->alpha1, h->beta1, h->folds_per_s, h->price};
  if (const auto& r = rows.recovery) p.recovery = {r->interval_s, r->checkpoint_s, r->restart_s};
  if (const auto& l = rows.loss)
    out.curve = {
        .g1 = l->gamma1, .g2 = l->gamma2, .g3 = l->gamma3, .g4 = l->gamma4, .g5 = l->gamma5};
  for (const auto& t : rows.types) {
    const auto compute_s = advisor::compute_seconds(t.step_s, p.traffic, t.gpus);
    if (!(compute_s > 0))
      return fail(
          Code::invalid,
          fmt::format("a step of {} takes {} s, and its exchange alone {:.4g} s", t.name, t.step_s,
                      t.step_s - compute_s),
          "step_s is the whole of a step with one worker; is model_mb or request_mb_s off?");
    p.types.push_back({.name = t.name,
                       .quota = t.quota.value_or(0),
                       .price = t.price.value_or(Credits()),
                       .batch = t.batch,
                       .compute_s = compute_s,
                       .gpus = t.gpus,
                       .revocations_per_hour = t.revocations_per_hour,
                       .residuals = t.residuals});
  }
  return out;
}

// --- Published columns ------------------------------------------------------------------------

struct Columns {
  std::vector<std::string> types;
  std::vector<std::int32_t> gpus, quota;
  std::vector<Credits> spot_price;
  std::vector<double> speed_samples_per_s, batch_per_gpu;
  // NOLINTNEXTLINE(readability-identifier-naming): the names are published.
  double S_parm_MB = 0, B_req_MBps = 0, B_ps_MBps = 0, B_pcie_MBps = 0;
  double alpha1 = 0, beta1 = 0, gamma1 = 0, gamma2 = 0, gamma3 = 0;
  wire::AnyJson gamma4;
  std::optional<double> gamma5, gamma5_named_r4;

  SOUK_FIELDS(Columns, types, gpus, quota, spot_price, speed_samples_per_s, batch_per_gpu,
              S_parm_MB, B_req_MBps, B_ps_MBps, B_pcie_MBps, alpha1, beta1, gamma1, gamma2, gamma3,
              gamma4, gamma5, gamma5_named_r4)
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"gamma4"};
};

Result<> same_length(const Columns& c) {
  const std::pair<std::string_view, std::size_t> lists[] = {
      {"gpus", c.gpus.size()},
      {"quota", c.quota.size()},
      {"spot_price", c.spot_price.size()},
      {"speed_samples_per_s", c.speed_samples_per_s.size()},
      {"batch_per_gpu", c.batch_per_gpu.size()}};
  for (const auto& [name, size] : lists)
    if (size != c.types.size())
      return fail(Code::invalid,
                  fmt::format("{} has {} entries for {} types", name, size, c.types.size()),
                  "give one for each");
  return {};
}

Result<ProfileFile> profile_of(const Columns& c) {
  SOUK_TRY(same_length(c));
  const auto g5 = c.gamma5 ? c.gamma5 : c.gamma5_named_r4;
  if (!g5) return fail(Code::invalid, "gamma5 is missing", "the loss that the curve ends at");
  ProfileFile out{
      .curve = advisor::Convergence{.g1 = c.gamma1, .g2 = c.gamma2, .g3 = c.gamma3, .g5 = *g5}};
  if (const auto g4 = wire::from_json<double>(c.gamma4.text)) out.curve->g4 = *g4;
  auto& p = out.problem;
  p.traffic = {c.S_parm_MB, c.B_req_MBps, c.B_pcie_MBps};
  p.hub = {.bandwidth_mb_s = c.B_ps_MBps, .contention_slope = c.alpha1, .contention_base = c.beta1};
  const advisor::Traffic network{c.S_parm_MB, c.B_req_MBps, 0};
  for (std::size_t i = 0; i < c.types.size(); ++i) {
    const auto batch = c.gpus[i] * c.batch_per_gpu[i];
    const auto step_s = batch / c.speed_samples_per_s[i];
    p.types.push_back({.name = c.types[i].substr(0, c.types[i].find('(')),  // Remarks follow it.
                       .quota = c.quota[i],
                       .price = c.spot_price[i],
                       .batch = batch,
                       .compute_s = advisor::compute_seconds(step_s, network, c.gpus[i]),
                       .gpus = c.gpus[i]});
  }
  return out;
}

bool is_columns(const Value& value) {
  const auto* object = value.if_object();
  return object && object->contains("speed_samples_per_s");
}

Result<ProfileFile> profile_in(const Value& value, Prices prices) {
  if (is_columns(value)) {
    SOUK_ASSIGN(const auto columns, wire::from_value<Columns>(value));
    return profile_of(columns);
  }
  if (const auto* object = value.if_object(); object && !object->contains("types"))
    for (const auto& member : *object)
      if (is_columns(member.value())) return profile_in(member.value(), prices);
  SOUK_ASSIGN(const auto rows, wire::from_value<ProfileRows>(value));
  return profile_of(rows, prices);
}

}  // namespace

Result<CatalogFile> parse_catalog(std::string_view json, std::string_view name,
                                  std::optional<advisor::Buy> buy) {
  SOUK_ASSIGN(const auto value, base::located(wire::parse(json), name));
  if (is_of_a_provider(value)) {
    SOUK_ASSIGN(auto prices, parse_prices(json, name));
    return base::located(catalog_of(std::move(prices), buy), name);
  }
  if (buy)
    return fail(Code::invalid, fmt::format("{} has one price for each type", name),
                "--buy is for catalogs of a provider, which tell both");
  SOUK_ASSIGN(const auto rows, base::located(wire::from_value<CatalogRows>(value), name));
  return base::located(catalog_of(rows), name);
}

Result<std::map<std::string, double>> parse_bandwidth(std::string_view json) {
  return wire::from_json<std::map<std::string, double>>(json);
}

Result<ProfileFile> parse_profile(std::string_view json, std::string_view name, Prices prices) {
  SOUK_ASSIGN(const auto value, base::located(wire::parse(json), name));
  return base::located(profile_in(value, prices), name);
}

}  // namespace souk::lab
