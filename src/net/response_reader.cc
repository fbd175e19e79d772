#include "net/response_reader.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace souk::net {
namespace {

constexpr std::size_t kMostLine = 4 * 1024;

std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

bool is_name(std::string_view text) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](unsigned char c) {
    return std::isalnum(c) != 0 || marks.contains(static_cast<char>(c));
  });
}

}  // namespace

std::optional<std::uint64_t> ResponseReader::length() const {
  return number(head_.header("Content-Length"), 10);
}

std::size_t ResponseReader::feed(std::string_view data) {
  std::size_t taken = 0;
  while (taken < data.size() && !done() && !failed()) {
    const auto rest = data.substr(taken);
    switch (state_) {
      case State::head:
        taken += feed_head(rest);
        break;
      case State::length:
      case State::chunk: {
        const auto n = std::min<std::uint64_t>(left_, rest.size());
        body_.append(rest, 0, n);
        taken += n;
        left_ -= n;
        if (left_ == 0) state_ = state_ == State::length ? State::done : State::chunk_end;
        break;
      }
      case State::until_close:
        body_ += rest;
        taken += rest.size();
        break;
      case State::chunk_size:
        taken += feed_line(rest, &ResponseReader::use_chunk_size);
        break;
      case State::chunk_end:
        taken += feed_line(rest, &ResponseReader::use_chunk_end);
        break;
      case State::trailers:
        taken += feed_line(rest, &ResponseReader::use_trailer);
        break;
      case State::done:
      case State::failed:
        break;
    }
  }
  return taken;
}

void ResponseReader::closed() {
  keeps_alive_ = false;
  if (state_ == State::until_close)
    state_ = State::done;
  else if (state_ != State::done)
    state_ = State::failed;
}

std::size_t ResponseReader::feed_head(std::string_view data) {
  const auto before = text_.size();
  text_.append(data, 0, kMostHead + 1 - std::min(before, kMostHead));
  const auto end = text_.find("\r\n\r\n", before < 3 ? 0 : before - 3);
  if (end == text_.npos) {
    const auto taken = text_.size() - before;
    if (text_.size() > kMostHead) state_ = State::failed;
    return taken;
  }
  const auto taken = end + 4 - before;
  const auto text = text_.substr(0, end);
  text_.clear();
  if (!parse_head(text) || !choose_body()) state_ = State::failed;
  return taken;
}

bool ResponseReader::parse_head(std::string_view text) {
  head_ = {};
  head_.content_type.clear();
  bool first = true;
  bool old = false;
  for (auto line : base::split(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (first) {
      old = line.starts_with("HTTP/1.0 ");
      const auto status = line.size() >= 12 && (old || line.starts_with("HTTP/1.1 "))
                              ? number(line.substr(9, 3), 10)
                              : std::nullopt;
      if (!status || *status < 100 || (line.size() > 12 && line[12] != ' ')) return false;
      head_.status = static_cast<int>(*status);
      first = false;
      continue;
    }
    const auto colon = line.find(':');
    if (colon == line.npos || !is_name(line.substr(0, colon)) || line.contains('\0')) return false;
    head_.headers.emplace_back(line.substr(0, colon), base::trim(line.substr(colon + 1)));
  }
  if (first) return false;
  head_.content_type = head_.header("Content-Type");
  const auto connection = head_.header("Connection");
  keeps_alive_ = old ? equal_ignoring_case(connection, "keep-alive")
                     : !equal_ignoring_case(connection, "close");
  return true;
}

// How the body ends; a head that says it twice differently is no head.
bool ResponseReader::choose_body() {
  if (head_.status / 100 == 1) {  // Another head follows. We never ask to leave HTTP.
    if (head_.status == 101) return false;
    state_ = State::head;
    return true;
  }
  std::size_t lengths = 0;
  for (const auto& [name, value] : head_.headers)
    lengths += equal_ignoring_case(name, "Content-Length");
  const auto encoding = head_.header("Transfer-Encoding");
  chunked_ = !encoding.empty();
  if (chunked_ && (!equal_ignoring_case(encoding, "chunked") || lengths > 0)) return false;
  if (lengths > 1 || (lengths == 1 && !length())) return false;
  if (head_only_ || head_.status == 204 || head_.status == 304) {
    state_ = State::done;
  } else if (chunked_) {
    state_ = State::chunk_size;
  } else if (lengths == 1) {
    left_ = *length();
    state_ = left_ == 0 ? State::done : State::length;
  } else {
    keeps_alive_ = false;
    state_ = State::until_close;
  }
  return true;
}

std::size_t ResponseReader::feed_line(std::string_view data,
                                      bool (ResponseReader::*use)(std::string_view)) {
  const auto end = data.find('\n');
  const auto piece = data.substr(0, end == data.npos ? data.npos : end + 1);
  text_ += piece;
  if (text_.size() > kMostLine) {
    state_ = State::failed;
  } else if (end != data.npos) {
    const auto line = std::exchange(text_, {});
    if (!line.ends_with("\r\n") || !(this->*use)(std::string_view(line).substr(0, line.size() - 2)))
      state_ = State::failed;
  }
  return piece.size();
}

bool ResponseReader::use_chunk_size(std::string_view line) {
  const auto size = number(line.substr(0, line.find(';')), 16);
  if (!size || line.starts_with('+') || line.starts_with('-')) return false;
  left_ = *size;
  state_ = left_ == 0 ? State::trailers : State::chunk;
  return true;
}

bool ResponseReader::use_chunk_end(std::string_view line) {
  state_ = State::chunk_size;
  return line.empty();
}

bool ResponseReader::use_trailer(std::string_view line) {
  if (line.empty()) state_ = State::done;
  return true;
}

}  // namespace souk::net
