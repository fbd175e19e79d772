#include "provider/ec2.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "base/clock.h"
#include "base/file.h"
#include "cli/provide/provide.h"
#include "cli/shell/human.h"
#include "wire/json.h"

// `souk provide ec2`, and `souk provide ec2 prices`.

namespace souk::cli {
namespace {

struct Ec2Flags {
  ProvideOptions pool;
  provider::Ec2Settings ec2;
  std::vector<std::string> images;  // ID, or REGION=ID.
  std::string catalog;
  std::optional<double> rate;
};

// A type of a price catalog, as `souk plan --prices` reads it.
struct CatalogType {
  std::string name;
  std::optional<double> on_demand;
  std::optional<double> spot;
  std::int32_t vcpus = 0;
  double memory_gib = 0;
  std::int32_t gpus = 0;
  std::optional<std::string> gpu;
  SOUK_FIELDS(CatalogType, name, on_demand, spot, vcpus, memory_gib, gpus, gpu)
};
struct Catalog {
  std::string provider = "ec2";
  std::string region;
  std::string date;
  std::string source;
  std::vector<CatalogType> types;
  SOUK_FIELDS(Catalog, provider, region, date, source, types)
};

// On-demand prices are in no call of EC2 itself: they come from a catalog.
Result<std::map<std::string, double>> on_demand_prices(const std::string& path) {
  SOUK_ASSIGN(const auto text, base::read_file(path, "see examples/catalogs"));
  SOUK_ASSIGN(const auto document, wire::parse(text));
  std::map<std::string, double> out;
  const auto* root = document.if_object();
  const auto* types = root == nullptr ? nullptr : root->if_contains("types");
  if (types == nullptr || !types->is_array())
    return usage(path + " is not a price catalog", "see examples/catalogs");
  for (const auto& type : types->as_array()) {
    const auto* o = type.if_object();
    if (o == nullptr || !o->contains("name") || !o->contains("on_demand")) continue;
    if (!o->at("name").is_string() || !o->at("on_demand").is_number()) continue;
    out[std::string(o->at("name").as_string())] = o->at("on_demand").to_number<double>();
  }
  return out;
}

Result<> check(Ec2Flags& o) {
  if (o.ec2.regions.empty() || o.ec2.types.empty())
    return usage("say where and what: --region and --type", "for example --region us-east-1");
  if (o.rate) o.ec2.credits_per_dollar = *o.rate;
  if (!(o.ec2.credits_per_dollar > 0)) return usage("--rate: a dollar is worth more than nothing");
  while (o.ec2.endpoint.ends_with('/')) o.ec2.endpoint.pop_back();
  return {};
}

Result<> provide_ec2(Context& c, Ec2Flags& o) {
  SOUK_TRY(check(o));
  for (const auto& image : o.images) {
    const auto equals = image.find('=');
    if (equals == image.npos)
      o.ec2.images[""] = image;
    else
      o.ec2.images[image.substr(0, equals)] = image.substr(equals + 1);
  }
  if (o.ec2.images.empty())
    return usage("an instance needs an image", "--image ami-..., of Debian 12 or Ubuntu 24.04");
  if (!o.ec2.spot) {
    if (o.catalog.empty())
      return usage("EC2 does not say what a machine costs on demand",
                   "give a catalog with --catalog, or take --spot");
    SOUK_ASSIGN(o.ec2.on_demand, on_demand_prices(o.catalog));
  }
  o.ec2.lifetime = o.pool.lifetime;
  PoolPlan plan{.settings = {.ec2 = o.ec2}};
  {
    SOUK_ASSIGN(const auto provider, make_provider(c, plan.settings));
    SOUK_ASSIGN(plan.kinds, provider->kinds());
  }
  if (plan.kinds.empty())
    return failed("none of these types can be had at that price now",
                  "see `souk provide ec2 prices`, or raise --max-price");
  // Prices move: what covers the bill today bounds what is started later.
  if (!o.ec2.max_price)
    plan.settings.ec2->max_price =
        base::in_credits(std::ranges::max(plan.kinds, {}, &provider::MachineKind::hourly).hourly) /
        o.ec2.credits_per_dollar;
  return provide(c, o.pool, std::move(plan));
}

struct PriceFlags {
  std::vector<std::string> regions, types;
  std::string endpoint, out;
  int days = 0;
};

// The median of the zones, each at its latest price.
std::optional<double> median_now(const std::vector<provider::SpotPrice>& prices,
                                 const std::string& type) {
  std::map<std::string, provider::SpotPrice> latest;
  for (const auto& p : prices) {
    if (p.type != type) continue;
    auto& known = latest[p.zone];
    if (known.type.empty() || known.at < p.at) known = p;
  }
  if (latest.empty()) return std::nullopt;
  std::vector<double> dollars;
  for (const auto& [zone, p] : latest) dollars.push_back(p.dollars);
  std::ranges::sort(dollars);
  return dollars[(dollars.size() - 1) / 2];
}

Result<Catalog> catalog_of(provider::Ec2Api& api, const std::string& region,
                           const std::vector<std::string>& names, base::Time now) {
  SOUK_ASSIGN(const auto types, api.types(region, names));
  SOUK_ASSIGN(const auto prices, api.spot_prices(region, names, now));
  Catalog out{.region = region,
              .date = to_string(now).substr(0, 10),
              .source = "EC2 DescribeSpotPriceHistory, median of the zones"};
  for (const auto& t : types) {
    const auto spot = median_now(prices, t.name);
    if (!spot) continue;
    out.types.push_back({.name = t.name,
                         .spot = spot,
                         .vcpus = t.vcpus,
                         .memory_gib = static_cast<double>(t.memory_mib) / 1024,
                         .gpus = t.gpus,
                         .gpu = t.gpu.empty() ? std::nullopt : std::optional(t.gpu)});
  }
  return out;
}

// One region is written to the file named, several to one each, with the region in its name.
Result<> write_catalogs(Context& c, const std::string& out, const std::vector<Catalog>& catalogs) {
  for (const auto& catalog : catalogs) {
    auto path = out;
    if (catalogs.size() > 1) {
      const auto dot = path.rfind('.');
      path.insert(dot == path.npos || path.find('/', dot) != path.npos ? path.size() : dot,
                  "-" + catalog.region);
    }
    std::string text;
    wire::write_json(text, catalog);
    std::ofstream file(path);
    file << text << '\n';
    file.close();
    if (!file) return failed("cannot write " + path);
    c.note("wrote " + path);
  }
  return {};
}

Result<> show_prices(Context& c, const PriceFlags& o) {
  if (o.regions.empty() || o.types.empty())
    return usage("say where and what: --region and --type", "for example --region us-east-1");
  SOUK_ASSIGN(auto key, net::aws_key(c.env()));
  provider::Ec2Api api(o.endpoint, std::move(key));
  std::vector<Catalog> catalogs;
  for (const auto& region : o.regions) {
    SOUK_ASSIGN(auto catalog, catalog_of(api, region, o.types, c.now()));
    catalogs.push_back(std::move(catalog));
  }
  if (!o.out.empty()) SOUK_TRY(write_catalogs(c, o.out, catalogs));
  if (c.json()) {
    std::string text;
    wire::write_json(text, catalogs);
    return c.print_json(text);
  }
  Table table({{"type"}, {"region"}, {"spot, an hour"}, {"vCPUs"}, {"GiB"}, {"GPUs"}});
  std::vector<std::tuple<std::string, double, std::string, const CatalogType*>> rows;
  for (const auto& catalog : catalogs)
    for (const auto& t : catalog.types) rows.emplace_back(t.name, *t.spot, catalog.region, &t);
  std::ranges::sort(rows);  // Of each type the cheapest region first.
  for (const auto& [name, spot, region, t] : rows)
    table.add({name, region, fmt::format("{:.4f}", spot), std::to_string(t->vcpus),
               fmt::format("{:g}", t->memory_gib), std::to_string(t->gpus)});
  c.print(table);
  return {};
}

Command prices_of_ec2() {
  auto o = std::make_shared<PriceFlags>();
  Command out{
      .name = "prices",
      .summary = "what spot machines cost now, region by region, as a catalog for plans",
      .examples = {"provide ec2 prices --region us-east-1 --region eu-west-1 --type c7i.large",
                   "provide ec2 prices --region us-east-1 --type p3.2xlarge -o catalog.json"}};
  out.options = {
      flag("--region NAME", "where; several are compared", o->regions),
      flag("--type TYPE", "which; several flags add up", o->types),
      flag("--endpoint URL", "another address than AWS's", o->endpoint),
      with_letter('o', flag("--out FILE", "write a catalog for `souk plan --prices`", o->out))};
  out.common = Common::local;
  out.run = [o](Context& c) { return show_prices(c, *o); };
  return out;
}

}  // namespace

Command provide_ec2_command() {
  auto o = std::make_shared<Ec2Flags>();
  Command out{.name = "ec2",
              .summary = "lend instances of EC2, on demand or spot",
              .examples = {"provide ec2 --region us-east-1 --type c7i.large --spot --image ami-1 "
                           "--max 4 --max-spend 20",
                           "provide ec2 prices --region us-east-1 --type c7i.large"}};
  out.options = {
      flag("--region NAME", "where; the cheapest of several is taken", o->ec2.regions),
      flag("--type TYPE", "which; the cheapest of several is taken, per core or GPU", o->ec2.types),
      flag("--image ID", "what it boots: ami-..., or REGION=ami-...", o->images),
      flag("--spot", "cheaper, and taken back at two minutes' notice", o->ec2.spot),
      flag("--max-price DOLLARS", "start none that costs more an hour", o->ec2.max_price),
      flag("--catalog FILE", "on-demand prices: a price catalog", o->catalog),
      flag("--rate CREDITS", "what a dollar is in credits; default 1", o->rate),
      flag("--subnet ID", "default: the region's", o->ec2.subnet),
      flag("--security-group ID", "one without inbound rules will do", o->ec2.security_group),
      flag("--key-name NAME", "to log in; default: nobody can", o->ec2.key_name),
      flag("--endpoint URL", "another address than AWS's", o->ec2.endpoint)};
  for (auto& option : pool_flags(o->pool)) out.options.push_back(std::move(option));
  out.details =
      "The key is that of AWS's own tools (AWS_ACCESS_KEY_ID, ~/.aws/credentials). An instance "
      "installs the agent from the market, lends, and shuts itself down, which terminates it: when "
      "the agent ends, and after --lifetime whatever happens. docs/providers.md.";
  out.commands = {prices_of_ec2()};
  out.run = [o](Context& c) { return provide_ec2(c, *o); };
  return out;
}

}  // namespace souk::cli
