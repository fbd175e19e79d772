#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "server/http/api_call.h"
#include "server/http/server_context.h"

namespace souk::server {

// One request being served, on the core thread.
class Context {
 public:
  Context(Core::Turn& turn, const ApiCall& call, market::Actor actor, ServerContext& server)
      : actor(actor), turn_(turn), call_(call), server_(server) {}

  [[nodiscard]] const market::State& state() const { return turn_.state(); }
  [[nodiscard]] base::Time now() const { return turn_.now(); }
  [[nodiscard]] Core::Turn& turn() { return turn_; }
  [[nodiscard]] Services& services() { return server_.services; }
  [[nodiscard]] ServerContext& server() { return server_; }
  [[nodiscard]] const ApiCall& call() const { return call_; }
  [[nodiscard]] const net::Request& http() const { return call_.http; }
  [[nodiscard]] bool is_operator() const { return actor.scope == market::Scope::operator_; }
  Result<market::Events> execute(market::Command command) {
    return turn_.execute(actor, std::move(command));
  }

  // The i-th {parameter} of the path.
  [[nodiscard]] const std::string& param(std::size_t i = 0) const { return call_.params[i]; }
  // The same as an id; a text that is none gives "there is no job 'x'".
  template <class I>
  [[nodiscard]] Result<I> id(std::size_t i = 0) const {
    if (const auto id = base::IdTraits<I>::parse(param(i))) return *id;
    return no_such(base::IdTraits<I>::noun, param(i));
  }
  [[nodiscard]] std::string_view query(std::string_view name) const {
    return http().param(name).value_or("");
  }
  [[nodiscard]] Result<std::int64_t> number(std::string_view name, std::int64_t otherwise,
                                            std::int64_t least, std::int64_t most) const;
  // The answer took a look at so many things, `each` of which cost as much as a simple request:
  // counts as so many requests of the account.
  void charge(std::size_t looked_at, std::size_t each) const {
    server_.authentication.charge(actor.account, static_cast<std::int64_t>(looked_at / each));
  }
  [[nodiscard]] bool flag(std::string_view name) const { return query(name) == "true"; }

  static base::Failure no_such(std::string_view noun, std::string_view name);

  const market::Actor actor;

 private:
  Core::Turn& turn_;
  const ApiCall& call_;
  ServerContext& server_;
};

// One request being served, on a thread of a pool: what it may use there. Nothing of the market's
// state; for that the core was asked before.
class PoolContext {
 public:
  PoolContext(const ApiCall& call, ServerContext& server) : call_(call), server_(server) {}

  [[nodiscard]] const ApiCall& call() const { return call_; }
  [[nodiscard]] const net::Request& http() const { return call_.http; }
  // Those that may be used from any thread.
  [[nodiscard]] Services& services() { return server_.services; }
  [[nodiscard]] Prepare& prepare() { return server_.prepare; }
  [[nodiscard]] Core& core() { return server_.core; }

 private:
  const ApiCall& call_;
  ServerContext& server_;
};

}  // namespace souk::server
