#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "blob/transfer.h"

namespace souk::blob::testing {

// A store elsewhere, in memory, that fails as told and counts what it was asked. Thread-safe; its
// connections check that each is used by one thread at a time.
class MemoryServer {
 public:
  // What to do wrong. Set before use.
  std::optional<int> dies_after;         // Requests until every one is unavailable.
  int fails_every = 0;                   // Every n-th request is unavailable.
  std::optional<Digest> corrupts;        // This one arrives with a flipped bit.
  std::size_t waits_for_concurrent = 0;  // Until so many are in get() or put(), once.

  std::map<Digest, Bytes> chunks;
  std::vector<Digest> order;  // In which chunks were put.
  int puts = 0, gets = 0, asks = 0, connections = 0;
  std::size_t most_asked = 0, most_concurrent = 0;

  RemoteFactory factory() {
    return [this]() -> Result<std::unique_ptr<Remote>> {
      ++connections;
      return std::make_unique<Connection>(*this);
    };
  }

 private:
  class Connection final : public Remote {
   public:
    explicit Connection(MemoryServer& server) : server_(server) {}
    Result<std::vector<Digest>> missing(std::span<const Digest> names) override {
      return alone([&] { return server_.missing(names); });
    }
    Result<> put(const Digest& name, std::string_view encoded) override {
      return alone([&] { return server_.put(name, encoded); });
    }
    Result<Bytes> get(const Digest& name) override {
      return alone([&] { return server_.get(name); });
    }

   private:
    template <class Work>
    auto alone(Work work) -> decltype(work()) {
      CHECK(!busy_.exchange(true));
      auto result = work();
      busy_ = false;
      return result;
    }
    MemoryServer& server_;
    std::atomic<bool> busy_ = false;
  };

  Result<> trouble() {
    ++requests_;
    const bool dead = dies_after && requests_ > *dies_after;
    if (dead || (fails_every > 0 && requests_ % fails_every == 0))
      return base::fail(base::Code::unavailable, "the connection broke");
    return {};
  }

  void meet(std::unique_lock<std::mutex>& lock) {
    most_concurrent = std::max(most_concurrent, ++inside_);
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(20),
                      [&] { return most_concurrent >= waits_for_concurrent; });
    --inside_;
  }

  Result<std::vector<Digest>> missing(std::span<const Digest> names) {
    const std::lock_guard lock(mutex_);
    ++asks;
    most_asked = std::max(most_asked, names.size());
    SOUK_TRY(trouble());
    std::vector<Digest> out;
    for (const auto& name : names)
      if (!chunks.contains(name)) out.push_back(name);
    return out;
  }

  Result<> put(const Digest& name, std::string_view encoded) {
    std::unique_lock lock(mutex_);
    ++puts;
    meet(lock);
    SOUK_TRY(trouble());
    SOUK_TRY(decode(encoded, name));
    chunks[name] = encoded;
    order.push_back(name);
    return {};
  }

  Result<Bytes> get(const Digest& name) {
    std::unique_lock lock(mutex_);
    ++gets;
    meet(lock);
    SOUK_TRY(trouble());
    const auto found = chunks.find(name);
    if (found == chunks.end())
      return base::fail(base::Code::not_found, "no chunk " + to_string(name));
    auto out = found->second;
    if (corrupts == name) out.back() = static_cast<char>(out.back() ^ 1);
    return out;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int requests_ = 0;
  std::size_t inside_ = 0;
};

}  // namespace souk::blob::testing
