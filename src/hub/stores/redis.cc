#include "hub/stores/redis.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "net/http.h"

namespace souk::hub {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::string_view kScheme = "redis://";
constexpr std::string_view kAccepted =
    "redis://[USER:PASSWORD@]HOST[:PORT][/DB][?mode=strict|eventual]";
constexpr std::size_t kPiecesPerSend = 64;
constexpr std::size_t kCopiedBelow = 512;

base::Failure bad_url(std::string_view what) {
  return fail(Code::invalid, fmt::format("the URL of a Redis store {}", what),
              std::string(kAccepted), "store");
}

Result<> read_credentials(std::string_view text, RedisAddress& out) {
  const auto colon = text.find(':');
  const auto user = net::percent_decode(text.substr(0, colon));
  const auto password =
      net::percent_decode(colon == text.npos ? std::string_view() : text.substr(colon + 1));
  if (!user || !password) return bad_url("has credentials with a broken escape");
  out.user = *user;
  out.password = *password;
  return {};
}

Result<> read_host(std::string_view text, RedisAddress& out) {
  const auto colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  if (colon != text.npos && (!bracketed || text[colon - 1] == ']')) {
    if (!read_number(text.substr(colon + 1), out.port) || out.port == 0)
      return bad_url(fmt::format("has the port '{}'", text.substr(colon + 1)));
    text = text.substr(0, colon);
  }
  if (bracketed && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  if (text.empty()) return bad_url("names no host");
  out.host = text;
  return {};
}

Result<> read_options(std::string_view text, RedisAddress& out) {
  const auto options = net::parse_query(text);
  if (!options) return bad_url("has a broken escape after its '?'");
  for (const auto& [name, value] : *options) {
    if (name != "mode") return bad_url(fmt::format("has the option '{}'", name));
    if (value != "strict" && value != "eventual")
      return bad_url(fmt::format("has the mode '{}'", value));
    out.eventual = value == "eventual";
  }
  return {};
}

RedisValue value_of(const redisReply& reply) {
  using enum RedisValue::Kind;
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      return {.kind = number, .number = reply.integer};
    case REDIS_REPLY_ARRAY: {
      RedisValue out{.kind = list};
      out.list.reserve(reply.elements);
      for (std::size_t i = 0; i < reply.elements; ++i)
        out.list.push_back(value_of(*reply.element[i]));
      return out;
    }
    case REDIS_REPLY_NIL:
      return {};
    default:
      return {.kind = reply.type == REDIS_REPLY_ERROR ? error : text,
              .text = std::string_view(reply.str, reply.len)};
  }
}

}  // namespace

std::string RedisAddress::name() const { return fmt::format("redis://{}:{}/{}", host, port, db); }

Result<RedisAddress> parse_redis_url(std::string_view url) {
  if (!url.starts_with(kScheme)) return bad_url("does not begin with redis://");
  url.remove_prefix(kScheme.size());
  RedisAddress out;
  if (const auto mark = url.find('?'); mark != url.npos) {
    SOUK_TRY(read_options(url.substr(mark + 1), out));
    url = url.substr(0, mark);
  }
  if (const auto at = url.rfind('@'); at != url.npos) {
    SOUK_TRY(read_credentials(url.substr(0, at), out));
    url.remove_prefix(at + 1);
  }
  if (const auto slash = url.find('/'); slash != url.npos) {
    const auto db = url.substr(slash + 1);
    if (!db.empty() && (!read_number(db, out.db) || out.db < 0))
      return bad_url(fmt::format("has the database '{}'", db));
    url = url.substr(0, slash);
  }
  SOUK_TRY(read_host(url, out));
  return out;
}

RedisCommand::RedisCommand(std::initializer_list<std::string_view> words) {
  for (const auto word : words) add(word);
}

void RedisCommand::begin(std::size_t bytes) {
  ++words_;
  fmt::format_to(std::back_inserter(framing_), "${}\r\n", bytes);
}

RedisCommand& RedisCommand::add(std::string_view word) {
  begin(word.size());
  framing_.append(word).append("\r\n");
  return *this;
}

RedisCommand& RedisCommand::add(std::int64_t number) { return add(std::to_string(number)); }

RedisCommand& RedisCommand::add_pieces(std::span<const std::string_view> pieces) {
  std::size_t bytes = 0;
  for (const auto piece : pieces) bytes += piece.size();
  begin(bytes);
  for (const auto piece : pieces) {
    if (piece.size() < kCopiedBelow)
      framing_ += piece;
    else
      segments_.push_back({framing_.size(), piece});
  }
  framing_ += "\r\n";
  return *this;
}

Redis::Redis(RedisAddress address, base::Duration timeout)
    : address_(std::move(address)), timeout_(timeout) {}

Redis::~Redis() {
  if (context_ != nullptr) redisFree(context_);
}

base::Failure Redis::lost(std::string_view why) {
  auto failure =
      fail(Code::unavailable, fmt::format("{} cannot be reached: {}", address_.name(), why),
           "is Redis running there, and does it let this computer in?");
  if (context_ != nullptr) redisFree(std::exchange(context_, nullptr));
  return failure;
}

Result<> Redis::connect() {
  if (context_ != nullptr) return {};
  const timeval limit{.tv_sec = timeout_.us / 1'000'000, .tv_usec = timeout_.us % 1'000'000};
  context_ = redisConnectWithTimeout(address_.host.c_str(), address_.port, limit);
  if (context_ == nullptr) return lost("out of memory");
  if (context_->err != 0) return lost(std::string(context_->errstr));
  redisSetTimeout(context_, limit);
  std::vector<RedisCommand> greetings;
  if (!address_.password.empty()) {
    RedisCommand auth{"AUTH"};
    if (!address_.user.empty()) auth.add(address_.user);
    greetings.push_back(std::move(auth.add(address_.password)));
  }
  if (address_.db != 0) greetings.push_back(std::move(RedisCommand{"SELECT"}.add(address_.db)));
  if (greetings.empty()) return {};
  SOUK_TRY(exchange(greetings));
  return {};
}

// By ourselves: hiredis copies what it sends twice, and a connection that was lost would end the
// process with SIGPIPE.
Result<> Redis::send(std::span<const RedisCommand> commands) {
  std::vector<std::string> heads;
  heads.reserve(commands.size());
  std::vector<iovec> out;
  const auto add = [&](std::string_view bytes) {
    if (!bytes.empty()) out.push_back({const_cast<char*>(bytes.data()), bytes.size()});
  };
  for (const auto& command : commands) {
    add(heads.emplace_back(fmt::format("*{}\r\n", command.words_)));
    std::size_t from = 0;
    for (const auto& part : command.segments_) {
      add(std::string_view(command.framing_).substr(from, part.framing_end - from));
      add(part.piece);
      from = part.framing_end;
    }
    add(std::string_view(command.framing_).substr(from));
  }
  for (std::size_t at = 0; at < out.size();) {
    msghdr message{};
    message.msg_iov = out.data() + at;
    message.msg_iovlen = std::min(kPiecesPerSend, out.size() - at);
    const auto sent = ::sendmsg(context_->fd, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return lost(std::strerror(errno));
    auto left = static_cast<std::size_t>(sent);
    while (at < out.size() && left >= out[at].iov_len) left -= out[at++].iov_len;
    if (left == 0) continue;
    out[at].iov_base = static_cast<char*>(out[at].iov_base) + left;
    out[at].iov_len -= left;
  }
  return {};
}

Result<RedisValue> Redis::receive() {
  void* raw = nullptr;
  if (redisGetReply(context_, &raw) != REDIS_OK) return lost(std::string(context_->errstr));
  std::shared_ptr<void> arrived(raw, freeReplyObject);
  auto out = value_of(*static_cast<const redisReply*>(raw));
  out.arrived = std::move(arrived);
  return out;
}

// Requires a connection.
Result<std::vector<RedisValue>> Redis::exchange(std::span<const RedisCommand> commands) {
  SOUK_TRY(send(commands));
  std::vector<RedisValue> out;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    SOUK_ASSIGN(auto value, receive());
    out.push_back(std::move(value));
  }
  for (const auto& value : out) {
    if (value.kind != RedisValue::Kind::error) continue;
    redisFree(std::exchange(context_, nullptr));
    return fail(Code::unavailable, fmt::format("{} refuses: {}", address_.name(), value.text),
                "check its settings and the credentials of the URL");
  }
  return out;
}

Result<std::vector<RedisValue>> Redis::call(std::span<const RedisCommand> commands) {
  SOUK_TRY(connect());
  return exchange(commands);
}

Result<RedisValue> Redis::call(const RedisCommand& command) {
  SOUK_ASSIGN(auto values, call(std::span(&command, 1)));
  return std::move(values.front());
}

}  // namespace souk::hub
