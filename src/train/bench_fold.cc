#include "train/bench_fold.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/random.h"
#include "train/aggregators/aggregator.h"
#include "train/codecs/codec.h"
#include "train/update.h"

namespace souk::train {
namespace {

constexpr std::size_t kAtOnce = 8, kFewest = 3;

struct Case {
  std::string rule, codec;
  std::size_t at_once;
};

// The sum of four uniform numbers is near enough to normal for codecs.
std::vector<float> changes(std::size_t size) {
  base::Random random(1);
  std::vector<float> out(size);
  for (auto& v : out) {
    const auto bits = random.next();
    const auto sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    v = (static_cast<float>(sum) - 131'070.F) * 1e-8F;
  }
  return out;
}

void baseline(Parameters& p, const Update& update) {
  for (std::size_t i = 0; i < p.count(); ++i) {
    const auto values = p.change(i);
    float* __restrict w = values.data();
    const float* __restrict u = update.block(i, {}).data();
    for (std::size_t k = 0; k < values.size(); ++k) w[k] += 1e-3F * (u[k] - w[k]);
  }
}

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

std::vector<Update> updates_of(const std::vector<float>& values, const Codec& codec,
                               std::size_t count) {
  std::vector<float> residual(codec.keeps_residual() ? values.size() : 0);
  const auto body = pack(values, codec, residual);
  std::vector<Update> out;
  for (std::size_t k = 0; k < count; ++k) out.push_back(*Update::read(body, codec, values.size()));
  return out;
}

template <class Work>
double microseconds_of(const base::Clock& clock, Work work) {
  const auto from = clock.now();
  work();
  return static_cast<double>(std::max<std::int64_t>(1, (clock.now() - from).us));
}

struct Turns {
  std::vector<double> baseline, fold, ratio;
};

Turns take_turns(const FoldBench& bench, const Case& c, const std::vector<float>& values,
                 base::Duration budget, const base::Clock& clock) {
  const auto rule =
      *make_aggregator({.name = c.rule, .workers = static_cast<std::int32_t>(bench.workers)});
  const auto plain = *make_codec("fp32"), codec = *make_codec(c.codec);
  const auto base_update = std::move(updates_of(values, *plain, 1).front());
  auto updates = updates_of(values, *codec, c.at_once);
  Parameters p(values.size(), rule->needs().planes);
  if (rule->needs().base) {
    const auto base = blocks_of(values);
    for (auto& u : updates) u.base = base;
  }
  for (auto& u : updates) u.norm = 1;  // As a hub that validates knows it.
  Turns turns;
  const auto end = clock.now() + budget;
  for (std::size_t turn = 0; turn < kFewest + 1 || clock.now() < end; ++turn) {
    const auto before = microseconds_of(clock, [&] { baseline(p, base_update); });
    const auto all = microseconds_of(clock, [&] { rule->fold(p, updates); });
    if (turn == 0) continue;  // Pages are touched for the first time.
    const auto each = all / static_cast<double>(updates.size());
    turns.baseline.push_back(before);
    turns.fold.push_back(each);
    turns.ratio.push_back(before / each);
    if (turn == 1'000'000) break;
  }
  return turns;
}

base::Result<std::vector<Case>> cases_of(const FoldBench& bench) {
  auto rule_names = bench.rules, codecs = bench.codecs;
  if (rule_names.empty())
    for (const auto& info : aggregators()) rule_names.emplace_back(info.name);
  if (codecs.empty())
    for (const auto name : codec_names()) codecs.emplace_back(name);
  std::vector<Case> out;
  for (const auto& name : rule_names) {
    SOUK_ASSIGN(
        const auto rule,
        make_aggregator({.name = name, .workers = static_cast<std::int32_t>(bench.workers)}));
    for (const auto& spec : codecs) {
      SOUK_ASSIGN(const auto codec, make_codec(spec));
      const auto needs = rule->needs();
      if (needs.sends == Sends::weights && codec->keeps_residual()) continue;
      const auto most =
          std::max<std::size_t>(1, bench.most_bytes / Codec::most_bytes(bench.floats));
      if (needs.arity > 1) {
        out.push_back({name, spec, std::min(needs.arity, most)});
      } else {
        out.push_back({name, spec, 1});
        if (most > 1) out.push_back({name, spec, std::min(kAtOnce, most)});
      }
    }
  }
  return out;
}

}  // namespace

base::Result<std::vector<FoldRow>> bench_fold(const FoldBench& bench, const base::Clock& clock) {
  CHECK(bench.floats > 0 && bench.budget.us > 0);
  SOUK_ASSIGN(const auto cases, cases_of(bench));
  const auto values = changes(bench.floats);
  std::vector<FoldRow> rows;
  for (const auto& c : cases) {
    const auto turns =
        take_turns(bench, c, values, bench.budget / static_cast<std::int64_t>(cases.size()), clock);
    rows.push_back({c.rule, c.codec, c.at_once, turns.ratio.size(), quantile(turns.baseline, 0.5),
                    quantile(turns.fold, 0.5), quantile(turns.ratio, 0.5),
                    quantile(turns.ratio, 0.25), quantile(turns.ratio, 0.75)});
  }
  return rows;
}

}  // namespace souk::train
