#include <mutex>
#include <set>

#include "hub/stores/stores.h"

namespace souk::hub {
namespace {

class MemoryStore final : public ParameterStore {
 public:
  std::string_view name() const override { return "memory"; }

  base::Result<> load(const SavedParameters& saved) override {
    std::size_t size = 0;
    for (const auto& block : saved.values) size += block->size();
    train::Parameters fresh(size, saved.planes.size());
    fresh.load(saved.values, saved.planes, saved.version);
    const std::lock_guard lock(mutex_);
    parameters_ = std::move(fresh);
    generation_ = saved.generation;
    ++loads_;
    folded_.clear();
    return {};
  }

  base::Result<SavedParameters> save() const override {
    const std::lock_guard lock(mutex_);
    SavedParameters out{.values = parameters_.blocks(), .version = parameters_.version()};
    for (std::size_t p = 0; p < parameters_.planes(); ++p)
      out.planes.push_back(parameters_.plane_blocks(p));
    return out;
  }

  base::Result<train::ParameterSnapshot> take() const override {
    const std::lock_guard lock(mutex_);
    return train::take(parameters_);
  }

  base::Result<std::int64_t> fold(const train::Aggregator& rule,
                                  std::span<Contribution> contributions) override {
    const std::lock_guard lock(mutex_);
    for (const auto& c : contributions) SOUK_TRY(check_generation(c, generation_));
    std::vector<train::Update> fresh;
    for (auto& c : contributions) {
      if (!folded_.insert(c.id).second) continue;
      // With arity 1 each is a fold of its own.
      const auto before = rule.needs().arity == 1 ? std::ssize(fresh) : 0;
      c.update.staleness = parameters_.version() + before - c.base;
      fresh.push_back(std::move(c.update));
    }
    if (!fresh.empty()) rule.fold(parameters_, fresh);
    forget_old_ids();
    return parameters_.version();
  }

  base::Result<bool> bar(std::int64_t id) override {
    const std::lock_guard lock(mutex_);
    return !folded_.insert(id).second;
  }

  // The block is shared while it is copied; a fold in place meanwhile copies it as well.
  void prepare(PreparedFold& prepared, const train::Update& update) override {
    const auto i = prepared.blocks.size();
    auto one = share_block(prepared, i);
    if (!one || i >= update.count()) return prepared.abandon();
    auto part = update.only(i);
    if (part.size() != one->size()) return prepared.abandon();
    part.weight = prepared.weight;
    part.epoch = prepared.epoch;
    part.at_work = prepared.at_work;
    part.staleness = prepared.version - prepared.base;
    prepared.rule->fold(*one, {&part, 1});
    prepared.blocks.push_back(*std::move(one));
  }

  std::optional<std::int64_t> commit_prepared(PreparedFold& prepared,
                                              const Contribution& contribution) override {
    std::vector<train::Parameters> before;  // Freed after the lock.
    const std::lock_guard lock(mutex_);
    if (prepared.useless || prepared.version != parameters_.version() ||
        prepared.generation != loads_ || prepared.blocks.size() != parameters_.count() ||
        !check_generation(contribution, generation_) || !folded_.insert(contribution.id).second)
      return std::nullopt;
    for (std::size_t i = 0; i < prepared.blocks.size(); ++i) {
      before.push_back(parameters_.only(i));
      parameters_.put(i, std::move(prepared.blocks[i]));
    }
    parameters_.advance();
    forget_old_ids();
    return parameters_.version();
  }

 private:
  std::optional<train::Parameters> share_block(PreparedFold& prepared, std::size_t i) const {
    const std::lock_guard lock(mutex_);
    if (prepared.version < 0) {
      prepared.version = parameters_.version();
      prepared.generation = loads_;
    }
    if (prepared.useless || prepared.version != parameters_.version() ||
        prepared.generation != loads_ || i >= parameters_.count() ||
        parameters_.planes() != prepared.rule->needs().planes)
      return std::nullopt;
    return parameters_.only(i);
  }
  void forget_old_ids() {
    while (folded_.size() > kRemembered) folded_.erase(folded_.begin());  // Ids grow.
  }

  static constexpr std::size_t kRemembered = 100'000;
  mutable std::mutex mutex_;
  train::Parameters parameters_;
  std::string generation_;
  std::int64_t loads_ = 0;  // So far.
  std::set<std::int64_t> folded_;
};

}  // namespace

std::unique_ptr<ParameterStore> make_memory_store() { return std::make_unique<MemoryStore>(); }

}  // namespace souk::hub
