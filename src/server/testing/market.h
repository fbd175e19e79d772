#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/json/value.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "journal/testing/samples.h"
#include "net/client.h"
#include "net/testing/raw_socket.h"
#include "server/core/server.h"
#include "wire/json.h"

// A real server on a free port of this computer, and people who talk to it over HTTP.

namespace souk::server::testing {

using journal::testing::Folder;
using net::testing::eventually;

inline constexpr std::string_view kPassword = "correct horse battery";

inline constexpr base::AccountId kAnn(1), kBob(2);  // Where accounts need not exist.

// New for each change of the whole test program, so also after a restart of the server.
inline std::string new_key() {
  static std::atomic<int> last = 0;
  return fmt::format("key-{}", ++last);
}

struct Answer {
  int status = 0;
  std::string type;
  std::string body;
  net::Headers headers;

  [[nodiscard]] bool ok() const { return status >= 200 && status < 300; }
  [[nodiscard]] boost::json::value json() const {
    auto parsed = wire::parse(body);
    EXPECT_TRUE(parsed) << body;
    return parsed ? *std::move(parsed) : boost::json::value();
  }
  // The value at a path such as "items.0.state" as text; "" when there is none.
  [[nodiscard]] std::string at(std::string_view path) const {
    const auto whole = json();
    const auto* value = &whole;
    for (const auto step : base::split(path, '.')) {
      if (const auto* object = value->if_object())
        value = object->if_contains(step);
      else if (const auto* list = value->if_array())
        value = list->if_contains(std::stoul(std::string(step)));
      else
        value = nullptr;
      if (value == nullptr) return "";
    }
    if (const auto* text = value->if_string()) return {text->data(), text->size()};
    std::string out;
    wire::write_value(out, *value);
    return out;
  }
  [[nodiscard]] std::size_t count(std::string_view list = "items") const {
    const auto whole = json();
    const auto* found = whole.is_object() ? whole.get_object().if_contains(list) : nullptr;
    return found != nullptr && found->is_array() ? found->get_array().size() : 0;
  }
};

inline std::ostream& operator<<(std::ostream& out, const Answer& a) {
  return out << a.status << ' ' << a.body;
}

inline Answer answer_of(const net::Response& r) {
  return {r.status, r.content_type, r.body, r.headers};
}

// One caller's connection. Every refusal must be a problem document that repeats its status.
class Caller {
 public:
  explicit Caller(const std::string& url, const std::string& pin = "") : client_(make(url, pin)) {}

  // A change gets a key of its own unless `headers` has one.
  Answer call(std::string_view method, const std::string& path, const std::string& token = "",
              std::string_view body = "", net::Headers headers = {}) {
    if (method != "GET" && net::find_header(headers, "Idempotency-Key").empty())
      headers.emplace_back("Idempotency-Key", new_key());
    return send(method, path, token, body, std::move(headers));
  }

  // Exactly these headers.
  Answer send(std::string_view method, const std::string& path, const std::string& token = "",
              std::string_view body = "", net::Headers headers = {}) {
    if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
    const auto response = client_.send(method, path, headers, body);
    EXPECT_TRUE(response) << method << ' ' << path << ": "
                          << (response ? "" : response.error().message);
    if (!response) return {};
    auto out = answer_of(*response);
    if (out.status >= 400) {
      EXPECT_EQ(out.type, "application/problem+json") << path;
      EXPECT_EQ(out.at("status"), std::to_string(out.status)) << out;
      EXPECT_NE(out.at("code"), "") << out;
    }
    return out;
  }

  net::Client& http() { return client_; }

 private:
  static net::Client make(const std::string& url, const std::string& pin) {
    auto made = net::Client::make({.base_url = url, .pinned_sha256 = pin});
    CHECK(made.has_value());
    return *std::move(made);
  }
  net::Client client_;
};

struct Person {
  std::string name, id, token, token_id;
};

// Its machines exist on paper only, so they are not asked to prove anything.
inline Options in_memory() {
  Options out{.port = 0,
              .journal = "memory:",
              .threads = 1,
              .round = base::milliseconds(50),
              .requests_per_second = 0};
  out.challenge_every = {};
  return out;
}

inline Options in_folder(const std::string& data) {
  auto out = in_memory();
  out.journal = {};
  out.data = data;
  return out;
}

// People at a market, and one call for each thing that they often do.
class People {
 public:
  explicit People(std::string url, std::string pin = "")
      : url_(std::move(url)), pin_(std::move(pin)), caller_(std::make_unique<Caller>(url_, pin_)) {}

  [[nodiscard]] Caller another() const { return Caller(url_, pin_); }
  Answer call(std::string_view method, const std::string& path, const std::string& token = "",
              std::string_view body = "", net::Headers headers = {}) {
    return caller_->call(method, path, token, body, std::move(headers));
  }
  Answer get(const std::string& path, const std::string& token = "") {
    return call("GET", path, token);
  }
  // As call(), and it must succeed.
  Answer must(std::string_view method, const std::string& path, const std::string& token = "",
              std::string_view body = "", net::Headers headers = {}) {
    auto out = call(method, path, token, body, std::move(headers));
    EXPECT_TRUE(out.ok()) << method << ' ' << path << ": " << out;
    return out;
  }
  Caller& caller() { return *caller_; }

  static std::string sign_up_body(std::string_view name) {
    return fmt::format(R"({{"name":"{}","password":"{}"}})", name, kPassword);
  }
  Person sign_up(const std::string& name, const std::string& token = "") {
    const auto a = must("POST", "/v1/accounts", token, sign_up_body(name));
    return {name, a.at("account.id"), a.at("token"), a.at("token_id")};
  }
  Person log_in(const std::string& name, std::string_view more = "") {
    const auto a = must("POST", "/v1/login", "",
                        fmt::format(R"({{"name":"{}","password":"{}"{}}})", name, kPassword, more));
    return {name, a.at("account.id"), a.at("token"), a.at("token_id")};
  }
  void grant(const Person& boss, const Person& to, std::string_view amount) {
    must("POST", "/v1/accounts/" + to.name + "/grant", boss.token,
         fmt::format(R"({{"amount":{}}})", amount));
  }
  // A machine that is heard: its agent has just reported.
  std::string machine(const Person& owner, std::string_view name = "box") {
    auto id = must("POST", "/v1/machines", owner.token,
                   fmt::format(R"({{"name":"{}","spec":{{"cores":8,"memory_mib":65536}}}})", name))
                  .at("id");
    must("POST", "/v1/machines/" + id + "/heartbeat", owner.token, R"({"leases":[]})");
    return id;
  }
  std::string machine_token(const Person& owner, const std::string& machine) {
    return must("POST", "/v1/tokens", owner.token,
                fmt::format(R"({{"scope":"machine","machine":"{}"}})", machine))
        .at("token");
  }
  std::string offer(const std::string& token, const std::string& machine, int slots = 2,
                    std::string_view more = R"(,"price":0.5)") {
    return must(
               "POST", "/v1/offers", token,
               fmt::format(R"({{"machine":"{}","class":"c1","slots":{}{}}})", machine, slots, more))
        .at("id");
  }
  std::string job(const Person& owner, std::string_view more = "") {
    return must("POST", "/v1/jobs", owner.token,
                fmt::format(R"({{"class":"c1","limit":1,"budget":10{}}})", more))
        .at("id");
  }
  // Waits for a lease of the machine as its agent does. Empty leases after the wait: none came.
  Answer work(const std::string& token, const std::string& machine) {
    const auto now = get("/v1/machines/" + machine + "/work", token);
    if (now.count("leases") > 0) return now;
    return get("/v1/machines/" + machine + "/work?wait=20s&seen=" + now.at("version"), token);
  }

 private:
  const std::string url_, pin_;
  const std::unique_ptr<Caller> caller_;
};

struct StartedServer {
  explicit StartedServer(const Options& options) : server_(start(options)) {}
  static std::unique_ptr<Server> start(const Options& options) {
    auto started = Server::start(options);
    CHECK(started.has_value());
    return *std::move(started);
  }
  Server& server() { return *server_; }

 protected:
  std::unique_ptr<Server> server_;
};

// A market with people. The first to sign up is its operator (the boss).
class Market : public StartedServer, public People {
 public:
  explicit Market(const Options& options = in_memory())
      : StartedServer(options), People(server_->url(), server_->fingerprint()) {}
};

// The usual cast, with a machine on offer and credits to spend.
struct Cast {
  explicit Cast(People& people) {
    boss = people.sign_up("boss");
    lender = people.sign_up("lena");
    borrower = people.sign_up("bob");
    people.grant(boss, borrower, "100");
    box = people.machine(lender);
    agent = people.machine_token(lender, box);
  }
  Person boss, lender, borrower;
  std::string box, agent;  // The lender's machine, and its token.
};

struct Fair : Market, Cast {
  explicit Fair(const Options& options = in_memory())
      : Market(options), Cast(static_cast<People&>(*this)) {}
};

}  // namespace souk::server::testing
