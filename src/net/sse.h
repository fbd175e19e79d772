#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

// Server-sent events (WHATWG HTML, section 9.2): text frames in an endless response.

namespace souk::net {

inline constexpr std::string_view kEventStream = "text/event-stream";

struct Event {
  std::string id = {};     // Sent back by a client that reconnects, as Last-Event-ID.
  std::string event = {};  // Kind; empty means "message".
  std::string data = {};   // May contain newlines.

  bool operator==(const Event&) const = default;
};

// One frame. Line breaks inside `id` and `event` cannot be expressed and become spaces; those in
// `data` (\n, \r\n, \r) all arrive as \n.
std::string format_event(const Event& event);
// A frame that clients ignore: keeps proxies and timeouts from closing a quiet stream.
std::string format_comment(std::string_view text);

// The receiving side: feed it pieces as they arrive, cut anywhere. An event's id is the last one
// seen, as the standard says. Not thread-safe.
class EventParser {
 public:
  // An event that needs more than `max_event_bytes` is an error, after which the parser is done.
  explicit EventParser(std::size_t max_event_bytes = 1024 * 1024) : max_bytes_(max_event_bytes) {}

  // Calls `on_event` for each event that `bytes` completes. Once that returns false, so does feed,
  // and the rest of `bytes` is dropped.
  base::Result<bool> feed(std::string_view bytes,
                          const std::function<bool(const Event&)>& on_event);

  const std::string& last_id() const { return id_; }

 private:
  bool end_line(const std::function<bool(const Event&)>& on_event);
  void field(std::string_view name, std::string_view value);

  std::size_t max_bytes_;
  std::string line_;
  std::string id_;
  std::string event_;
  std::string data_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool first_line_ = true;
};

}  // namespace souk::net
