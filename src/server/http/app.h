#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "net/rate_limit.h"
#include "net/server.h"
#include "server/core/core.h"
#include "server/core/feed.h"
#include "server/core/pool.h"
#include "server/core/services.h"
#include "server/files/prepare.h"
#include "server/http/api_reply.h"
#include "server/http/console.h"
#include "server/http/router.h"

namespace souk::server {

struct AppOptions {
  std::string bootstrap;  // Makes the first account from elsewhere; empty: there is one already.
  bool metrics_public = false;
  bool tls = false;  // Does this server itself speak TLS?
  int requests_per_second = 1'000;
  PrepareOptions prepare = {};
};

// From an HTTP request to its answer: finds the route, demands a token, throttles, honours
// idempotency keys, and runs the route's work on the core. Everything not in the route table is
// refused, and a route says itself who may call it. Thread-safe.
class App {
 public:
  App(Core& core, Feed& feed, Services& services, Pool& hashers, Pool& files,
      const base::Clock& clock, AppOptions options);

  // Called on I/O threads.
  void handle(net::Request http, net::Reply reply);
  void set_counters(std::function<net::ServerCounters()> fn) { net_counters_ = std::move(fn); }

 private:
  // A request on its way. Owned by whoever works on it next.
  struct Call {
    net::Request http;
    ApiReply reply;
    const Route* route;
    std::vector<std::string> params;
    std::optional<base::Digest> token;
    bool cookie = false;  // The token came in the session cookie.
    std::string key;
    std::uint64_t fingerprint = 0;
  };
  using CallPtr = std::unique_ptr<Call>;
  using Serve = void (App::*)(CallPtr);

  Result<> check_call(const Call& call) const;
  Result<market::Actor> authenticate(Core::Turn& turn, Call& call);
  // The machine that the path names, for its agent and its owner; operators too if `operators`.
  static Result<const market::Machine*> machine_for(const market::State& s,
                                                    const market::Actor& actor, const Call& call,
                                                    bool operators);
  // Runs `task` on the core with the call; answers 503 when the core cannot take it.
  void on_core(CallPtr call, std::move_only_function<void(Core::Turn&, CallPtr)> task);
  // Answers once everything that the answer may tell of is durable.
  static void reply_after(Core::Turn& turn, CallPtr call, net::Response response);
  net::Response answer(Core::Turn& turn, Call& call, Result<Work>& work);
  static std::optional<Result<net::Response>> repeated(const Core::Turn& turn, const Call& call,
                                                       base::AccountId account);
  static void remember(Core::Turn& turn, const Call& call, base::AccountId account,
                       const net::Response& response);
  bool throttled(net::RateLimiter& limiter, std::string_view key, Call& call);

  // What no route serves: the console, and refusals. `allowed`: the methods of this path.
  [[nodiscard]] net::Response unrouted(const net::Request& http, const std::string& allowed) const;

  // The special routes (Routes::special), by id.
  [[nodiscard]] Serve special(const Route& route) const;
  void serve_health(CallPtr call);
  void serve_ready(CallPtr call);
  void serve_metrics(CallPtr call);
  void serve_openapi(CallPtr call);
  void serve_sign_up(CallPtr call);
  void serve_login(CallPtr call);
  void serve_logout(CallPtr call);
  void serve_password(CallPtr call);
  void serve_events(CallPtr call);
  void serve_work(CallPtr call);
  // app_files.cc
  void serve_missing_blobs(CallPtr call);
  void serve_put_blob(CallPtr call);
  void serve_get_blob(CallPtr call);
  void serve_append_log(CallPtr call);
  void serve_log(CallPtr call);
  void serve_challenge(CallPtr call);
  // app_results.cc
  void serve_result_files(CallPtr call);
  void serve_result_file(CallPtr call);
  void serve_prepare(CallPtr call);  // app_prepare.cc
  // app_training.cc
  void serve_unit(CallPtr call);
  void serve_unit_piece(CallPtr call);
  void serve_unit_done(CallPtr call);
  void serve_parameters(CallPtr call);
  void serve_training(CallPtr call);
  void serve_lab(CallPtr call);  // api_lab.cc
  struct Worker;
  Result<Worker> worker_of(const market::State& s, const market::Actor& actor, const Call& call,
                           std::int32_t epoch) const;
  void report_end(base::JobId job, const std::shared_ptr<hub::Run>& run);
  template <class Look, class Work>
  void on_pool(Pool& pool, CallPtr call, Look look, Work work);
  template <class Look, class Work>
  void on_files(CallPtr call, Look look, Work work);

  // The steps of those that take several.
  void verify_then_open_session(CallPtr call, wire::Login login);
  void create_account(CallPtr call, wire::NewAccount body, std::string hash);
  void change_password(CallPtr call, wire::NewPassword body, base::AccountId account,
                       std::string old_hash);
  static Result<net::Response> open_session(Core::Turn& turn, const Call& call,
                                            base::AccountId account, std::string label,
                                            base::Duration lasts);
  net::Response metrics(const Core::Turn& turn) const;

  Core& core_;
  Feed& feed_;
  Services& services_;
  Pool& hashers_;
  Pool& files_;
  const base::Clock& clock_;
  const AppOptions options_;
  const Routes routes_;
  const Console console_;
  const std::string openapi_;
  std::function<net::ServerCounters()> net_counters_;
  net::RateLimiter per_account_, per_address_, sign_ups_, passwords_by_name_, passwords_by_address_;
  Prepare prepare_;
  // Fetching and cutting data takes so long that no worker's update may wait for it on files_.
  Pool preparers_{2, 64};
};

}  // namespace souk::server
