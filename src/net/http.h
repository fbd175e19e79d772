#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffers.h"

// The nouns of HTTP as plain values, shared by the server and the client. They own their bytes and
// may be moved between threads freely.

namespace souk::net {

// In the order received or to be sent. Names compare without regard to case.
using Headers = std::vector<std::pair<std::string, std::string>>;

// The first value under `name`, or "" when there is none.
std::string_view find_header(const Headers& headers, std::string_view name);

struct Peer {
  std::string address;     // "127.0.0.1", "2001:db8::1"; never a name. See address_key().
  bool loopback = false;   // The connection came from this computer.
  std::uint16_t port = 0;  // 0: it is not known, because a proxy passed the request on.
};

// Bytes that others may have as well; they lie still as long as `keeper` lives.
struct SharedBytes {
  std::string_view bytes;
  std::shared_ptr<const void> keeper;
};

struct Request {
  std::string method;  // As sent: methods are case-sensitive.
  std::string target;  // As sent: path and query, still encoded.
  std::string path;    // As sent, without the query. Split on '/' first, then percent_decode.
  std::vector<std::pair<std::string, std::string>> query;  // Decoded, in order, repeats kept.
  Headers headers;
  std::string body;
  std::shared_ptr<base::Buffer> large = {};  // The body instead, where BodyDecision said so.
  Peer peer;
  std::shared_ptr<void> held = {};  // What whoever admitted the body wants held while it is here.

  // The body, wherever it lies. Valid while this request lives.
  std::string_view content() const {
    return large ? std::string_view(large->data(), large->size()) : std::string_view(body);
  }
  // Valid while this request lives and its headers do not change.
  std::string_view header(std::string_view name) const { return find_header(headers, name); }
  // The first decoded value of a query parameter, or nothing.
  std::optional<std::string_view> param(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";  // Not sent when empty, nor with 204 and 304.
  Headers headers = {};  // Besides Content-Type, Content-Length, Connection, Transfer-Encoding.
  std::string body = {};
  std::vector<SharedBytes> shared = {};  // Follow the body, and are sent from where they lie.
  std::shared_ptr<void> held = {};       // Goes when the answer has left, or cannot any more.

  std::string_view header(std::string_view name) const { return find_header(headers, name); }
};

// An answer of this status ends with its head.
constexpr bool has_no_body(int status) {
  return status / 100 == 1 || status == 204 || status == 304;
}

// "Not Found" for 404; "" for a status without a well-known phrase.
std::string_view reason_phrase(int status);

// Encodes everything except letters, digits and -._~ so that the result is one path segment or one
// query value.
std::string percent_encode(std::string_view text);
// Nothing for a broken escape such as "%4". '+' stays '+'.
std::optional<std::string> percent_decode(std::string_view text);
// "a=1&b=x+y" -> {{a,1},{b,"x y"}}; nothing for a broken escape.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view text);

// ASCII only, as HTTP names are.
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace souk::net
