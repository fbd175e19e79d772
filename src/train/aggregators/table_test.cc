#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "train/testing/bowl.h"
#include "train/testing/updates.h"

// What holds for every aggregator in the table.

namespace souk::train {
namespace {

using testing::Bowl;
using ::testing::HasSubstr;
using testing::noise;
using testing::parameters;
using testing::rule;
using testing::update;
using testing::values_of;

constexpr std::int32_t kWorkers = 6;

std::vector<std::unique_ptr<Aggregator>> all_rules(std::int32_t workers = kWorkers) {
  std::vector<std::unique_ptr<Aggregator>> out;
  for (const auto& info : aggregators()) out.push_back(rule(std::string(info.name), {}, workers));
  return out;
}

// Plausible updates from parameters `w`.
std::vector<Update> some(const std::vector<float>& w, std::size_t count, std::uint64_t seed) {
  std::vector<Update> out;
  for (std::size_t k = 0; k < count; ++k)
    out.push_back(
        update(noise(w.size(), seed + k, 0.1F), {.weight = 1 + static_cast<double>(k % 3),
                                                 .staleness = static_cast<std::int64_t>(k % 4),
                                                 .epoch = static_cast<std::int32_t>(1 + k % 5),
                                                 .base = w}));
  return out;
}

std::vector<float> everything(const Parameters& p) {
  auto out = values_of(p);
  for (std::size_t k = 0; k < p.planes(); ++k) {
    std::vector<float> plane(p.size());
    copy_out(p.plane_blocks(k), plane);
    out.insert(out.end(), plane.begin(), plane.end());
  }
  return out;
}

TEST(Rules, EveryRowIsCompleteAndCanBeMadeByName) {
  std::set<std::string_view> names;
  for (const auto& info : aggregators()) {
    SCOPED_TRACE(info.name);
    EXPECT_TRUE(names.insert(info.name).second) << "a name is used twice";
    EXPECT_TRUE(info.what.ends_with('.'));
    EXPECT_TRUE(std::ranges::is_sorted(info.parameters, {}, &base::Parameter::name));
    for (const auto& row : info.parameters) EXPECT_TRUE(row.meaning.ends_with('.')) << row.name;
    const auto made = make_aggregator({.name = std::string(info.name)});
    ASSERT_TRUE(made);
    EXPECT_EQ((*made)->name(), info.name);
    EXPECT_GE((*made)->needs().arity, 1);
  }
  EXPECT_EQ(names.size(), 17);
}

TEST(Rules, EveryParamHasARangeThatItsErrorNames) {
  for (const auto& info : aggregators())
    for (const auto& row : info.parameters)
      for (const auto value : {-1.0, 1e9, std::nan("")}) {
        const auto param = std::string(row.name);
        const auto made = make_aggregator({std::string(info.name), {{param, value}}, kWorkers});
        ASSERT_FALSE(made) << info.name << " " << param << " " << value;
        EXPECT_EQ(made.error().field, param);
        EXPECT_THAT(made.error().message, HasSubstr(param));
        EXPECT_THAT(made.error().hint, HasSubstr(" from "));
      }
  EXPECT_THAT(make_aggregator({"fedbuff", {{"buffer", 2.5}}}).error().hint,
              HasSubstr("whole number"));
}

TEST(Rules, EveryParamTakesTheEndsOfItsRangeAndHasADefault) {
  for (const auto& info : aggregators())
    for (const auto& row : info.parameters) {
      SCOPED_TRACE(std::string(info.name) + " " + std::string(row.name));
      EXPECT_NE(row.default_value.empty(), row.default_words.empty());
      for (const auto value : {row.low, row.high})
        EXPECT_TRUE(make_aggregator({std::string(info.name), {{std::string(row.name), value}}}));
    }
}

// What people choose by is what the code does.
TEST(Rules, TheRowSaysWhatWorkersSendAndWhenItIsFolded) {
  for (const auto& info : aggregators()) {
    const auto needs = rule(std::string(info.name), {}, kWorkers)->needs();
    EXPECT_EQ(needs.sends, info.sends) << info.name;
    const auto folding = needs.synchronous ? Folding::round
                         : needs.arity > 1 ? Folding::buffer
                                           : Folding::each;
    EXPECT_EQ(folding, info.folding) << info.name;
  }
}

TEST(Rules, AMistypedNameOrParamIsAnsweredWithTheNearest) {
  const auto name = make_aggregator({.name = "delayed-nestrov"});
  ASSERT_FALSE(name);
  EXPECT_THAT(name.error().message, HasSubstr("'delayed-nestrov'"));
  EXPECT_THAT(name.error().hint, HasSubstr("'delayed-nesterov'"));
  EXPECT_EQ(name.error().field, "rule");
  const auto param = make_aggregator({"diloco", {{"momentm", 0.9}}});
  ASSERT_FALSE(param);
  EXPECT_THAT(param.error().hint, HasSubstr("'momentum'"));
  EXPECT_EQ(param.error().field, "momentm");
  for (const auto workers : {0, -1, 10'001})
    EXPECT_EQ(make_aggregator({"diloco", {}, workers}).error().field, "workers");
}

TEST(Rules, WorkersThatChangeNothingChangeNothing) {
  const auto w = noise(500, 1);
  const std::vector<float> zeros(w.size());
  for (const auto& r : all_rules()) {
    const auto& sent = r->needs().sends == Sends::delta ? zeros : w;
    std::vector<Update> updates;
    for (std::size_t k = 0; k < r->needs().arity; ++k) updates.push_back(update(sent, {.base = w}));
    auto p = parameters(w, *r);
    for (int fold = 0; fold < 3; ++fold) r->fold(p, updates);
    EXPECT_EQ(values_of(p), w) << r->name();
  }
}

TEST(Rules, TheSameUpdatesGiveTheSameBits) {
  const auto w = noise(kChunk + 300, 1);
  for (const auto& r : all_rules()) {
    auto one = parameters(w, *r), other = parameters(w, *r);
    for (std::uint64_t fold = 0; fold < 4; ++fold) {
      r->fold(one, some(w, r->needs().arity, 10 * fold));
      r->fold(other, some(w, r->needs().arity, 10 * fold));
    }
    EXPECT_EQ(everything(one), everything(other)) << r->name();
  }
}

TEST(Rules, ABatchOfImmediateUpdatesIsFoldedAsOneByOneBitForBit) {
  const auto w = noise(kBlock + kChunk + 5, 1);
  for (const auto& r : all_rules()) {
    if (r->needs().arity > 1) continue;
    const auto updates = some(w, 9, 7);
    auto one = parameters(w, *r), other = parameters(w, *r);
    r->fold(one, updates);
    for (const auto& u : updates) r->fold(other, {&u, 1});
    EXPECT_EQ(everything(one), everything(other)) << r->name();
    EXPECT_EQ(one.version(), other.version()) << r->name();
    for (std::size_t i = 0; i < one.count(); ++i)
      EXPECT_EQ(one.version(i), other.version(i)) << r->name();
  }
}

TEST(Rules, TheVersionCountsUpdatesOrFolds) {
  const auto w = noise(10, 1);
  for (const auto& r : all_rules()) {
    auto p = parameters(w, *r);
    const auto immediate = r->needs().arity == 1;
    r->fold(p, some(w, immediate ? 3 : r->needs().arity, 1));
    EXPECT_EQ(p.version(), immediate ? 3 : 1) << r->name();
    EXPECT_EQ(p.version(0), p.version()) << r->name();
    r->fold(p, some(w, 1, 9));
    EXPECT_EQ(p.version(), immediate ? 4 : 2) << r->name() << ": fewer at the end";
  }
}

TEST(Rules, TheOrderWithinABufferDoesNotMatterBeyondRounding) {
  const auto w = noise(300, 1);
  for (const auto& r : all_rules()) {
    if (r->needs().arity == 1) continue;
    auto updates = some(w, r->needs().arity, 3);
    auto one = parameters(w, *r), other = parameters(w, *r);
    r->fold(one, updates);
    std::ranges::reverse(updates);
    r->fold(other, updates);
    const auto a = everything(one), b = everything(other);
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6) << r->name();
  }
}

TEST(Rules, AReaderKeepsWhatItSawDuringAFold) {
  const auto w = noise(100, 1);
  for (const auto& r : all_rules()) {
    auto p = parameters(w, *r);
    const auto seen = p.blocks();
    r->fold(p, some(w, r->needs().arity, 1));
    EXPECT_TRUE(std::ranges::equal(*seen[0], w)) << r->name();
    EXPECT_NE(values_of(p), w) << r->name();
  }
}

TEST(Rules, EveryRuleConvergesWithStaleWorkers) {
  for (const auto& r : all_rules(10))
    EXPECT_LT(testing::Training({.lr = 0.05F}, *r).run(), 0.05) << r->name();
}

TEST(Rules, RobustRulesSurviveAFifthOfHostileWorkersAndOthersDoNot) {
  const Bowl bowl{.units = 1000, .lr = 0.05F, .hostile = -10};
  for (const auto& info : aggregators()) {
    if (!info.robust) continue;
    const auto r = rule(std::string(info.name), {}, bowl.workers);
    EXPECT_LT(testing::Training(bowl, *r).run(), 0.2) << info.name;
  }
  for (const auto* name : {"fedavg", "fedbuff", "downpour", "diloco", "delayed-nesterov"}) {
    EXPECT_FALSE((*base::find_named(aggregators(), name, "aggregator", "rule"))->robust) << name;
    const auto r = rule(name, {}, bowl.workers);
    const auto left = testing::Training(bowl, *r).run();
    EXPECT_FALSE(left < 10) << name << ": the attack is too weak to prove anything";
  }
}

}  // namespace
}  // namespace souk::train
