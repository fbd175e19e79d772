#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cli/shell/config.h"
#include "cli/shell/error.h"
#include "net/client.h"
#include "net/sse.h"
#include "wire/json.h"

namespace souk::cli {

// The market's HTTP API as one account sees it. Every call that changes something carries a fresh
// Idempotency-Key, and is tried once more under the same key when the network fails, so it happens
// at most once. Refusals (problem+json) are errors with Exit::refused. One thread at a time.
class Api {
 public:
  static Result<Api> connect(const Target& target, base::Duration timeout = base::seconds(60));

  // The body of the answer. `path` is encoded: "/v1/jobs/j1".
  Result<std::string> get(std::string_view path);
  Result<std::string> post(std::string_view path, std::string_view body = "{}");
  Result<std::string> put(std::string_view path, std::string_view body);
  Result<std::string> patch(std::string_view path, std::string_view body);
  Result<std::string> remove(std::string_view path);

  // The server-sent events of `path` after the event `last_id` (empty: from now on), until
  // `on_event` returns false or the stream ends.
  Result<> events(std::string_view path, const std::string& last_id,
                  const std::function<bool(const net::Event&)>& on_event);

  void set_token(std::string token) { token_ = std::move(token); }
  // Ends the call under way, from any thread.
  void cancel() { client_.cancel(); }

 private:
  Api(net::Client client, const Target& target)
      : client_(std::move(client)), token_(target.token) {}
  Result<std::string> call(std::string_view method, std::string_view path, std::string_view body);
  [[nodiscard]] net::Headers headers() const;

  net::Client client_;
  std::string token_;
};

// The error that an answer with a status of 400 or more stands for.
Error refusal(const net::Response& response);

// The T in an answer of the server. Strict, as the requests are: a field that this program does not
// know may change what the others mean.
template <class T>
Result<T> parse_body(std::string_view body) {
  auto out = wire::from_json<T>(body);
  if (out) return *std::move(out);
  return std::unexpected(
      Error({base::Code::internal, "the server's answer cannot be read: " + out.error().message,
             "it may be of another version: compare `souk version` with its "
             "/healthz, or use --json"},
            Exit::refused));
}

template <class T>
Result<T> parsed(Result<std::string> body) {
  if (!body) return std::unexpected(std::move(body).error());
  return parse_body<T>(*body);
}

// "?limit=5&after=x" from pairs; those without a value are left out.
std::string query_string(const std::vector<std::pair<std::string, std::string>>& params);
// A path with one encoded segment after it: "/v1/accounts" + "a b".
std::string path_of(std::string_view prefix, std::string_view segment,
                    std::string_view suffix = {});

}  // namespace souk::cli
