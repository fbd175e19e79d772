#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/testing/servers.h"
#include "hub/stores/store.h"

namespace souk::hub::testing {

// What happens before a store does something. An error is what the store then says, without doing
// it.
struct StoreHooks {
  using Hook = std::function<base::Result<>()>;
  static base::Result<> nothing() { return {}; }
  Hook load = nothing, save = nothing, take = nothing, fold = nothing, bar = nothing;
};

[[nodiscard]] inline base::Failure store_down() {
  return base::fail(base::Code::unavailable, "the store is down");
}

// A hook that fails once.
[[nodiscard]] inline StoreHooks::Hook fails_once() {
  return [failed = false]() mutable -> base::Result<> {
    if (std::exchange(failed, true)) return {};
    return store_down();
  };
}

// One Redis for all tests of a process, each with job names of its own; nothing where Redis is not
// installed.
[[nodiscard]] inline const std::optional<base::testing::Database>& redis() {
  static const auto server = base::testing::start_redis();
  return server;
}

// Another store, with hooks that outlive it.
class HookedStore final : public ParameterStore {
 public:
  HookedStore(std::unique_ptr<ParameterStore> store, const StoreHooks& hooks)
      : store_(std::move(store)), hooks_(hooks) {}

  std::string_view name() const override { return store_->name(); }
  base::Result<> load(const SavedParameters& saved) override {
    SOUK_TRY(hooks_.load());
    return store_->load(saved);
  }
  base::Result<SavedParameters> save() const override {
    SOUK_TRY(hooks_.save());
    return store_->save();
  }
  base::Result<train::ParameterSnapshot> take() const override {
    SOUK_TRY(hooks_.take());
    return store_->take();
  }
  base::Result<std::int64_t> fold(const train::Aggregator& rule,
                                  std::span<Contribution> contributions) override {
    SOUK_TRY(hooks_.fold());
    return store_->fold(rule, contributions);
  }
  base::Result<bool> bar(std::int64_t id) override {
    SOUK_TRY(hooks_.bar());
    return store_->bar(id);
  }

 private:
  const std::unique_ptr<ParameterStore> store_;
  const StoreHooks& hooks_;
};

}  // namespace souk::hub::testing
