#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

#include "base/check.h"
#include "base/random.h"
#include "hub/stores/redis.h"
#include "hub/stores/stores.h"

// Parameters in Redis, shared by any number of hubs. The keys of a job:
//
//   souk:{JOB}:head      hash: generation, version, size, planes, and `versions`, in which each
//   block
//                        has the version at which it last changed (64 bits each, little endian)
//   souk:{JOB}:b:I       block I: its values, then its part of each plane
//   souk:{JOB}:ids       sorted set of the contributions that were folded, the greatest ids
//   souk:{JOB}:new:N:I   block I as a fold N is about to write it; expires if the hub dies
//
// A hub folds into its own copy, which it first brings up to date, sends the blocks that changed
// aside, and then a script puts them in place if the version is still the one that was folded into
// and none of the contributions was folded, or barred, meanwhile.
// So the large bytes never pass through the script, and Redis is busy with it for microseconds. A
// hub that was overtaken reads what changed and folds again.

namespace souk::hub {
namespace {

using base::Code;
using base::fail;
using base::Result;
using Kind = RedisValue::Kind;

constexpr int kAttempts = 1'000;
constexpr std::int64_t kLongestPauseUs = 10'000;
constexpr std::int64_t kAsideMs = 600'000;
constexpr std::size_t kAtOnce = 8;  // Blocks: so much of the parameters is in a buffer at a time.

constexpr std::string_view kCommit = R"(
local generation, from, to, versions, block, aside, remembered = unpack(ARGV, 1, 7)
local first_block = 9 + ARGV[8]
local head = redis.call('HMGET', KEYS[1], 'generation', 'version')
local current = head[1] == generation and head[2] == from
for i = first_block, #ARGV do
  if redis.call('EXISTS', aside .. ARGV[i]) == 0 then current = false end
end
for i = 9, first_block - 1 do
  if redis.call('ZSCORE', KEYS[2], ARGV[i]) then current = false end
end
for i = first_block, #ARGV do
  if current then
    redis.call('PERSIST', aside .. ARGV[i])
    redis.call('RENAME', aside .. ARGV[i], block .. ARGV[i])
  else
    redis.call('UNLINK', aside .. ARGV[i])
  end
end
if not current then return 0 end
for i = 9, first_block - 1 do redis.call('ZADD', KEYS[2], ARGV[i], ARGV[i]) end
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - remembered)
redis.call('HSET', KEYS[1], 'version', to, 'versions', versions)
return 1
)";

// What was written aside becomes the parameters, all of it or nothing.
constexpr std::string_view kLoad = R"(
local block, aside, count, before = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
for i = 0, count - 1 do
  if redis.call('EXISTS', aside .. i) == 0 then return 0 end
end
for i = 0, count - 1 do
  redis.call('PERSIST', aside .. i)
  redis.call('RENAME', aside .. i, block .. i)
end
for i = count, before - 1 do redis.call('UNLINK', block .. i) end
redis.call('UNLINK', KEYS[2])
redis.call('HSET', KEYS[1], 'generation', ARGV[5], 'version', ARGV[6], 'size', ARGV[7],
           'planes', ARGV[8], 'versions', ARGV[9])
return 1
)";

std::string_view bytes_of(const std::vector<std::int64_t>& versions) {
  return {reinterpret_cast<const char*>(versions.data()), versions.size() * sizeof versions[0]};
}

class RedisStore final : public ParameterStore {
 public:
  RedisStore(RedisAddress address, std::string_view job)
      : job_(job),
        prefix_(fmt::format("souk:{{{}}}:", job)),
        eventual_(address.eventual),
        redis_(std::move(address)),
        random_(std::random_device{}()) {}

  std::string_view name() const override { return eventual_ ? "redis-eventual" : "redis"; }

  Result<> load(const SavedParameters& saved) override;
  Result<SavedParameters> save() const override {
    const std::lock_guard lock(mutex_);
    SOUK_TRY(refresh({}));
    return mirror_.saved();
  }
  Result<train::ParameterSnapshot> take() const override {
    const std::lock_guard lock(mutex_);
    SOUK_TRY(refresh({}));
    return mirror_.taken();
  }
  Result<std::int64_t> fold(const train::Aggregator& rule,
                            std::span<Contribution> contributions) override;
  Result<bool> bar(std::int64_t id) override {
    const std::lock_guard lock(mutex_);
    SOUK_ASSIGN(const auto added,
                redis_.call(RedisCommand{"ZADD", key("ids"), "NX"}.add(id).add(id)));
    return added.number == 0;
  }

 private:
  struct SharedState {
    StoreHead head;
    std::vector<std::int64_t> versions;
    std::vector<bool> folded;  // For each id that was asked about.
  };
  std::string key(std::string_view what) const { return prefix_ + std::string(what); }
  std::string block_key(std::size_t i) const { return key(fmt::format("b:{}", i)); }

  Result<SharedState> look(std::span<const std::int64_t> ids) const;
  Result<std::optional<SharedState>> try_refresh(std::span<const std::int64_t> ids) const;
  Result<SharedState> refresh(std::span<const std::int64_t> ids) const;
  Result<> read_blocks(std::span<const std::size_t> blocks, const SharedState& seen) const;
  // Block `i` as somebody is about to write it.
  static RedisCommand set_aside(const std::string& aside, std::size_t i,
                                std::span<const std::string_view> pieces) {
    return RedisCommand{"SET", aside + std::to_string(i)}.add_pieces(pieces).add("PX").add(
        kAsideMs);
  }
  Result<bool> commit(const SharedState& seen, std::span<const std::size_t> changed,
                      const Batch& batch);
  Result<> overwrite(std::span<const std::size_t> changed, const Batch& batch);
  void pause(int attempt) const;
  base::Failure damaged(std::string_view what) const {
    return fail(Code::damaged, fmt::format("the parameters of job {} in {} are damaged: {}", job_,
                                           redis_.address().name(), what));
  }
  base::Failure contended() const {
    return fail(Code::conflict,
                fmt::format("{} attempts at the parameters of job {} in {} were overtaken",
                            kAttempts, job_, redis_.address().name()),
                "use fewer hubs for one job");
  }

  const std::string job_, prefix_;
  const bool eventual_;
  mutable std::mutex mutex_;  // Guards what follows.
  mutable Redis redis_;
  mutable Mirror mirror_;
  mutable base::Random random_;  // For pauses alone.
};

Result<> RedisStore::load(const SavedParameters& saved) {
  const std::lock_guard lock(mutex_);
  const auto before = look({});
  if (!before && before.error().code != Code::not_found) return std::unexpected(before.error());
  const auto head = head_of(saved);
  const std::vector<std::int64_t> versions(head.blocks(), saved.version);
  mirror_.forget();
  SOUK_TRY(redis_.call({"UNWATCH"}));
  const auto aside = key(fmt::format("new:{}:", fresh_name()));
  for (std::size_t i = 0; i < head.blocks();) {
    std::vector<RedisCommand> commands;
    for (const auto end = std::min(i + kAtOnce, head.blocks()); i < end; ++i)
      commands.push_back(set_aside(aside, i, pieces_of(saved, i)));
    SOUK_TRY(redis_.call(commands));
  }
  RedisCommand script{"EVAL", kLoad, "2", key("head"), key("ids"), key("b:"), aside};
  script.add(static_cast<std::int64_t>(head.blocks()))
      .add(before ? std::ssize(before->versions) : 0)
      .add(head.generation)
      .add(head.version)
      .add(static_cast<std::int64_t>(head.size))
      .add(static_cast<std::int64_t>(head.planes))
      .add(bytes_of(versions));
  SOUK_ASSIGN(const auto done, redis_.call(script));
  if (done.number != 1)
    return fail(Code::unavailable,
                fmt::format("loading the parameters of job {} into {} took too long", job_,
                            redis_.address().name()),
                "try again");
  if (!eventual_) mirror_.adopt(head, saved);
  return {};
}

// Begins to watch the head: a transaction that follows is void if another hub writes meanwhile.
Result<RedisStore::SharedState> RedisStore::look(std::span<const std::int64_t> ids) const {
  std::vector<RedisCommand> commands;
  commands.push_back({"WATCH", key("head")});
  commands.push_back({"HMGET", key("head"), "generation", "version", "size", "planes", "versions"});
  for (const auto id : ids) commands.push_back(RedisCommand{"ZSCORE", key("ids")}.add(id));
  SOUK_ASSIGN(const auto answers, redis_.call(commands));
  const auto& fields = answers[1].list;
  if (fields.size() != 5 || fields[0].kind != Kind::text)
    return no_parameters(job_, redis_.address().name());
  SharedState out;
  out.head.generation = fields[0].text;
  if (!read_number(fields[1].text, out.head.version) ||
      !read_number(fields[2].text, out.head.size) || out.head.size == 0 ||
      !read_number(fields[3].text, out.head.planes))
    return damaged("its head is not one");
  out.versions.resize(out.head.blocks());
  if (fields[4].text.size() != bytes_of(out.versions).size())
    return damaged("its head does not fit its size");
  std::memcpy(out.versions.data(), fields[4].text.data(), fields[4].text.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    out.folded.push_back(answers[i + 2].kind != Kind::nothing);
  return out;
}

// Nothing when another hub wrote while we read.
Result<std::optional<RedisStore::SharedState>> RedisStore::try_refresh(
    std::span<const std::int64_t> ids) const {
  SOUK_ASSIGN(auto seen, look(ids));
  if (eventual_) mirror_.forget();  // What is changed behind each other's back cannot be mirrored.
  mirror_.prepare(seen.head);
  std::vector<std::size_t> stale;
  for (std::size_t i = 0; i < seen.versions.size(); ++i)
    if (mirror_.version(i) != seen.versions[i]) stale.push_back(i);
  if (stale.empty()) {
    SOUK_TRY(redis_.call({"UNWATCH"}));
  } else {
    mirror_.distrust(stale);
    if (eventual_) SOUK_TRY(redis_.call({"UNWATCH"}));
    for (std::size_t k = 0; k < stale.size(); k += kAtOnce)
      SOUK_TRY(read_blocks(std::span(stale).subspan(k, std::min(kAtOnce, stale.size() - k)), seen));
    // Whoever writes blocks writes the head: what was read while nobody did is of one version.
    SOUK_ASSIGN(const auto answers,
                redis_.call(std::vector<RedisCommand>{{"MULTI"}, {"PING"}, {"EXEC"}}));
    if (answers[2].kind == Kind::nothing) {
      mirror_.distrust(stale);
      return std::nullopt;
    }
  }
  for (const auto i : stale)
    if (mirror_.version(i) < 0) return damaged("blocks are missing");
  mirror_.arrive(seen.head.version);
  return seen;
}

// A few at a time: nobody needs the whole twice.
Result<> RedisStore::read_blocks(std::span<const std::size_t> blocks,
                                 const SharedState& seen) const {
  RedisCommand get{"MGET"};
  for (const auto i : blocks) get.add(block_key(i));
  SOUK_ASSIGN(const auto answer, redis_.call(get));
  if (answer.list.size() != blocks.size()) return damaged("blocks are missing");
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    // One that another load just took away makes the watch void; one that never was is damage.
    if (answer.list[k].kind == Kind::nothing) continue;
    SOUK_TRY(mirror_.set(blocks[k], answer.list[k].text, seen.versions[blocks[k]]));
  }
  return {};
}

Result<RedisStore::SharedState> RedisStore::refresh(std::span<const std::int64_t> ids) const {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    SOUK_ASSIGN(auto seen, try_refresh(ids));
    if (seen) return *std::move(seen);
    pause(attempt);
  }
  return contended();
}

Result<std::int64_t> RedisStore::fold(const train::Aggregator& rule,
                                      std::span<Contribution> contributions) {
  const std::lock_guard lock(mutex_);
  Batch batch(contributions);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    SOUK_ASSIGN(const auto seen, refresh(batch.ids()));
    batch.leave_out(seen.folded);
    if (batch.empty()) {
      batch.finish();
      return seen.head.version;
    }
    SOUK_TRY(batch.check(rule, seen.head));
    batch.stamp(rule, seen.head.version);
    const auto changed = mirror_.fold(rule, batch.updates());
    bool written = true;
    if (eventual_) {
      SOUK_TRY(overwrite(changed, batch));
    } else {
      SOUK_ASSIGN(written, commit(seen, changed, batch));
    }
    if (written) {
      mirror_.commit(changed);
      batch.finish();
      return mirror_.parameters().version();
    }
    pause(attempt);
  }
  return contended();
}

Result<bool> RedisStore::commit(const SharedState& seen, std::span<const std::size_t> changed,
                                const Batch& batch) {
  const auto& parameters = mirror_.parameters();
  auto versions = seen.versions;
  const auto aside = key(fmt::format("new:{}:", fresh_name()));
  std::vector<RedisCommand> commands;
  for (const auto i : changed) {
    versions[i] = parameters.version(i);
    commands.push_back(set_aside(aside, i, mirror_.bytes(i)));
  }
  RedisCommand script{"EVAL", kCommit, "2", key("head"), key("ids"), seen.head.generation};
  script.add(seen.head.version)
      .add(parameters.version())
      .add(bytes_of(versions))
      .add(key("b:"))
      .add(aside)
      .add(static_cast<std::int64_t>(kRememberedIds))
      .add(std::ssize(batch.ids()));
  for (const auto id : batch.ids()) script.add(id);
  for (const auto i : changed) script.add(static_cast<std::int64_t>(i));
  commands.push_back(std::move(script));
  SOUK_ASSIGN(const auto answers, redis_.call(commands));
  return answers.back().number == 1;
}

Result<> RedisStore::overwrite(std::span<const std::size_t> changed, const Batch& batch) {
  const auto& parameters = mirror_.parameters();
  auto versions = mirror_.versions();
  std::vector<RedisCommand> commands;
  for (const auto i : changed) {
    versions[i] = parameters.version(i);
    commands.push_back(RedisCommand{"SET", block_key(i)}.add_pieces(mirror_.bytes(i)));
  }
  for (const auto id : batch.ids())
    commands.push_back(RedisCommand{"ZADD", key("ids")}.add(id).add(id));
  commands.push_back(RedisCommand{"ZREMRANGEBYRANK", key("ids"), "0"}.add(
      -1 - static_cast<std::int64_t>(kRememberedIds)));
  commands.push_back(RedisCommand{"HSET", key("head"), "version"}
                         .add(parameters.version())
                         .add("versions")
                         .add(bytes_of(versions)));
  SOUK_TRY(redis_.call(commands));
  return {};
}

void RedisStore::pause(int attempt) const {
  const auto most = std::min(kLongestPauseUs, std::int64_t{100} << std::min(attempt, 10));
  std::this_thread::sleep_for(std::chrono::microseconds(random_.between(0, most)));
}

}  // namespace

Result<std::unique_ptr<ParameterStore>> make_redis_store(std::string_view url,
                                                         std::string_view job) {
  SOUK_ASSIGN(auto address, parse_redis_url(url));
  return std::make_unique<RedisStore>(std::move(address), job);
}

}  // namespace souk::hub
