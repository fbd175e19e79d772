#include <fmt/format.h>

#include <algorithm>
#include <boost/json/value.hpp>
#include <filesystem>
#include <set>

#include "base/hash.h"
#include "base/text.h"
#include "lab/files/scenario_keys.h"
#include "market/limits.h"
#include "wire/json.h"
#include "wire/yaml.h"

namespace souk::lab {
namespace {

using namespace keys;

struct ShockKeys {
  AnyJson at;
  Maybe<AnyJson> for_;
  Maybe<double> demand, supply;
  Maybe<std::string> dies;
  SOUK_FIELDS(ShockKeys, at, for_, demand, supply, dies)
};

struct FaultKeys {
  AnyJson at;
  Maybe<std::string> lenders;
  double share = 0;
  SOUK_FIELDS(FaultKeys, at, lenders, share)
};

struct RulesKeys {
  Maybe<Duration> term, settle_every, start_after;
  Maybe<Credits> price;
  Maybe<double> fee;
  SOUK_FIELDS(RulesKeys, term, settle_every, start_after, price, fee)
};

struct RegretKeys {
  Maybe<std::int32_t> books, traders, prices;
  SOUK_FIELDS(RegretKeys, books, traders, prices)
};

struct MechanismKeys {
  std::string name;
  std::map<std::string, AnyJson> params;
  SOUK_FIELDS(MechanismKeys, name, params)
};

struct ScenarioKeys {
  std::string name;
  Maybe<std::string> description;
  World world = World::book;
  AnyJson horizon;
  Maybe<std::int32_t> rounds;
  Maybe<Duration> round;
  Maybe<AnyJson> seeds;
  std::vector<AnyJson> mechanisms;
  std::vector<PopulationKeys> lenders, borrowers;
  std::vector<ShockKeys> shocks;
  std::vector<FaultKeys> faults;
  Maybe<RulesKeys> market;
  Maybe<RegretKeys> regret;
  SOUK_FIELDS(ScenarioKeys, name, description, world, horizon, rounds, round, seeds, mechanisms,
              lenders, borrowers, shocks, faults, market, regret)
};

constexpr std::int64_t kPeriodsMax = 10'000'000;

class ScenarioReader {
 public:
  explicit ScenarioReader(const ScenarioKeys& keys) : keys_(keys) {}

  Result<Scenario> read() {
    out_.name = keys_.name;
    out_.description = keys_.description.value_or("");
    out_.world = keys_.world;
    SOUK_TRY(times());
    SOUK_TRY(seeds());
    SOUK_TRY(mechanisms());
    SOUK_TRY(populations(keys_.lenders, "lenders", out_.lenders));
    SOUK_TRY(populations(keys_.borrowers, "borrowers", out_.borrowers));
    SOUK_TRY(unique_names());
    SOUK_TRY(shocks());
    SOUK_TRY(faults());
    SOUK_TRY(rules());
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool market() const { return out_.world == World::market; }

  Result<> times() {
    SOUK_ASSIGN(const auto value, wire::parse(keys_.horizon.text));
    if (market()) {
      SOUK_ASSIGN(const auto seconds, read_seconds(keys_.horizon, "horizon"));
      out_.horizon = Duration(static_cast<std::int64_t>(seconds * 1e6));
      if (out_.horizon < base::minutes(1) || out_.horizon > base::days(3650))
        return bad("the horizon is too short or too long", "use 1m to 10 years", "horizon");
    } else {
      const auto* periods = value.if_int64();
      if (periods == nullptr || *periods < 1 || *periods > kPeriodsMax)
        return bad("the horizon of a book is a number of periods",
                   fmt::format("use 1 to {}", kPeriodsMax), "horizon");
      out_.periods = *periods;
    }
    SOUK_TRY(only(World::book, out_.world, keys_.rounds.has_value(), "rounds"));
    SOUK_TRY(only(World::market, out_.world, keys_.round.has_value(), "round"));
    out_.rounds = keys_.rounds.value_or(1);
    if (out_.rounds < 1 || out_.rounds > 10'000)
      return bad(fmt::format("{} rounds in a period", out_.rounds), "use 1 to 10000", "rounds");
    out_.round = keys_.round.value_or(base::minutes(1));
    if (out_.round < base::seconds(1) || out_.round > base::days(1))
      return bad("a round cannot be so short or so long", "use 1s to 1d", "round");
    return {};
  }

  Result<> seeds() {
    if (!keys_.seeds) {
      out_.seeds = {1};
      return {};
    }
    SOUK_ASSIGN(const auto value, wire::parse(keys_.seeds->text));
    if (value.is_array()) {
      SOUK_ASSIGN(out_.seeds, keys_of<std::vector<std::uint64_t>>(value, "seeds"));
    } else {
      SOUK_ASSIGN(const auto count, keys_of<std::uint64_t>(value, "seeds"));
      for (std::uint64_t i = 1; i <= std::min<std::uint64_t>(count, kMostSeeds + 1); ++i)
        out_.seeds.push_back(i);
    }
    const std::set<std::uint64_t> distinct(out_.seeds.begin(), out_.seeds.end());
    if (out_.seeds.empty() || out_.seeds.size() > kMostSeeds ||
        distinct.size() != out_.seeds.size())
      return bad(fmt::format("{} seeds, {} of them different", out_.seeds.size(), distinct.size()),
                 fmt::format("use 1 to {} different ones, or how many", kMostSeeds), "seeds");
    return {};
  }

  Result<> mechanisms() {
    if (keys_.mechanisms.empty())
      return bad("no mechanism to compare", "for example mechanisms: [k-double, posted]",
                 "mechanisms");
    std::set<std::string> labels;
    for (std::size_t i = 0; i < keys_.mechanisms.size(); ++i) {
      const auto field = fmt::format("mechanisms[{}]", i);
      SOUK_ASSIGN(auto choice, mechanism_at(i, field));
      if (!labels.insert(choice.label).second)
        return bad(fmt::format("{} is listed twice", choice.label), "", field);
      out_.mechanisms.push_back(std::move(choice));
    }
    return {};
  }

  Result<MechanismChoice> mechanism_at(std::size_t i, const std::string& field) {
    SOUK_ASSIGN(const auto value, wire::parse(keys_.mechanisms[i].text));
    std::string text;
    if (const auto* name = value.if_string()) {
      text = std::string(name->data(), name->size());
    } else {
      SOUK_ASSIGN(const auto keys, keys_of<MechanismKeys>(value, field));
      text = keys.name;
      char before = ':';
      for (const auto& [key, param] : keys.params) {
        SOUK_ASSIGN(const auto v, wire::parse(param.text));
        const auto* words = v.if_string();
        text += fmt::format("{}{}={}", before, key,
                            words ? std::string(words->data(), words->size()) : param.text);
        before = ';';
      }
    }
    auto choice = parse_mechanism(text, out_.world);
    if (choice) return choice;
    auto error = std::move(choice).error();
    error.field = field;
    return std::unexpected(std::move(error));
  }

  Result<> populations(const std::vector<PopulationKeys>& from, std::string_view side,
                       std::vector<Population>& to) {
    if (from.empty())
      return bad(fmt::format("there are no {}", side), "a market needs both sides",
                 std::string(side));
    for (std::size_t i = 0; i < from.size(); ++i) {
      SOUK_ASSIGN(auto p, below(read_population(from[i], out_.world, side, i),
                                fmt::format("{}[{}]", side, i)));
      to.push_back(std::move(p));
    }
    return {};
  }

  Result<> unique_names() {
    std::set<std::string> names;
    for (const auto* side : {&out_.lenders, &out_.borrowers})
      for (std::size_t i = 0; i < side->size(); ++i)
        if (!names.insert((*side)[i].name).second)
          return bad(
              fmt::format("two populations are called '{}'", (*side)[i].name), "",
              fmt::format("{}[{}].name", side == &out_.lenders ? "lenders" : "borrowers", i));
    return {};
  }

  // "2h" in a market, a number of periods in a book.
  Result<double> moment(const AnyJson& json, const std::string& field) {
    if (market()) return read_seconds(json, field);
    SOUK_ASSIGN(const auto value, wire::parse(json.text));
    return keys_of<double>(value, field);
  }

  Result<> known_lenders(const std::string& name, std::string field) {
    std::vector<std::string_view> names;
    for (const auto& p : out_.lenders) names.push_back(p.name);
    if (std::ranges::find(names, name) != names.end()) return {};
    return bad(fmt::format("there are no lenders '{}'", name), base::suggest(name, names),
               std::move(field));
  }

  Result<> shocks() {
    for (std::size_t i = 0; i < keys_.shocks.size(); ++i) {
      const auto& k = keys_.shocks[i];
      const auto field = fmt::format("shocks[{}]", i);
      const auto kinds =
          int{k.demand.has_value()} + int{k.supply.has_value()} + int{k.dies.has_value()};
      if (kinds != 1)
        return bad("a shock is of one kind", "write demand: 2, supply: 0.5 or dies: LENDERS",
                   field);
      Shock s;
      SOUK_ASSIGN(s.at, moment(k.at, field + ".at"));
      if (k.for_) {
        SOUK_ASSIGN(s.length, moment(*k.for_, field + ".for"));
      }
      if (!k.dies && !k.for_) return bad("how long it lasts is missing", "add for:", field);
      s.demand = k.demand.value_or(1);
      s.supply = k.supply.value_or(1);
      s.dies = k.dies.value_or("");
      if (k.dies) SOUK_TRY(known_lenders(s.dies, field + ".dies"));
      if (!(s.demand >= 0 && s.demand <= 100))
        return bad(fmt::format("demand x{}", s.demand), "use 0 to 100", field + ".demand");
      if (!(s.supply >= 0 && s.supply <= 1))
        return bad(fmt::format("supply x{}", s.supply),
                   "use 0 to 1: more machines are more lenders", field + ".supply");
      out_.shocks.push_back(std::move(s));
    }
    return {};
  }

  Result<> faults() {
    for (std::size_t i = 0; i < keys_.faults.size(); ++i) {
      const auto& k = keys_.faults[i];
      const auto field = fmt::format("faults[{}]", i);
      Fault f{.lenders = k.lenders.value_or(""), .share = k.share};
      SOUK_ASSIGN(f.at, moment(k.at, field + ".at"));
      if (!f.lenders.empty()) SOUK_TRY(known_lenders(f.lenders, field + ".lenders"));
      if (!(f.share >= 0 && f.share <= 1))
        return bad(fmt::format("a share of {}", f.share), "use 0 to 1", field + ".share");
      out_.faults.push_back(std::move(f));
    }
    return {};
  }

  Result<> rules() {
    SOUK_TRY(only(World::market, out_.world, keys_.market.has_value(), "market"));
    SOUK_TRY(only(World::book, out_.world, keys_.regret.has_value(), "regret"));
    if (const auto& k = keys_.market) {
      auto& r = out_.rules;
      if (k->term) r.term = *k->term;
      if (k->settle_every) r.settle_every = *k->settle_every;
      if (k->start_after) r.start_after = *k->start_after;
      if (k->price) r.price = *k->price;
      if (k->fee) r.fee = *k->fee;
      if (r.start_after < Duration() || r.start_after > base::minutes(5))
        return bad("programs start within 5 minutes here", "use 0s to 5m", "market.start_after");
      if (r.price && (*r.price <= Credits() || *r.price > market::kMostPrice))
        return bad("the first price must be more than 0", "", "market.price");
      if (!(r.fee >= 0 && r.fee <= .5))
        return bad(fmt::format("a fee of {}", r.fee), "use 0 to 0.5", "market.fee");
    }
    if (const auto& k = keys_.regret) {
      auto& r = out_.regret;
      if (k->books) r.books = *k->books;
      if (k->traders) r.traders = *k->traders;
      if (k->prices) r.prices = *k->prices;
      if (r.books < 0 || r.traders < 0 || r.prices < 0)
        return bad("a search cannot be smaller than nothing", "use 0 or more", "regret");
    }
    return {};
  }

  const ScenarioKeys& keys_;
  Scenario out_;
};

}  // namespace

Result<Scenario> parse_scenario(std::string_view text, std::string_view file, std::string folder) {
  SOUK_ASSIGN(const auto document, wire::parse_yaml(text, file));
  auto keys = wire::from_value<ScenarioKeys>(document.value);
  if (!keys) return std::unexpected(wire::locate(std::move(keys).error(), document, file));
  auto out = ScenarioReader(*keys).read();
  if (!out) return std::unexpected(wire::locate(std::move(out).error(), document, file));
  out->file = file;
  out->folder = std::move(folder);
  out->hash = base::to_string(base::blake2b(text));
  return out;
}

Result<Scenario> load_scenario(const std::string& path) {
  SOUK_ASSIGN(const auto text, wire::read_yaml_text(path));
  return parse_scenario(text, path, std::filesystem::path(path).parent_path().string());
}

}  // namespace souk::lab
