#pragma once

#include <condition_variable>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "journal/open.h"
#include "net/server.h"
#include "server/http/front_door.h"
#include "server/http/secrets.h"
#include "server/testing/market.h"

// The inside of a server, with a journal and a clock that obey the test.

namespace souk::server::testing {

// Holds appends up, or lets them fail, when told to. Thread-safe.
class ObedientJournal final : public journal::Journal {
 public:
  [[nodiscard]] std::uint64_t next() const override {
    const std::lock_guard lock(mutex_);
    return kept_->next();
  }
  [[nodiscard]] std::uint64_t first() const override {
    const std::lock_guard lock(mutex_);
    return kept_->first();
  }
  [[nodiscard]] base::Result<> append(const journal::Batch& batch) override {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_; });
    if (fail_) return base::fail(base::Code::unavailable, "no space left on the test's disk");
    sizes_.push_back(batch.count);
    bytes_.push_back(batch.bytes.size());
    return kept_->append(batch);
  }
  [[nodiscard]] base::Result<> replay(std::uint64_t from, const Visit& visit) override {
    const std::lock_guard lock(mutex_);
    return kept_->replay(from, visit);
  }
  [[nodiscard]] base::Result<std::string> base() override {
    const std::lock_guard lock(mutex_);
    return kept_->base();
  }
  [[nodiscard]] base::Result<> save_base(std::uint64_t first, std::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    return kept_->save_base(first, bytes);
  }
  [[nodiscard]] base::Result<> archive(const std::string& folder, std::uint64_t until,
                                       const Visit& also) override {
    const std::lock_guard lock(mutex_);
    return kept_->archive(folder, until, also);
  }
  [[nodiscard]] base::Result<> cut(std::uint64_t first, const base::Digest& base) override {
    const std::lock_guard lock(mutex_);
    return kept_->cut(first, base);
  }
  [[nodiscard]] base::Result<bool> trim() override {
    const std::lock_guard lock(mutex_);
    return kept_->trim();
  }

  void hold() { set(held_, true); }
  void release() { set(held_, false); }
  void fail() { set(fail_, true); }
  // Appends that were begun so far, held up ones too.
  [[nodiscard]] int begun() const {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  // Events and bytes of each batch that was kept.
  [[nodiscard]] std::vector<std::uint32_t> sizes() const {
    const std::lock_guard lock(mutex_);
    return sizes_;
  }
  [[nodiscard]] std::vector<std::size_t> bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  void set(bool& flag, bool value) {
    const std::lock_guard lock(mutex_);
    flag = value;
    changed_.notify_all();
  }
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<journal::Journal> kept_ = std::move(journal::open("memory:")->journal);
  bool held_ = false, fail_ = false;
  int begun_ = 0;
  std::vector<std::uint32_t> sizes_;
  std::vector<std::size_t> bytes_;
};

// A clock that can also be set back.
class ObedientClock final : public base::Clock {
 public:
  [[nodiscard]] base::Time now() const override { return base::Time(us_.load()); }
  void move(base::Duration d) { us_ += d.us; }

 private:
  std::atomic<std::int64_t> us_ = 1'767'571'200'000'000;  // 2026-01-05T00:00:00Z
};

// Where the answer to a request that came over no socket goes.
class Pigeon final : public net::Exchange {
 public:
  void answer(net::Response response) override { promise_.set_value(answer_of(response)); }
  net::Stream stream(net::Response) override { return {}; }
  void dropped() override { promise_.set_value({.status = 500}); }
  std::future<Answer> future() { return promise_.get_future(); }

 private:
  std::promise<Answer> promise_;
};

inline std::string new_folder() {
  auto name = (std::filesystem::temp_directory_path() / "souk-stack-XXXXXX").string();
  CHECK(::mkdtemp(name.data()) != nullptr);
  return name;
}

inline std::unique_ptr<blob::Store> open_store(const std::string& folder) {
  auto store = blob::Store::open(folder + "/blobs");
  CHECK(store.has_value());
  return *std::move(store);
}

class Stack {
 public:
  explicit Stack(CoreOptions core_options = {},
                 HttpOptions http_options = {.requests_per_second = 0})
      : core(market::State{}, journal, clock, core_options),
        feed(0, {}),
        services(open_store(folder), folder, clock),
        context(core, feed, services, *hashers, *files, clock, std::move(http_options)),
        door(context) {
    init_secrets();
    core.observe([this](std::span<const Committed> batch) { feed.publish(batch.back().number); });
    core.start();
    auto started = net::Server::start({}, [this](net::Request request, net::Reply reply) {
      door.handle(std::move(request), std::move(reply));
    });
    CHECK(started.has_value());
    http = *std::move(started);
  }
  ~Stack() {
    journal.release();
    feed.close();
    http->stop(base::seconds(1));
    core.stop();
    hashers.reset();
    files.reset();
    std::filesystem::remove_all(folder);
  }

  [[nodiscard]] std::string url() const { return fmt::format("http://127.0.0.1:{}", http->port()); }

  // Runs `fn` on the core thread and waits for it.
  template <class Fn>
  auto inside(Fn fn) {
    std::promise<decltype(fn(std::declval<Core::Turn&>()))> promise;
    auto future = promise.get_future();
    CHECK(core.post([&](Core::Turn& turn) { promise.set_value(fn(turn)); }));
    return future.get();
  }

  // A request from anywhere in the world.
  std::future<Answer> ask(net::Request request) {
    auto pigeon = std::make_shared<Pigeon>();
    auto future = pigeon->future();
    door.handle(std::move(request), net::Reply(std::move(pigeon)));
    return future;
  }
  std::future<Answer> ask(std::string method, const std::string& path,
                          const std::string& token = "", std::string body = "",
                          std::string address = "203.0.113.9") {
    net::Request request{.method = std::move(method), .target = path, .path = path};
    request.headers = {{"Idempotency-Key", new_key()}};
    if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
    request.body = std::move(body);
    request.peer = {.address = address, .loopback = address == "127.0.0.1"};
    return ask(std::move(request));
  }

  ObedientClock clock;
  ObedientJournal journal;
  Core core;
  Feed feed;
  const std::string folder = new_folder();
  Services services;
  std::unique_ptr<Pool> hashers = std::make_unique<Pool>();
  std::unique_ptr<Pool> files = std::make_unique<Pool>();
  ServerContext context;
  FrontDoor door;
  std::unique_ptr<net::Server> http;
};

// The token of the market's first account, who is its operator.
inline std::string operator_of(Stack& stack) {
  return stack.ask("POST", "/v1/accounts", "", Market::sign_up_body("boss"), "127.0.0.1")
      .get()
      .at("token");
}

}  // namespace souk::server::testing
