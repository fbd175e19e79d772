#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/server.h"
#include "wire/json.h"
#include "wire/problem.h"

namespace souk::agent::testing {

// A refusal as the market words it.
inline net::Response refused(base::Code code, std::string message, std::string hint = {}) {
  const auto problem = wire::problem_of(base::Error{code, std::move(message), std::move(hint)});
  return {.status = problem.status,
          .content_type = "application/problem+json",
          .body = wire::to_json(problem)};
}

// What a gateway says whose market is down: as good as no answer.
inline net::Response bad_gateway() {
  return {.status = 502, .content_type = "text/html", .body = "<h1>Bad Gateway</h1>"};
}

// The request arrived, and the connection breaks before its answer does.
inline net::Response lost_answer() { return {.status = 0}; }

// An HTTP server on a free port of this computer that answers as the test says and remembers what
// it was asked. Thread-safe.
class ScriptedServer {
 public:
  // Nothing: the request is left unanswered, until answer_waiting().
  using Answer = std::function<std::optional<net::Response>(const net::Request&)>;

  explicit ScriptedServer(Answer answer)
      : answer_(std::move(answer)),
        server_(*net::Server::start({.max_body_bytes = 16 << 20},
                                    [this](net::Request request, net::Reply reply) {
                                      take(std::move(request), std::move(reply));
                                    })) {}
  ~ScriptedServer() { server_->stop({}); }

  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(server_->port());
  }
  // All requests, or those whose method and path are, say, "POST /v1/machines".
  [[nodiscard]] std::vector<net::Request> asked(std::string_view what = {}) const {
    const std::lock_guard lock(mutex_);
    if (what.empty()) return asked_;
    std::vector<net::Request> out;
    for (const auto& request : asked_)
      if (request.method + " " + request.path == what) out.push_back(request);
    return out;
  }
  // The idempotency keys of such requests. A change that is sent twice under one happens once.
  [[nodiscard]] std::set<std::string> keys(std::string_view what = {}) const {
    std::set<std::string> out;
    for (const auto& request : asked(what)) out.emplace(request.header("Idempotency-Key"));
    return out;
  }
  // Gives those that were left unanswered another chance.
  void answer_waiting(const Answer& answer) {
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [&](auto& each) {
      auto response = answer(each.first);
      if (response) each.second.send(*std::move(response));
      return response.has_value();
    });
  }

 private:
  void take(net::Request request, net::Reply reply) {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(request);
    }
    auto response = answer_(request);
    if (response && response->status == lost_answer().status) return reply.stream({}).cut();
    if (response) return reply.send(*std::move(response));
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(std::move(request), std::move(reply));
  }

  const Answer answer_;
  mutable std::mutex mutex_;  // Guards what follows.
  std::vector<net::Request> asked_;
  std::list<std::pair<net::Request, net::Reply>> waiting_;
  std::unique_ptr<net::Server> server_;
};

}  // namespace souk::agent::testing
