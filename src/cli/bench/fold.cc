#include "train/bench_fold.h"

#include <fmt/format.h>

#include <memory>

#include "base/clock.h"
#include "cli/bench/rows.h"

namespace souk::cli {
namespace {

struct Fold {
  std::size_t floats = train::FoldBench{}.floats;
  base::Duration budget = base::seconds(60);
  Names rules, codecs;
};

}  // namespace

Command bench_fold_command() {
  auto o = std::make_shared<Fold>();
  Command out{.name = "fold",
              .summary = "how fast updates are folded, against reading and writing memory",
              .examples = {"bench fold", "bench fold --rules krum,fedavg --codecs int8 --json"},
              .common = Common::local};
  out.options = {flag("--floats N", "parameters of the model, default 4972746", o->floats),
                 flag("--budget TIME", "for all rows together, default 1m", o->budget),
                 flag("--rules LIST", "default all", o->rules),
                 flag("--codecs LIST", "default all", o->codecs)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(const auto rows, train::bench_fold({.floats = o->floats,
                                                    .budget = o->budget,
                                                    .rules = o->rules.items,
                                                    .codecs = o->codecs.items},
                                                   base::SystemClock()));
    std::vector<BenchRow> shown;
    for (const auto& r : rows)
      shown.push_back({.bench = "B1",
                       .name = fmt::format("{}, {}, {} at once", r.rule, r.codec, r.at_once),
                       .what = "time of an update",
                       .unit = "us",
                       .result = r.fold_us,
                       .baseline = r.baseline_us,
                       .ratio = r.ratio,
                       .low = r.low,
                       .high = r.high});
    return show_bench(c, shown);
  };
  return out;
}

}  // namespace souk::cli
