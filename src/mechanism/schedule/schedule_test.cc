#include "mechanism/schedule/schedule.h"

#include <set>

#include "mechanism/testing/instances.h"

namespace souk::mechanism {
namespace {

using testing::known;

TEST(Schedule, MistakesAreNamed) {
  const auto field_of = [](auto&& spoil) {
    auto s = known();
    spoil(s);
    const auto checked = check(s);
    return checked ? "" : checked.error().field;
  };
  EXPECT_EQ(field_of([](auto&) {}), "");
  EXPECT_EQ(field_of([](auto& s) { s.capacity.clear(); }), "capacity");
  EXPECT_EQ(field_of([](auto& s) { s.capacity[1] = 0; }), "capacity");
  EXPECT_EQ(field_of([](auto& s) { s.throughputs.pop_back(); }), "throughputs");
  EXPECT_EQ(field_of([](auto& s) { s.throughputs[2] = -1; }), "throughputs");
  EXPECT_EQ(field_of([](auto& s) { s.throughputs = {0, 0, 0, 1, 1, 1}; }), "throughputs");
  EXPECT_EQ(field_of([](auto& s) { s.scale[0] = 0; }), "scale");
  EXPECT_EQ(field_of([](auto& s) { s.weights = {1}; }), "weights");
  EXPECT_EQ(field_of([](auto& s) { s.weights[0] = std::nan(""); }), "weights");
  EXPECT_EQ(field_of([](auto& s) { s.steps = {1, 0}; }), "steps");
  EXPECT_EQ(field_of([](auto& s) { s.elapsed = {0, -1}; }), "elapsed");
  EXPECT_EQ(field_of([](auto& s) { s.isolated = {0}; }), "isolated");
  EXPECT_EQ(field_of([](auto& s) { s.slo = {0, 1, 2}; }), "slo");
  EXPECT_EQ(field_of([](auto& s) { s.cost = {1, 2}; }), "cost");
  EXPECT_EQ(field_of([](auto& s) { s.held = {0, 3}; }), "held");
}

// Everything a policy could want to know.
ScheduleInstance full(std::uint64_t seed) {
  auto s = testing::drawn(seed, 40, 3, 8);
  s.cost = {3, 2, 1};
  s.held.assign(40, -1);
  return s;
}

TEST(Schedule, EveryPolicyFitsAndSaysTheSameTwice) {
  std::set<std::string_view> names;
  for (const auto& entry : schedule_policies()) {
    EXPECT_TRUE(names.insert(entry.name).second);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const auto s = full(seed);
      const auto found = entry.policy.solve(s);
      ASSERT_TRUE(found) << entry.name << ": " << found.error().message;
      testing::expect_fits(s, *found);
      for (const auto p : found->prices) EXPECT_GE(p, 0) << entry.name;
      const auto again = entry.policy.solve(s);
      EXPECT_EQ(found->shares, again->shares) << entry.name;
      EXPECT_EQ(found->prices, again->prices) << entry.name;
    }
  }
}

TEST(Schedule, NoJobsAreNoProblem) {
  const ScheduleInstance nobody{.capacity = {1, 2}, .cost = {1, 1}};
  for (const auto& entry : schedule_policies()) {
    const auto found = entry.policy.solve(nobody);
    ASSERT_TRUE(found) << entry.name << ": " << found.error().message;
    EXPECT_TRUE(found->shares.empty()) << entry.name;
    EXPECT_EQ(found->prices, (std::vector<double>{0, 0})) << entry.name;
  }
}

TEST(Schedule, AnUnknownPolicyIsCorrected) {
  EXPECT_EQ(find_schedule_policy("maxmin").error().hint, "did you mean 'max-min'?");
  EXPECT_EQ(find_schedule_policy("ftf").value()->name, "ftf");
}

}  // namespace
}  // namespace souk::mechanism
