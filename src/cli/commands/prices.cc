#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "cli/commands/commands.h"
#include "cli/shell/human.h"
#include "cli/shell/picture.h"
#include "wire/api/prices.h"
#include "wire/api/slot_class.h"

namespace souk::cli {
namespace {

constexpr std::size_t kPictureWidth = 28;
constexpr std::size_t kBarWidth = 20;

struct Prices {
  std::string slot_class;
  int days = 7;
  std::optional<wire::BucketLength> by;

  [[nodiscard]] std::string path(const std::string& name) const {
    const auto bucket = by.value_or(days <= 2 ? wire::BucketLength::hour : wire::BucketLength::day);
    return "/v1/prices" + query_string({{"class", name},
                                        {"days", std::to_string(days)},
                                        {"by", std::string(to_string(bucket))}});
  }
};

std::vector<std::optional<double>> averages(const wire::Prices& p) {
  std::vector<std::optional<double>> out;
  for (const auto& bucket : p.buckets)
    out.push_back(bucket.prices.average
                      ? std::optional(static_cast<double>(bucket.prices.average->micro))
                      : std::nullopt);
  return out;
}

void show_prices(Context& c, const wire::Prices& p) {
  c.print(fmt::format("{} ({}): suggested {} now, last {}, average {}, {} traded\n",
                      printable(p.class_), printable(p.mechanism), brief(p.suggested),
                      brief(p.last), brief(p.summary.average), plural(p.summary.volume, "slot")));
  if (p.summary.volume == 0)
    c.print("nothing was traded in this time; the suggested price is the class's own\n");
  else
    c.print(fmt::format("average over time  {}\n",
                        sparkline(averages(p), kPictureWidth * 2, c.out().utf8)));
  using enum Column::Align;
  Table table({{"from"},
               {"volume", right},
               {"low", right, 0, 1},
               {"q1", right, 0, 2},
               {"median", right, 0, 4},
               {"q3", right, 0, 3},
               {"high", right, 0, 5},
               {"average", right},
               {"used", right, 0, 6},
               {"", left, 0, 7}});
  base::Credits most(1);
  for (const auto& b : p.buckets) most = std::max(most, b.prices.average.value_or(most));
  for (const auto& b : p.buckets) {
    if (b.prices.volume == 0) continue;
    const auto share = static_cast<double>(b.prices.average.value_or(base::Credits()).micro) /
                       static_cast<double>(most.micro);
    table.add({to_string(b.from), std::to_string(b.prices.volume), brief(b.prices.low),
               brief(b.prices.quartile1), brief(b.prices.median), brief(b.prices.quartile3),
               brief(b.prices.high), brief(b.prices.average),
               b.utilisation ? percent(*b.utilisation) : "-", bar(share, kBarWidth, c.out().utf8)});
  }
  if (!table.empty()) c.print(table);
  if (p.ahead.empty()) return;
  std::vector<std::optional<double>> ahead;
  for (const auto& s : p.ahead) ahead.emplace_back(static_cast<double>(s.price.micro));
  c.print(fmt::format("suggested, next {}h  {}\n", p.ahead.size(),
                      sparkline(ahead, kPictureWidth, c.out().utf8)));
}

Result<> show_all_prices(Context& c, const Prices& o) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto classes, parsed<wire::Page<wire::SlotClass>>(api->get("/v1/classes")));
  using enum Column::Align;
  Table table({{"class"},
               {"suggested", right},
               {"last", right},
               {"average", right},
               {"volume", right},
               {"rule", left, 6, 1},
               {"over time", left, 0, 2}});
  std::string all;
  for (const auto& k : classes.items) {
    if (k.retired) continue;
    SOUK_ASSIGN(const auto body, api->get(o.path(k.name)));
    all += (all.empty() ? "[" : ",") + body;
    SOUK_ASSIGN(const auto p, parse_body<wire::Prices>(body));
    table.add({p.class_, brief(p.suggested), brief(p.last), brief(p.summary.average),
               std::to_string(p.summary.volume), p.mechanism,
               sparkline(averages(p), kPictureWidth, c.out().utf8)});
  }
  if (c.json()) return c.print_json(all.empty() ? "[]" : all + "]");
  c.print(table);
  return {};
}

}  // namespace

Command prices_command() {
  auto o = std::make_shared<Prices>();
  Command out{.name = "prices",
              .summary = "price history and suggested prices",
              .examples = {"prices", "prices c4 --days 2 --by hour", "prices c4 --json"}};
  out.options = {
      optional(argument("CLASS", "one slot class; all when left out", o->slot_class)),
      flag("--days N", "how far back, default 7", o->days),
      flag("--by UNIT", one_of<wire::BucketLength>() + "; default day (hour for --days 2 or less)",
           o->by)};
  out.details = "Prices are credits per slot-hour.";
  out.run = [o](Context& c) -> Result<> {
    if (o->slot_class.empty()) return show_all_prices(c, *o);
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get(o->path(o->slot_class)));
    return c.show<wire::Prices>(body, [&](const auto& p) { show_prices(c, p); });
  };
  return out;
}

}  // namespace souk::cli
