#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "net/http.h"
#include "net/server.h"
#include "server/core/core.h"
#include "server/core/services.h"
#include "wire/api_json.h"
#include "wire/openapi.h"

// The table of routes: one list from which requests are served, tokens are demanded and the OpenAPI
// document is made. A route without an entry does not exist.

namespace souk::server {

using base::Result;

// Who may call: anybody, any token, any token but a machine's, an operator's token.
enum class Access { everybody, agent, user, operator_ };

// One request being served, on the core thread.
class Context {
 public:
  Context(Core::Turn& turn, const net::Request& http, const std::vector<std::string>& params,
          market::Actor actor, Services& services)
      : actor(actor), turn_(turn), http_(http), params_(params), services_(services) {}

  [[nodiscard]] const market::State& state() const { return turn_.state(); }
  [[nodiscard]] base::Time now() const { return turn_.now(); }
  [[nodiscard]] Core::Turn& turn() { return turn_; }
  [[nodiscard]] Services& services() { return services_; }
  [[nodiscard]] bool is_operator() const { return actor.scope == market::Scope::operator_; }
  Result<market::Events> execute(market::Command command) {
    return turn_.execute(actor, std::move(command));
  }

  // The i-th {parameter} of the path.
  [[nodiscard]] const std::string& param(std::size_t i = 0) const { return params_[i]; }
  // The same as an id; a text that is none gives "there is no job 'x'".
  template <class I>
  [[nodiscard]] Result<I> id(std::size_t i = 0) const {
    if (const auto id = base::IdTraits<I>::parse(param(i))) return *id;
    return no_such(base::IdTraits<I>::noun, param(i));
  }
  [[nodiscard]] std::string_view query(std::string_view name) const {
    return http_.param(name).value_or("");
  }
  [[nodiscard]] Result<std::int64_t> number(std::string_view name, std::int64_t otherwise,
                                            std::int64_t least, std::int64_t most) const;
  [[nodiscard]] bool flag(std::string_view name) const { return query(name) == "true"; }

  static base::Failure no_such(std::string_view noun, std::string_view name);

  const market::Actor actor;

 private:
  Core::Turn& turn_;
  const net::Request& http_;
  const std::vector<std::string>& params_;
  Services& services_;
};

// What is left to do on the core thread once the body has been read. Gives the body of the answer.
using Work = std::move_only_function<Result<std::string>(Context&)>;

struct Route {
  wire::Operation doc;
  Access access = Access::user;
  // Reads the body on an I/O thread. Empty for routes that App serves itself, by their id.
  std::function<Result<Work>(const net::Request&)> prepare;
  void (*describe)(wire::Schemas&, wire::Operation&) = nullptr;
};

class Routes {
 public:
  // Reads: fn(Context&) -> Result<Response struct>.
  template <class Fn>
  Route& get(std::string path, std::string id, std::string summary, Access access, Fn fn) {
    using Answer = typename std::invoke_result_t<Fn, Context&>::value_type;
    auto& route = add("GET", std::move(path), std::move(id), std::move(summary), access, 200);
    route.prepare = [fn](const net::Request&) -> Result<Work> {
      return [fn](Context& c) { return text(fn(c)); };
    };
    route.describe = &describe_answer<Answer>;
    return route;
  }

  // Changes: fn(Context&, const Body&) -> Result<Response struct>; or without a body.
  template <class Body, class Fn>
  Route& change(std::string method, std::string path, std::string id, std::string summary,
                Access access, int status, Fn fn) {
    using Answer = typename std::invoke_result_t<Fn, Context&, const Body&>::value_type;
    auto& route =
        add(std::move(method), std::move(path), std::move(id), std::move(summary), access, status);
    route.doc.idempotency_key = true;
    route.prepare = [fn](const net::Request& http) -> Result<Work> {
      SOUK_ASSIGN(auto body, wire::from_json<Body>(http.body));
      return [fn, body = std::move(body)](Context& c) { return text(fn(c, body)); };
    };
    route.describe = &describe_change<Body, Answer>;
    return route;
  }
  template <class Fn>
  Route& change(std::string method, std::string path, std::string id, std::string summary,
                Access access, Fn fn) {
    using Answer = typename std::invoke_result_t<Fn, Context&>::value_type;
    auto& route =
        add(std::move(method), std::move(path), std::move(id), std::move(summary), access, 200);
    route.doc.idempotency_key = true;
    route.prepare = [fn](const net::Request& http) -> Result<Work> {
      SOUK_TRY(no_body(http));
      return [fn](Context& c) { return text(fn(c)); };
    };
    route.describe = &describe_answer<Answer>;
    return route;
  }

  // Served by App itself: more than one step, or not JSON.
  template <class Body, class Answer>
  Route& special(std::string method, std::string path, std::string id, std::string summary,
                 Access access, int status) {
    auto& route =
        add(std::move(method), std::move(path), std::move(id), std::move(summary), access, status);
    if constexpr (std::is_void_v<Answer>) {
      route.describe = [](wire::Schemas&, wire::Operation&) {};
    } else if constexpr (std::is_void_v<Body>) {
      route.describe = &describe_answer<Answer>;
    } else {
      route.doc.idempotency_key = true;
      route.describe = &describe_change<Body, Answer>;
    }
    return route;
  }

  struct Match {
    const Route* route = nullptr;
    std::vector<std::string> params;
    std::string allowed;  // Methods of this path, when the method is wrong.
  };
  [[nodiscard]] Match find(const net::Request& http) const;
  [[nodiscard]] const std::vector<Route>& all() const { return routes_; }
  [[nodiscard]] std::string openapi() const;

 private:
  Route& add(std::string method, std::string path, std::string id, std::string summary,
             Access access, int status);
  static Result<> no_body(const net::Request& http);

  template <class T>
  static Result<std::string> text(const Result<T>& answer) {
    if (!answer) return std::unexpected(answer.error());
    return wire::to_json(*answer);
  }
  template <class Answer>
  static void describe_answer(wire::Schemas& schemas, wire::Operation& doc) {
    (void)schemas.of<Answer>();
    doc.response = wire::schema_name<Answer>();
  }
  template <class Body, class Answer>
  static void describe_change(wire::Schemas& schemas, wire::Operation& doc) {
    describe_answer<Answer>(schemas, doc);
    (void)schemas.of<Body>();
    doc.request = wire::schema_name<Body>();
  }

  std::vector<Route> routes_;
};

// Adds `limit` and `after` to a list's documented query.
Route& paged(Route& route);

// The things of `table` for which keep(thing) holds, `limit` at a time, from the one after ?after=.
// Newest first, as people look for what they just did.
template <class View, class I, class T, class Keep, class Show>
Result<wire::Page<View>> page(const Context& c, const market::Table<I, T>& table, Keep keep,
                              Show show) {
  SOUK_ASSIGN(const auto limit, c.number("limit", 50, 1, 500));
  auto at = table.next();
  if (const auto after = c.query("after"); !after.empty()) {
    const auto id = base::IdTraits<I>::parse(after);
    if (!id)
      return base::fail(base::Code::invalid, "'after' is not a cursor of this list",
                        "use the `next` of the page before", "after");
    at = *id;
  }
  wire::Page<View> out;
  for (at = table.before(at); at; at = table.before(at)) {
    const auto& item = table.at(at);
    if (!keep(item)) continue;
    if (std::ssize(out.items) == limit) {
      out.next = to_string(out.items.back().id);
      break;
    }
    out.items.push_back(show(item));
  }
  return out;
}

// The parts of the table, by subject.
void add_account_routes(Routes& routes);   // api_accounts.cc
void add_supply_routes(Routes& routes);    // api_supply.cc: classes, machines, offers
void add_job_routes(Routes& routes);       // api_jobs.cc: jobs, leases, agents
void add_file_routes(Routes& routes);      // app_files.cc: blobs, logs
void add_result_routes(Routes& routes);    // app_results.cc
void add_prepare_routes(Routes& routes);   // app_prepare.cc: job files, what to write into them
void add_training_routes(Routes& routes);  // app_training.cc
void add_market_routes(Routes& routes);    // api_market.cc: prices, ledger, operator, help
void add_lab_routes(Routes& routes);       // api_lab.cc
void add_system_routes(Routes& routes);    // system.cc: health, metrics, events, the document
[[nodiscard]] Routes all_routes();

}  // namespace souk::server
