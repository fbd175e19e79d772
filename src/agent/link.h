#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/client.h"

namespace souk::agent {

struct LinkOptions {
  std::vector<std::string> servers;  // Tried in turn; the one that answered last goes first.
  std::string token;
  std::string ca_file = {};
  std::string pin = {};
  base::Duration timeout = base::seconds(30);
};

// The market's API over one connection, for one thread at a time (cancel() from any). Outbound
// only. A refusal by the server is its own error; a server that cannot be reached is tried again at
// the next address, and when none answers the error is `unavailable`.
class Link {
 public:
  static base::Result<Link> make(LinkOptions options);

  // The body of the answer.
  base::Result<std::string> get(std::string_view path) { return call("GET", path, {}, {}); }
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

  LinkOptions options_;
  std::vector<net::Client> clients_;  // One for each server.
  std::size_t current_ = 0;
  std::unique_ptr<std::atomic<bool>> cancelled_ = std::make_unique<std::atomic<bool>>(false);
};

}  // namespace souk::agent
