#include "net/sse.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace souk::net {
namespace {

std::string one_line(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(out, [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  return out;
}

}  // namespace

std::string format_event(const Event& event) {
  std::string out;
  out.reserve(event.data.size() + event.id.size() + event.event.size() + 32);
  if (!event.id.empty()) out += "id: " + one_line(event.id) + "\n";
  if (!event.event.empty()) out += "event: " + one_line(event.event) + "\n";
  out += "data: ";
  for (std::size_t i = 0; i < event.data.size(); ++i) {
    const char c = event.data[i];
    if (c == '\r' && i + 1 < event.data.size() && event.data[i + 1] == '\n') continue;
    if (c == '\n' || c == '\r')
      out += "\ndata: ";
    else
      out += c;
  }
  out += "\n\n";
  return out;
}

std::string format_comment(std::string_view text) { return ": " + one_line(text) + "\n\n"; }

base::Result<bool> EventParser::feed(std::string_view bytes,
                                     const std::function<bool(const Event&)>& on_event) {
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') bytes.remove_prefix(1);
    const auto end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    line_ += bytes.substr(0, end);
    if (line_.size() + data_.size() > max_bytes_)
      return base::fail(base::Code::too_large,
                        fmt::format("a server-sent event is larger than {} bytes", max_bytes_),
                        "is this URL an event stream?");
    if (end == bytes.size()) return true;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (!end_line(on_event)) return false;
  }
  return true;
}

bool EventParser::end_line(const std::function<bool(const Event&)>& on_event) {
  std::string line = std::exchange(line_, {});
  if (std::exchange(first_line_, false) && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  if (!line.empty()) {
    const auto colon = line.find(':');
    if (colon == 0) return true;  // A comment.
    auto value = colon == line.npos ? std::string_view() : std::string_view(line).substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    field(std::string_view(line).substr(0, colon), value);
    return true;
  }
  const Event event{id_, std::exchange(event_, {}), std::exchange(data_, {})};
  return !std::exchange(has_data_, false) || on_event(event);
}

void EventParser::field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (std::exchange(has_data_, true)) data_ += '\n';
    data_ += value;
  } else if (name == "event") {
    event_ = value;
  } else if (name == "id" && value.find('\0') == value.npos) {
    id_ = value;
  }
}

}  // namespace souk::net
