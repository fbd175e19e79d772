#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/stores/store.h"

// Where a job's parameters can live, by URL, and what the stores that several hubs share have in
// common.

namespace souk::hub {

// "memory": in this process, for one hub.
// "redis://[USER:PASSWORD@]HOST[:PORT][/DB][?mode=strict|eventual]": shared. `strict`, the default,
// loses nothing. `eventual` reads, folds and writes without a check, as a measure of what that
// costs: hubs that fold at the same time undo each other's folds.
// "postgresql://...": shared, as libpq reads it; one hub folds at a time.
// Connects to nothing yet. Errors say what is accepted and never contain credentials.
[[nodiscard]] base::Result<std::unique_ptr<ParameterStore>> make_store(std::string_view url,
                                                                       std::string_view job);

// How many ids a store remembers, the greatest: ids grow.
inline constexpr std::size_t kRememberedIds = 100'000;

// What a shared store says about the parameters of one job.
struct StoreHead {
  std::string generation;  // New with every load(): versions of two generations do not compare.
  std::int64_t version = 0;
  std::size_t size = 0;    // Floats.
  std::size_t planes = 0;  // Kept beside the parameters.

  [[nodiscard]] std::size_t blocks() const { return (size + train::kBlock - 1) / train::kBlock; }
};

// A hub's own copy of parameters that lie elsewhere. It knows the version of each of its blocks, so
// that only what others changed is read again. A block travels as its values followed by those of
// each plane; aggregators change a plane only where they change the values. Not thread-safe.
class Mirror {
 public:
  // Gets ready for what `head` says; forgets what is of another generation or shape.
  void prepare(const StoreHead& head);
  // The version of block `i` here; -1 when it must be read, whatever its version.
  [[nodiscard]] std::int64_t version(std::size_t i) const { return versions_[i]; }
  [[nodiscard]] const std::vector<std::int64_t>& versions() const { return versions_; }
  // Overwrites block `i`. Refuses bytes of another length.
  base::Result<> set(std::size_t i, std::string_view bytes, std::int64_t version);
  // What is here is what was loaded: nothing needs to be read.
  void adopt(const StoreHead& head, const SavedParameters& loaded);
  // Blocks that must be read again, whatever their version.
  void distrust(std::span<const std::size_t> blocks);
  // All blocks are those of `version`.
  void arrive(std::int64_t version);

  // Folds. Gives the blocks that changed, which stand as unknown until commit(). Requires arrive().
  std::vector<std::size_t> fold(const train::Aggregator& rule,
                                std::span<const train::Update> updates);
  // The store has taken the fold: the blocks it changed are known.
  void commit(std::span<const std::size_t> changed);
  // Nothing here is to be trusted any more.
  void forget() { head_ = {}; }

  // The bytes of block `i`, in one piece for its values and one for each plane. Valid until the
  // next change.
  [[nodiscard]] std::vector<std::string_view> bytes(std::size_t i) const;
  [[nodiscard]] const train::Parameters& parameters() const { return parameters_; }
  [[nodiscard]] train::ParameterSnapshot taken() const;
  [[nodiscard]] SavedParameters saved() const;

 private:
  StoreHead head_;
  train::Parameters parameters_;
  std::vector<std::int64_t> versions_;
};

// Contributions on their way into a shared store. They are given back unless finished, so that who
// sent them may try again.
class Batch {
 public:
  explicit Batch(std::span<Contribution> from);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  [[nodiscard]] const std::vector<std::int64_t>& ids() const { return ids_; }
  [[nodiscard]] std::span<const train::Update> updates() const { return updates_; }
  [[nodiscard]] bool empty() const { return ids_.empty(); }
  // Leaves out those for which `folded` (as long as ids()) is set.
  void leave_out(const std::vector<bool>& folded);
  // Refuses what cannot be folded into these parameters.
  [[nodiscard]] base::Result<> check(const train::Aggregator& rule, const StoreHead& head) const;
  // Tells each how stale it is, when folded into `version`.
  void stamp(const train::Aggregator& rule, std::int64_t version);
  void finish() { finished_ = true; }

 private:
  std::span<Contribution> from_;
  std::vector<std::size_t> at_;  // In from_.
  std::vector<std::int64_t> ids_;
  std::vector<train::Update> updates_;
  bool finished_ = false;
};

// 64 random bits in hex: of a generation, or of what is being written.
[[nodiscard]] std::string fresh_name();

// redis_store.cc and postgres_store.cc; make_store() chooses.
[[nodiscard]] base::Result<std::unique_ptr<ParameterStore>> make_redis_store(std::string_view url,
                                                                             std::string_view job);
[[nodiscard]] base::Result<std::unique_ptr<ParameterStore>> make_postgres_store(
    std::string_view url, std::string_view job);

// What lies in a store of block `i`, piece by piece: its values, then its part of each plane.
// Requires blocks of kBlock floats, the last one aside.
[[nodiscard]] std::vector<std::string_view> pieces_of(const SavedParameters& saved, std::size_t i);
[[nodiscard]] StoreHead head_of(const SavedParameters& saved);
[[nodiscard]] std::size_t size_of(const SavedParameters& saved);  // Floats.

// Refuses what is meant for other parameters than those that are there.
[[nodiscard]] base::Result<> check_generation(const Contribution& contribution,
                                              std::string_view generation);

// "job j17 has no parameters in redis://..."
[[nodiscard]] base::Failure no_parameters(std::string_view job, std::string_view store);

}  // namespace souk::hub
