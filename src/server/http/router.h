#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "net/http.h"
#include "server/http/idempotency.h"
#include "server/http/steps.h"
#include "wire/json.h"
#include "wire/openapi.h"

// The table of routes: one list from which requests are served, tokens are demanded and the OpenAPI
// document is made. A route without an entry does not exist.

namespace souk::server {

// An answer that is text already: the JSON of a T.
template <class T>
struct JsonText {
  std::string text;
};

// How a call goes on after the core has looked at it: it waits for something, or becomes a stream.
// Runs on the core thread.
using Continuation = std::move_only_function<void(Core::Turn&, ApiCallPtr)>;

// A row says who may call and carries its handler, which is of one of four kinds:
//   - on the core (get, change): reads the state or executes commands; the answer leaves when all
//     it tells of is durable, and a repeated key gets the first one;
//   - on a pool (on_files, on_preparers): the core says who may and what it is about, then a thread
//     that may block does it, and where it has consequences the core draws them;
//   - waiting (waiting): the core looks, then the call waits or becomes a stream;
//   - on the I/O thread (on_io): at once, or in steps that the handler itself arranges (steps.h).
// A body is read on the I/O thread, whatever the kind; what is wrong with it is told to those only
// who may call at all. An answer is a struct (as JSON), JsonText, or a net::Response as it is: then
// its `doc.media` is to be set.
class Routes {
 public:
  // fn(Context&) -> Result<Answer>.
  template <class Fn>
  Route& get(std::string path, std::string id, std::string summary, Access access, Fn fn) {
    auto& route = add("GET", std::move(path), std::move(id), std::move(summary), access);
    route.serve = [fn](ServerContext& server, ApiCallPtr call) {
      auto step = core_step(read_body<void>(*call), fn);
      serve_on_core(server, std::move(call), std::move(step));
    };
    route.describe = &describe<void, AnswerOf<Fn, Context&>>;
    return route;
  }

  // fn(Context&, const Body&) -> Result<Answer>; or without a body.
  template <class Body, class Fn>
  Route& change(std::string method, std::string path, std::string id, std::string summary,
                Access access, int status, Fn fn) {
    auto& route =
        add(std::move(method), std::move(path), std::move(id), std::move(summary), access);
    route.doc.status = status;
    route.doc.idempotency_key = true;
    route.serve = [fn](ServerContext& server, ApiCallPtr call) {
      auto step = core_step(read_body<Body>(*call), fn);
      serve_on_core(server, std::move(call), std::move(step));
    };
    route.describe = &describe<Body, AnswerOf<Fn, Context&, const Body&>>;
    return route;
  }
  template <class Fn>
  Route& change(std::string method, std::string path, std::string id, std::string summary,
                Access access, Fn fn) {
    auto& route =
        add(std::move(method), std::move(path), std::move(id), std::move(summary), access);
    route.doc.idempotency_key = true;
    route.serve = [fn](ServerContext& server, ApiCallPtr call) {
      auto checked = read_body<void>(*call);
      if (auto none = no_body(call->http); !none) checked = std::unexpected(none.error());
      auto step = core_step(std::move(checked), fn);
      serve_on_core(server, std::move(call), std::move(step));
    };
    route.describe = &describe<void, AnswerOf<Fn, Context&>>;
    return route;
  }

  // look(Context&, Body) -> Result<Found> on the core, without a body look(Context&); then
  // work(PoolContext&, Found) -> Result<Answer> on a file thread. With `settle`, work gives a
  // Result<Done>, and settle(Context&, Done) -> Result<Answer> follows on the core.
  template <class Body = void, class Look, class Work, class... Settle>
  Route& on_files(std::string method, std::string path, std::string id, std::string summary,
                  Access access, Look look, Work work, Settle... settle) {
    auto& route =
        add(std::move(method), std::move(path), std::move(id), std::move(summary), access);
    fill_pool_route<Body>(
        route, [](ServerContext& s) -> Pool& { return s.files; }, look, work, settle...);
    return route;
  }
  // The same for work that takes minutes.
  template <class Body = void, class Look, class Work>
  Route& on_preparers(std::string method, std::string path, std::string id, std::string summary,
                      Access access, Look look, Work work) {
    auto& route =
        add(std::move(method), std::move(path), std::move(id), std::move(summary), access);
    fill_pool_route<Body>(route, [](ServerContext& s) -> Pool& { return s.preparers; }, look, work);
    return route;
  }

  // look(Context&) -> Result<Continuation>. `Answer`: what it comes to in the end.
  template <class Answer, class Look>
  Route& waiting(std::string path, std::string id, std::string summary, Access access, Look look) {
    auto& route = add("GET", std::move(path), std::move(id), std::move(summary), access);
    route.serve = [look](ServerContext& server, ApiCallPtr call) {
      auto checked = read_body<void>(*call);
      to_core_authorised(server, std::move(call), std::move(checked),
                         [look](Context& c, ApiCallPtr own, NoBody) {
                           Result<Continuation> next = look(c);
                           if (!next)
                             return answer_after(c.turn(), std::move(own), problem(next.error()));
                           (*next)(c.turn(), std::move(own));
                         });
    };
    route.describe = &describe<void, Answer>;
    return route;
  }

  // fn(ServerContext&, ApiCallPtr, Result<Body>), where the error is all that can be wrong with a
  // request before somebody looks at the state; without a body fn(ServerContext&, ApiCallPtr), and
  // nothing was looked at.
  template <class Body, class Answer, class Fn>
  Route& on_io(std::string method, std::string path, std::string id, std::string summary,
               Access access, Fn fn) {
    auto& route =
        add(std::move(method), std::move(path), std::move(id), std::move(summary), access);
    if constexpr (std::is_void_v<Body>) {
      route.serve = fn;
    } else {
      route.doc.idempotency_key = true;
      route.serve = [fn](ServerContext& server, ApiCallPtr call) {
        auto body = read_body<Body>(*call);
        fn(server, std::move(call), std::move(body));
      };
    }
    route.describe = &describe<Body, Answer>;
    return route;
  }

  struct Match {
    const Route* route = nullptr;
    std::vector<std::string> params;
    std::string allowed;  // Methods of this path.
  };
  [[nodiscard]] Match find(const net::Request& http) const;
  [[nodiscard]] const std::vector<Route>& all() const { return routes_; }
  [[nodiscard]] std::string openapi() const;

 private:
  struct NoBody {};
  template <class Body>
  using BodyOf = std::conditional_t<std::is_void_v<Body>, NoBody, Body>;
  template <class Fn, class... Args>
  using AnswerOf = typename std::invoke_result_t<Fn, Args...>::value_type;

  Route& add(std::string method, std::string path, std::string id, std::string summary,
             Access access);
  static Result<> no_body(const net::Request& http);

  template <class Body>
  static Result<BodyOf<Body>> read_body(const ApiCall& call) {
    BodyOf<Body> body;
    if constexpr (!std::is_void_v<Body>) {
      SOUK_ASSIGN(body, wire::from_json<Body>(call.http.body));
    }
    SOUK_TRY(check_call(call));
    return body;
  }

  // `fn` and the body that was read for it, for the core.
  template <class Body, class Fn>
  static Result<CoreStep> core_step(Result<Body> body, Fn fn) {
    if (!body) return std::unexpected(std::move(body).error());
    if constexpr (std::is_same_v<Body, NoBody>)
      return [fn](Context& c) { return text_of(fn(c)); };
    else
      return [fn, read = *std::move(body)](Context& c) { return text_of(fn(c, read)); };
  }

  template <class T>
  static Result<std::string> text_of(const Result<T>& answer) {
    if (!answer) return std::unexpected(answer.error());
    return wire::to_json(*answer);
  }
  template <class T>
  static net::Response response_of(const ApiCall& call, Result<T> answer) {
    if (!answer) return problem(answer.error());
    return encode(call.route->doc.status, *std::move(answer));
  }
  static net::Response encode(int, net::Response answer) { return answer; }
  template <class T>
  static net::Response encode(int status, JsonText<T> answer) {
    return json_response(std::move(answer.text), status);
  }
  template <class T>
  static net::Response encode(int status, const T& answer) {
    return json_response(wire::to_json(answer), status);
  }

  template <class Look, class Body>
  static auto look_at(const Look& look, Context& c, Body body) {
    if constexpr (std::is_same_v<Body, NoBody>)
      return look(c);
    else
      return look(c, std::move(body));
  }

  // The steps on the pool: work and answer, or work and let the core settle it.
  template <class Work, class Found>
  static auto pool_step(ServerContext& server, market::Actor actor, Work work, Found found) {
    return [&server, actor, work, found = std::move(found)](ApiCallPtr call) mutable {
      PoolContext context(*call, server);
      auto response =
          counted(server, actor.account, response_of(*call, work(context, std::move(found))));
      call->reply.send(std::move(response));
    };
  }
  template <class Work, class Found, class Settle>
  static auto pool_step(ServerContext& server, market::Actor actor, Work work, Found found,
                        Settle settle) {
    return [&server, actor, work, settle, found = std::move(found)](ApiCallPtr call) mutable {
      PoolContext context(*call, server);
      auto done = work(context, std::move(found));
      if (!done) return call->reply.send(problem(done.error()));
      to_core(server, std::move(call),
              [&server, actor, settle, done = *std::move(done)](Core::Turn& turn,
                                                                ApiCallPtr own) mutable {
                Context c(turn, *own, actor, server);
                const auto events = turn.state().events;
                auto response = response_of(*own, settle(c, std::move(done)));
                if (own->route->doc.idempotency_key && turn.state().events != events)
                  remember_answer(c, *own, response);
                answer_after(turn, std::move(own), std::move(response));
              });
    };
  }

  template <class Body, class Look, class Work, class... Settle>
  static void fill_pool_route(Route& route, Pool& (*pool)(ServerContext&), Look look, Work work,
                              Settle... settle) {
    using Found =
        typename decltype(look_at(look, std::declval<Context&>(), BodyOf<Body>()))::value_type;
    using Done = AnswerOf<Work, PoolContext&, Found>;
    route.doc.idempotency_key = !std::is_void_v<Body>;
    route.serve = [=](ServerContext& server, ApiCallPtr call) {
      auto body = read_body<Body>(*call);
      to_core_authorised(
          server, std::move(call), std::move(body),
          [=](Context& c, ApiCallPtr own, BodyOf<Body> read) {
            if constexpr (sizeof...(Settle) > 0)
              if (auto first = first_answer(c, *own))
                return answer_after(c.turn(), std::move(own),
                                    *first ? **std::move(first) : problem(first->error()));
            auto found = look_at(look, c, std::move(read));
            if (!found) return answer_after(c.turn(), std::move(own), problem(found.error()));
            to_pool(pool(c.server()), std::move(own),
                    pool_step(c.server(), c.actor, work, *std::move(found), settle...));
          });
    };
    if constexpr (sizeof...(Settle) == 0)
      route.describe = &describe<Body, Done>;
    else
      route.describe =
          &describe<Body, typename std::invoke_result<Settle..., Context&, Done>::type::value_type>;
  }

  template <class T>
  struct Documented {
    using Type = T;
  };
  template <class T>
  struct Documented<JsonText<T>> {
    using Type = T;
  };
  template <class Body, class Answer>
  static void describe(wire::Schemas& schemas, wire::Operation& doc) {
    if constexpr (!std::is_void_v<Answer> && !std::is_same_v<Answer, net::Response>) {
      using Type = typename Documented<Answer>::Type;
      (void)schemas.of<Type>();
      doc.response = wire::schema_name<Type>();
    }
    if constexpr (!std::is_void_v<Body>) {
      (void)schemas.of<Body>();
      doc.request = wire::schema_name<Body>();
    }
  }

  std::vector<Route> routes_;
};

// Adds `limit` and `after` to a list's documented query.
Route& paged(Route& route);

// A simple request takes about as long as a look at so many things of a list.
inline constexpr std::size_t kLooksPerRequest = 500;

// The things of `table` for which keep(thing) holds, `limit` at a time, from the one after ?after=.
// Newest first, as people look for what they just did. before(id): the next id that comes into
// question. Who looks at many things in vain is charged for it (Context::charge).
template <class View, class I, class T, class Before, class Keep, class Show>
Result<wire::Page<View>> page_of(const Context& c, const market::Table<I, T>& table, Before before,
                                 Keep keep, Show show, std::size_t each = kLooksPerRequest) {
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
  std::size_t looked_at = 0;
  for (at = before(at); at; at = before(at)) {
    ++looked_at;
    const auto& item = table.at(at);
    if (!keep(item)) continue;
    if (std::ssize(out.items) == limit) {
      out.next = to_string(out.items.back().id);
      break;
    }
    out.items.push_back(show(item));
  }
  c.charge(looked_at, each);
  return out;
}

// The same of all things of the table.
template <class View, class I, class T, class Keep, class Show>
Result<wire::Page<View>> page(const Context& c, const market::Table<I, T>& table, Keep keep,
                              Show show, std::size_t each = kLooksPerRequest) {
  return page_of<View>(c, table, [&](I id) { return table.before(id); }, keep, show, each);
}

// The same of the things that are in a list of ids, ascending.
template <class View, class I, class T, class Keep, class Show>
Result<wire::Page<View>> page(const Context& c, const market::Table<I, T>& table,
                              const std::vector<I>& ids, Keep keep, Show show) {
  const auto before = [&](I id) {
    const auto it = std::ranges::lower_bound(ids, id);
    return it == ids.begin() ? I{} : *std::prev(it);
  };
  return page_of<View>(c, table, before, keep, show);
}

// The rows by subject, each in the file of that name in server/routes.
void add_system_routes(Routes& routes);  // Health, the document itself.
void add_lend_routes(Routes& routes);    // A bundle of souk, and the script that installs it.
void add_metrics_routes(Routes& routes);
void add_event_routes(Routes& routes);    // What happens, as it happens.
void add_session_routes(Routes& routes);  // Signing up, logging in and out, passwords.
void add_account_routes(Routes& routes);  // Accounts and tokens.
void add_budget_routes(Routes& routes);
void add_supply_routes(Routes& routes);   // Classes, machines, offers.
void add_job_routes(Routes& routes);      // Jobs, leases.
void add_usage_routes(Routes& routes);    // What leases used, what forecasts came to.
void add_agent_routes(Routes& routes);    // What a machine's agent waits for and proves.
void add_file_routes(Routes& routes);     // Blobs, logs.
void add_sharing_routes(Routes& routes);  // Blobs from machine to machine.
void add_network_routes(Routes& routes);  // Of gangs.
void add_service_routes(Routes& routes);  // Programs behind ports.
void add_volume_routes(Routes& routes);
void add_result_routes(Routes& routes);
void add_prepare_routes(Routes& routes);  // Job files, what to write into them.
void add_training_routes(Routes& routes);
void add_market_routes(Routes& routes);  // Prices, ledger, operator, help.
void add_credit_request_routes(Routes& routes);
void add_earnings_routes(Routes& routes);
void add_lab_routes(Routes& routes);
[[nodiscard]] Routes all_routes();

}  // namespace souk::server
