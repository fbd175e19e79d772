#pragma once

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

struct redisContext;  // NOLINT(readability-identifier-naming): of hiredis

namespace souk::hub {

// Is all of `text` a number? Then it is in `out`.
template <class N>
[[nodiscard]] bool read_number(std::string_view text, N& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

struct RedisAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 6379;
  std::int32_t db = 0;
  std::string user = {}, password = {};
  bool eventual = false;  // ?mode=

  // "redis://127.0.0.1:6379/0": without credentials, for messages.
  [[nodiscard]] std::string name() const;
};

// redis://[USER:PASSWORD@]HOST[:PORT][/DB][?mode=strict|eventual]
[[nodiscard]] base::Result<RedisAddress> parse_redis_url(std::string_view url);

// What Redis answered. Texts, and those of its list, are seen where they arrived: they are valid as
// long as an answer or a copy of it.
struct RedisValue {
  enum class Kind { nothing, text, number, list, error } kind = Kind::nothing;
  std::string_view text = {};
  std::int64_t number = 0;
  std::vector<RedisValue> list = {};
  std::shared_ptr<void> arrived = {};  // Of an answer, not of the values in its list.
};

// One command: its words, each in one or several pieces that are sent without being copied.
class RedisCommand {
 public:
  RedisCommand(std::initializer_list<std::string_view> words);
  RedisCommand& add(std::string_view word);
  RedisCommand& add(std::int64_t number);
  // One word from pieces that outlive the command.
  RedisCommand& add_pieces(std::span<const std::string_view> pieces);

 private:
  friend class Redis;
  // Small words are copied into `framing`; pieces are seen where they lie.
  struct Segment {
    std::size_t framing_end;  // Framing up to here goes first ...
    std::string_view piece;   // ... then this.
  };
  void begin(std::size_t bytes);
  std::string framing_;
  std::vector<Segment> segments_;
  std::size_t words_ = 0;
};

// One connection to Redis, made at the first call and again after it was lost. For one thread at a
// time. A call either gives as many answers as commands or fails as a whole, and then the
// connection is closed: what was sent may have been done or not.
class Redis {
 public:
  explicit Redis(RedisAddress address, base::Duration timeout = base::seconds(30));
  ~Redis();
  Redis(const Redis&) = delete;
  Redis& operator=(const Redis&) = delete;

  // Sends all, then reads all answers. An error that Redis answers with is ours too.
  base::Result<std::vector<RedisValue>> call(std::span<const RedisCommand> commands);
  base::Result<RedisValue> call(const RedisCommand& command);
  [[nodiscard]] const RedisAddress& address() const { return address_; }

 private:
  base::Result<> connect();
  base::Result<> send(std::span<const RedisCommand> commands);
  base::Result<std::vector<RedisValue>> exchange(std::span<const RedisCommand> commands);
  base::Result<RedisValue> receive();
  base::Failure lost(std::string_view why);

  const RedisAddress address_;
  const base::Duration timeout_;
  redisContext* context_ = nullptr;
};

}  // namespace souk::hub
