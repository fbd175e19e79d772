#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/client.h"

namespace souk::agent {

// Stores that could not be reached from here a while ago, by their origins. Thread-safe.
class DirectStores {
 public:
  static constexpr std::chrono::minutes kLeftAlone{10};
  [[nodiscard]] bool usable(const std::string& origin) const;
  void failed(const std::string& origin);
  // Some store is left alone: the market need not be asked where things are.
  [[nodiscard]] bool any_failed() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::chrono::steady_clock::time_point> until_;
};

struct LinkOptions {
  std::vector<std::string> servers;  // Tried in turn; the one that answered last goes first.
  std::string token;
  std::string ca_file = {};
  std::string pin = {};
  base::Duration timeout = base::seconds(30);
  bool peers = false;  // Files of leases may come from other machines, where the market says so.
  // Files may come straight from the store where the market keeps them; shared by all copies of
  // these options. Null: they do not.
  std::shared_ptr<DirectStores> stores = std::make_shared<DirectStores>();
};

// The market's API over one connection, for one thread at a time (cancel() from any). Outbound
// only. A refusal by the server is its own error; a server that cannot be reached is tried again at
// the next address, and when none answers the error is `unavailable`.
class Link {
 public:
  static base::Result<Link> make(LinkOptions options);

  // The body of the answer.
  base::Result<std::string> get(std::string_view path) { return call("GET", path, {}, {}); }
  // The same, or where the market says that it is: a 307 with its Location.
  base::Result<net::Response> get_or_redirect(std::string_view path);
  base::Result<std::string> post(std::string_view path, std::string_view body);
  // Goes on under one idempotency key while nobody answers, until `patience` is over or
  // `give_up()`: what is reported twice happens once.
  base::Result<std::string> insist(std::string_view path, std::string_view body,
                                   base::Duration patience,
                                   const std::function<bool()>& give_up = {});
  base::Result<std::string> put(std::string_view path, std::string_view bytes);

  // Makes the call under way, and all later ones, fail soon.
  void cancel();

 private:
  explicit Link(LinkOptions options) : options_(std::move(options)) {}
  base::Result<std::string> call(std::string_view method, std::string_view path,
                                 std::string_view body, std::string_view key);
  base::Result<net::Response> ask(std::string_view method, std::string_view path,
                                  std::string_view body, std::string_view key);

  LinkOptions options_;
  std::vector<net::Client> clients_;  // One for each server.
  std::size_t current_ = 0;
  std::unique_ptr<std::atomic<bool>> cancelled_ = std::make_unique<std::atomic<bool>>(false);
};

}  // namespace souk::agent
