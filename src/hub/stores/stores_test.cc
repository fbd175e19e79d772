#include "hub/stores/stores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "base/testing/servers.h"
#include "hub/stores/redis.h"
#include "hub/testing/stores.h"
#include "train/testing/updates.h"

namespace souk::hub {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::redis;
using train::testing::noise;
using train::testing::update;

constexpr std::size_t kTwoBlocks = train::kBlock + 1'000;  // Floats: the second block is short.

// One server for all tests of a run: starting it takes seconds.
const std::optional<base::testing::Database>& postgres() {
  static const auto server = base::testing::start_postgres(false);
  return server;
}

// What is installed must start.
#define NEEDS(server)                                              \
  if (!base::testing::has_##server())                              \
    GTEST_SKIP() << "no program for " #server " on this computer"; \
  ASSERT_TRUE(server()) << "it is installed, and does not start"

std::unique_ptr<ParameterStore> store(std::string_view url, std::string_view job) {
  auto made = make_store(url, job);
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(made);
}

std::vector<float> values_of(const train::Blocks& blocks) {
  std::vector<float> out;
  for (const auto& b : blocks) out.insert(out.end(), b->begin(), b->end());
  return out;
}

SavedParameters first(std::size_t size, std::size_t planes, float scale = 1) {
  SavedParameters out{.values = train::blocks_of(noise(size, 1, scale))};
  for (std::size_t p = 0; p < planes; ++p)
    out.planes.push_back(train::blocks_of(std::vector<float>(size)));
  return out;
}

bool same_bits(const train::Blocks& a, const train::Blocks& b) {
  const auto x = values_of(a), y = values_of(b);
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

Contribution contribution(std::int64_t id, const std::vector<float>& values) {
  return {id, 0, update(values)};
}

// The same folds, by every rule, must come to the same parameters wherever they lie.
void expect_same_as_memory(std::string_view url) {
  const auto base = train::blocks_of(noise(kTwoBlocks, 2));
  std::vector<std::vector<float>> changes;
  for (std::uint64_t seed = 10; seed < 14; ++seed) changes.push_back(noise(kTwoBlocks, seed, 0.1F));
  for (const auto& info : train::aggregators()) {
    const auto rule = train::testing::rule(std::string(info.name), {}, 3);
    const auto needs = rule->needs();
    const auto memory = make_memory_store();
    const auto shared = store(url, "same-" + std::string(info.name));
    SavedParameters begin{.values = base};
    for (std::size_t p = 0; p < needs.planes; ++p)
      begin.planes.push_back(train::blocks_of(std::vector<float>(kTwoBlocks)));
    std::vector<std::int64_t> versions;
    for (auto* s : {memory.get(), shared.get()}) {
      ASSERT_TRUE(s->load(begin));
      for (std::int64_t id = 0; id < 4; id += 2) {
        std::vector<Contribution> both;
        for (const auto k : {id, id + 1})
          both.push_back(contribution(k, changes[static_cast<std::size_t>(k)]));
        if (needs.base)
          for (auto& c : both) c.update.base = base;
        const auto version = s->fold(*rule, both);
        ASSERT_TRUE(version) << version.error().message;
        versions.push_back(*version);
      }
    }
    EXPECT_EQ(versions[0], versions[2]) << info.name;
    EXPECT_EQ(versions[1], versions[3]) << info.name;
    const auto a = memory->save(), b = shared->save();
    ASSERT_TRUE(a && b);
    EXPECT_TRUE(same_bits(a->values, b->values)) << info.name;
    ASSERT_EQ(a->planes.size(), b->planes.size());
    for (std::size_t p = 0; p < a->planes.size(); ++p)
      EXPECT_TRUE(same_bits(a->planes[p], b->planes[p])) << info.name << " plane " << p;
  }
}

// Counts: every contribution adds 1 to every number. Gives how many arrived.
std::int64_t count_to(std::string_view url, std::string_view job, std::int64_t each, int hubs) {
  const std::size_t size = 1'000;
  const auto rule = train::testing::rule("downpour", {{"eta", 1}});
  EXPECT_TRUE(store(url, job)->load({.values = train::blocks_of(std::vector<float>(size))}));
  {
    std::vector<std::jthread> running;
    running.reserve(static_cast<std::size_t>(hubs));
    for (int h = 0; h < hubs; ++h)
      running.emplace_back([&, h] {
        const auto mine = store(url, job);
        for (std::int64_t i = 0; i < each; ++i) {
          std::vector<Contribution> one;
          one.push_back(contribution(h * each + i + 1, std::vector<float>(size, 1)));
          const auto folded = mine->fold(*rule, one);
          EXPECT_TRUE(folded) << folded.error().message;
        }
      });
  }
  const auto taken = store(url, job)->take();
  EXPECT_TRUE(taken);
  const auto values = values_of(taken->blocks);
  EXPECT_THAT(values, ::testing::Each(values.front()));
  return static_cast<std::int64_t>(values.front());
}

void expect_folds_once(std::string_view url) {
  const auto rule = train::testing::rule("downpour", {{"eta", 1}});
  const auto one = store(url, "once"), other = store(url, "once");
  ASSERT_TRUE(one->load({.values = train::blocks_of(std::vector<float>(10))}));
  for (auto* hub : {one.get(), other.get(), one.get()}) {
    std::vector<Contribution> twice;
    twice.push_back(contribution(7, std::vector<float>(10, 1)));
    twice.push_back(contribution(7, std::vector<float>(10, 1)));
    EXPECT_EQ(*hub->fold(*rule, twice), 1);
  }
  EXPECT_EQ(values_of(other->take()->blocks).front(), 1);
}

void expect_round_trip(std::string_view url) {
  auto begin = first(kTwoBlocks, 2);
  begin.version = 41;
  const auto writer = store(url, "trip"), reader = store(url, "trip");
  ASSERT_TRUE(writer->load(first(5 * kTwoBlocks, 0)));
  ASSERT_TRUE(writer->load(begin));  // Replaces what was there.
  const auto saved = reader->save();
  ASSERT_TRUE(saved) << saved.error().message;
  EXPECT_EQ(saved->version, 41);
  EXPECT_TRUE(same_bits(saved->values, begin.values));
  ASSERT_EQ(saved->planes.size(), 2U);
  EXPECT_TRUE(same_bits(saved->planes[1], begin.planes[1]));
  EXPECT_EQ(reader->take()->versions, std::vector<std::int64_t>(2, 41));
}

// Whoever bars an id while hubs fold learns what became of it, for good.
void expect_barred_or_folded(std::string_view url, std::int64_t count) {
  const std::size_t size = 100;
  const auto rule = train::testing::rule("downpour", {{"eta", 1}});
  const auto mine = store(url, "bar");
  ASSERT_TRUE(mine->load({.values = train::blocks_of(std::vector<float>(size))}));
  std::int64_t folded = 0;
  {
    const std::jthread hub([&] {
      const auto other = store(url, "bar");
      for (std::int64_t id = 1; id <= count; ++id) {
        std::vector<Contribution> one;
        one.push_back(contribution(id, std::vector<float>(size, 1)));
        EXPECT_TRUE(other->fold(*rule, one));
      }
    });
    for (std::int64_t id = count; id >= 1; --id) folded += *mine->bar(id) ? 1 : 0;
  }
  const auto taken = *mine->take();
  EXPECT_EQ(taken.version, folded);
  EXPECT_EQ(values_of(taken.blocks).front(), static_cast<float>(folded));
  EXPECT_TRUE(*mine->bar(1));  // Once barred it stays so.
}

void expect_only_its_generation(ParameterStore& hub) {
  const auto rule = train::testing::rule("downpour", {{"eta", 1}});
  ASSERT_TRUE(hub.load({.values = train::blocks_of(std::vector<float>(4)), .generation = "old"}));
  std::vector<Contribution> one;
  one.push_back(contribution(1, std::vector<float>(4, 1)));
  one[0].generation = "old";
  ASSERT_TRUE(hub.load({.values = train::blocks_of(std::vector<float>(4)), .generation = "new"}));
  EXPECT_EQ(hub.fold(*rule, one).error().code, base::Code::conflict);
  EXPECT_EQ(hub.take()->version, 0);
  one[0].generation = "new";
  EXPECT_EQ(hub.fold(*rule, one), 1);
}

TEST(MemoryStore, FoldsAContributionOnce) {
  const auto rule = train::testing::rule("downpour", {{"eta", 1}});
  const auto memory = store("memory", "j1");
  ASSERT_TRUE(memory->load({.values = train::blocks_of(std::vector<float>(10))}));
  for (int i = 0; i < 2; ++i) {
    std::vector<Contribution> one;
    one.push_back(contribution(7, std::vector<float>(10, 1)));
    EXPECT_EQ(*memory->fold(*rule, one), 1);
  }
}

TEST(MemoryStore, BarsAContributionAndKeepsGenerationsApart) {
  const auto memory = store("memory", "j1");
  expect_only_its_generation(*memory);
  EXPECT_TRUE(*memory->bar(1));
  EXPECT_FALSE(*memory->bar(2));
  std::vector<Contribution> late;
  late.push_back(contribution(2, std::vector<float>(4, 1)));
  EXPECT_EQ(memory->fold(*train::testing::rule("downpour"), late), 1);
  EXPECT_EQ(values_of(memory->take()->blocks).front(), 1);
}

TEST(RedisStore, ComesToTheSameParametersAsMemoryByEveryRule) {
  NEEDS(redis);
  expect_same_as_memory(redis()->url);
}
TEST(RedisStore, LosesNoIncrementOfSeveralHubs) {
  NEEDS(redis);
  EXPECT_EQ(count_to(redis()->url, "count", 100, 3), 300);
}
TEST(RedisStore, EventualModeIsTheControlThatMayLose) {
  NEEDS(redis);
  const auto kept = count_to(redis()->url + "?mode=eventual", "lossy", 100, 3);
  EXPECT_LE(kept, 300);
  std::cout << "without a check, " << kept << " of 300 increments were kept\n";
}
TEST(RedisStore, FoldsAContributionOnceWhicheverHubBringsIt) {
  NEEDS(redis);
  expect_folds_once(redis()->url);
}
TEST(RedisStore, AContributionIsFoldedOrBarredNeverBoth) {
  NEEDS(redis);
  expect_barred_or_folded(redis()->url, 200);
}
TEST(RedisStore, AFoldThatComesTooLateDoesNotReachTheParametersThatCameAfter) {
  NEEDS(redis);
  expect_only_its_generation(*store(redis()->url, "anew"));
}
TEST(RedisStore, GivesBackWhatWasSaved) {
  NEEDS(redis);
  expect_round_trip(redis()->url);
}

TEST(RedisStore, LeavesNothingAside) {
  NEEDS(redis);
  EXPECT_EQ(count_to(redis()->url, "tidy", 20, 2), 40);
  Redis connection(*parse_redis_url(redis()->url));
  const auto keys = connection.call({"KEYS", "souk:{tidy}:*"});
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->list.size(), 3U);  // head, ids, one block.
}

TEST(RedisStore, NamesTheServerThatDiedAndGivesTheContributionBack) {
  NEEDS(redis);
  auto server = base::testing::start_redis();
  ASSERT_TRUE(server);
  const auto rule = train::testing::rule("downpour", {{"eta", 1}});
  const auto hub = store(server->url, "j9");
  ASSERT_TRUE(hub->load(first(kTwoBlocks, 0)));
  std::vector<Contribution> one;
  one.push_back(contribution(1, std::vector<float>(kTwoBlocks, 1)));
  server->child.end(SIGKILL);
  for (int i = 0; i < 2; ++i) {
    const auto folded = hub->fold(*rule, one);
    ASSERT_FALSE(folded);
    EXPECT_EQ(folded.error().code, base::Code::unavailable);
    EXPECT_THAT(folded.error().message, HasSubstr(server->url));
  }
  EXPECT_EQ(one[0].update.size(), kTwoBlocks);  // Given back, to be tried again.
  EXPECT_FALSE(hub->take());
}

TEST(RedisStore, RefusesWhatDoesNotFitTheParameters) {
  NEEDS(redis);
  const auto hub = store(redis()->url, "shape");
  ASSERT_TRUE(hub->load(first(10, 0)));
  std::vector<Contribution> one;
  one.push_back(contribution(1, std::vector<float>(11)));
  EXPECT_FALSE(hub->fold(*train::testing::rule("downpour"), one));
  one[0] = contribution(1, std::vector<float>(10));
  EXPECT_FALSE(hub->fold(*train::testing::rule("delayed-nesterov"), one));
  EXPECT_TRUE(hub->fold(*train::testing::rule("downpour"), one));
}

TEST(RedisStore, SaysThatAJobHasNoParameters) {
  NEEDS(redis);
  const auto taken = store(redis()->url, "nobody")->take();
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, base::Code::not_found);
  EXPECT_THAT(taken.error().message, HasSubstr("nobody"));
}

TEST(PostgresStore, ComesToTheSameParametersAsMemoryByEveryRule) {
  NEEDS(postgres);
  expect_same_as_memory(postgres()->url);
}
TEST(PostgresStore, LosesNoIncrementOfSeveralHubs) {
  NEEDS(postgres);
  EXPECT_EQ(count_to(postgres()->url, "count", 50, 3), 150);
}
TEST(PostgresStore, FoldsAContributionOnceWhicheverHubBringsIt) {
  NEEDS(postgres);
  expect_folds_once(postgres()->url);
}
TEST(PostgresStore, AContributionIsFoldedOrBarredNeverBoth) {
  NEEDS(postgres);
  expect_barred_or_folded(postgres()->url, 60);
}
TEST(PostgresStore, AFoldThatComesTooLateDoesNotReachTheParametersThatCameAfter) {
  NEEDS(postgres);
  expect_only_its_generation(*store(postgres()->url, "anew"));
}
TEST(PostgresStore, GivesBackWhatWasSaved) {
  NEEDS(postgres);
  expect_round_trip(postgres()->url);
}
TEST(PostgresStore, SaysThatAJobHasNoParameters) {
  NEEDS(postgres);
  EXPECT_EQ(store(postgres()->url, "nobody")->take().error().code, base::Code::not_found);
}
TEST(PostgresStore, NamesTheServerThatIsNotThere) {
  const base::testing::Port port;
  const auto url = fmt::format("postgresql://souk:hush@127.0.0.1:{}/souk", port.number());
  const auto taken = store(url, "j1")->take();
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, base::Code::unavailable);
  EXPECT_THAT(taken.error().message, HasSubstr(std::to_string(port.number())));
  EXPECT_THAT(taken.error().message, Not(HasSubstr("hush")));
}

TEST(MakeStore, SaysWhatIsAcceptedAndNeverRepeatsAPassword) {
  struct Case {
    std::string url, said;
  };
  for (const auto& [url, said] :
       std::vector<Case>{{"mysql://me:hush@host/db", "mysql"},
                         {"", "''"},
                         {"redis://:hush@host:99999/0", "port '99999'"},
                         {"redis://:hush@host:1/x", "database 'x'"},
                         {"redis://:hush@host:1/0?mode=fast", "mode 'fast'"},
                         {"redis://:hush@host/0?fast=1", "option 'fast'"},
                         {"redis://", "no host"},
                         {"postgresql://me:hush@[host/db", "cannot be read"}}) {
    const auto made = make_store(url, "j1");
    ASSERT_FALSE(made) << url;
    EXPECT_EQ(made.error().code, base::Code::invalid) << url;
    EXPECT_THAT(made.error().message, HasSubstr(said));
    EXPECT_THAT(made.error().message + made.error().hint, Not(HasSubstr("hush")));
    EXPECT_THAT(made.error().hint, HasSubstr("://"));
  }
  EXPECT_FALSE(make_store("memory", "a job"));
}

TEST(RedisUrl, IsReadInAllItsParts) {
  const auto full = parse_redis_url("redis://me:p%40ss@[::1]:7000/3?mode=eventual");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->host, "::1");
  EXPECT_EQ(full->port, 7000);
  EXPECT_EQ(full->db, 3);
  EXPECT_EQ(full->user, "me");
  EXPECT_EQ(full->password, "p@ss");
  EXPECT_TRUE(full->eventual);
  EXPECT_EQ(parse_redis_url("redis://db.example")->name(), "redis://db.example:6379/0");
}

TEST(RedisStore, IsRefusedWithoutThePasswordAndLetInWithIt) {
  NEEDS(redis);
  const auto server = base::testing::start_redis();
  ASSERT_TRUE(server);
  Redis admin(*parse_redis_url(server->url));
  ASSERT_TRUE(admin.call({"CONFIG", "SET", "requirepass", "hush"}));
  const auto refused = store(server->url, "j1")->take();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("refuses"));
  auto url = server->url;
  url.insert(std::string_view("redis://").size(), ":hush@");
  EXPECT_TRUE(store(url, "j1")->load(first(10, 0)));
  url.replace(url.find("hush"), 4, "oops");
  const auto wrong = store(url, "j1")->take();
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, Not(HasSubstr("oops")));
}

TEST(Batch, GivesBackWhatWasNotFolded) {
  std::vector<Contribution> three;
  for (int i = 1; i <= 3; ++i) three.push_back(contribution(i, std::vector<float>(4, 1)));
  {
    Batch batch(three);
    batch.leave_out({false, true, false});
    EXPECT_THAT(batch.ids(), ::testing::ElementsAre(1, 3));
  }
  EXPECT_EQ(three[0].update.size(), 4U);
  EXPECT_EQ(three[2].update.size(), 4U);
}

#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer) && \
    !__has_feature(thread_sanitizer)
// In MiB, of /proc/self/status.
double memory_now(std::string_view what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(what)) return std::stod(line.substr(what.size() + 1)) / 1024;
  return 0;
}

// The most that `work` takes beside what there was, in models of kLargeMiB.
constexpr std::size_t kLargeMiB = 64;
template <class Work>
double models_at_most(Work work) {
  std::ofstream("/proc/self/clear_refs") << "5";  // The peak is now.
  const auto before = memory_now("VmRSS:");
  work();
  return (memory_now("VmHWM:") - before) / kLargeMiB;
}

// Blocks move a few at a time: neither loading nor reading all of it needs the model twice.
void expect_little_memory(const std::string& url) {
  const auto floats = kLargeMiB * train::kBlock;
  const auto rule = train::testing::rule("downpour", {{"eta", 1}});
  auto change = contribution(1, std::vector<float>(floats, 2));
  const auto one = store(url, "large"), other = store(url, "large");
  EXPECT_LT(models_at_most([&] {
              SavedParameters saved;
              for (std::size_t i = 0; i < kLargeMiB; ++i)
                saved.values.push_back(
                    std::make_shared<train::Block>(std::vector<float>(train::kBlock, 1)));
              ASSERT_TRUE(one->load(saved));
              saved = {};
              ASSERT_TRUE(one->fold(*rule, {&change, 1}));
            }),
            1.5);
  EXPECT_LT(models_at_most([&] {
              const auto taken = other->take();
              ASSERT_TRUE(taken);
              EXPECT_EQ((*taken->blocks.back())[7], 3);
            }),
            1.5);
}

TEST(RedisStore, ALargeModelTakesLittleMoreThanItself) {
  NEEDS(redis);
  expect_little_memory(redis()->url);
}

TEST(PostgresStore, ALargeModelTakesLittleMoreThanItself) {
  NEEDS(postgres);
  expect_little_memory(postgres()->url);
}
#endif

#undef NEEDS

}  // namespace
}  // namespace souk::hub
