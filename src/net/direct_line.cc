#include "net/direct_line.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace souk::net {
namespace {

using base::Code;
using base::Result;

constexpr std::size_t kMostLineHead = 64 * 1024;
constexpr int kGlanceMs = 200;  // How often it is asked whether the call was cancelled.
constexpr std::size_t kLineLowWater = 128 * 1024;

}  // namespace

static_assert(CURL_ERROR_SIZE <= 256);

DirectLine::DirectLine(const ClientOptions& options, const std::atomic<bool>& cancelled)
    : options_(options), cancelled_(cancelled), curl_(curl_easy_init()) {
  CHECK(curl_ != nullptr);
}
DirectLine::~DirectLine() { curl_easy_cleanup(curl_); }

void DirectLine::disconnect() {
  if (std::exchange(socket_, -1) < 0) return;
  curl_easy_cleanup(curl_);  // Closes it.
  curl_ = curl_easy_init();
  CHECK(curl_ != nullptr);
}

base::Failure DirectLine::lost(std::string_view why, int code) {
  const bool was_cancelled = cancelled_;
  disconnect();
  if (was_cancelled) return base::fail(Code::unavailable, "cancelled: " + options_.base_url);
  return base::fail(Code::unavailable, fmt::format("cannot reach {}: {}", options_.base_url, why),
                    hint_for(code, !options_.pinned_sha256.empty()));
}

Result<> DirectLine::connect() {
  if (socket_ >= 0) return {};
  curl_easy_reset(curl_);
  detail_[0] = '\0';
  set_up(curl_, options_, detail_.data(), cancelled_);
  curl_easy_setopt(curl_, CURLOPT_URL, options_.base_url.c_str());
  curl_easy_setopt(curl_, CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(curl_, CURLOPT_HTTPPROXYTUNNEL, 1L);
  const CURLcode code = curl_easy_perform(curl_);
  ERR_clear_error();
  curl_socket_t socket = CURL_SOCKET_BAD;
  if (code == CURLE_OK) curl_easy_getinfo(curl_, CURLINFO_ACTIVESOCKET, &socket);
  if (socket == CURL_SOCKET_BAD)
    return lost(detail_[0] != '\0' ? detail_.data() : curl_easy_strerror(code), code);
  socket_ = socket;
  // Waiting inside the calls themselves takes a third as many of them; a wait is short, so that a
  // deadline or cancel() is noticed.
  const timeval glance{.tv_sec = 0, .tv_usec = kGlanceMs * 1000};
  ::fcntl(socket_, F_SETFL, ::fcntl(socket_, F_GETFL) & ~O_NONBLOCK);
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &glance, sizeof glance);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &glance, sizeof glance);
  low_water_ = 1;
  return {};
}

// Of a large body we are woken for more than a packet.
void DirectLine::expect(std::size_t bytes) {
  const int wanted = static_cast<int>(std::clamp<std::size_t>(bytes, 1, kLineLowWater));
  if (std::exchange(low_water_, wanted) != wanted)
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof wanted);
}

// After a call that waited in vain.
Result<> DirectLine::still_waits() {
  if (Clock::now() >= deadline_) return lost("timed out", CURLE_OPERATION_TIMEDOUT);
  if (cancelled_) return lost("cancelled");
  return {};
}

Result<> DirectLine::write(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t sent = 0;
    const CURLcode code = curl_easy_send(curl_, bytes.data(), bytes.size(), &sent);
    if (code != CURLE_OK && code != CURLE_AGAIN) return lost(curl_easy_strerror(code), code);
    bytes.remove_prefix(sent);
    if (sent == 0 || cancelled_) SOUK_TRY(still_waits());
  }
  return {};
}

Result<std::size_t> DirectLine::read(char* to, std::size_t room) {
  while (true) {
    std::size_t got = 0;
    const CURLcode code = curl_easy_recv(curl_, to, room, &got);
    if (code == CURLE_OK && got > 0) return got;
    if (code == CURLE_OK) return lost("the connection was closed");
    if (code != CURLE_AGAIN) return lost(curl_easy_strerror(code), code);
    SOUK_TRY(still_waits());
  }
}

// The status and headers of the answer; `rest` is what came with them.
Result<Response> DirectLine::read_head(std::string& rest) {
  std::string text;
  std::size_t end = std::string::npos;
  std::array<char, 16 * 1024> piece;
  while ((end = text.find("\r\n\r\n")) == std::string::npos) {
    if (text.size() > kMostLineHead) return lost("its answer begins with too many headers");
    SOUK_ASSIGN(const auto got, read(piece.data(), piece.size()));
    answered_ = true;
    text.append(piece.data(), got);
  }
  rest = text.substr(end + 4);
  Response out;
  out.content_type.clear();
  bool first = true;
  for (auto line : base::split(std::string_view(text).substr(0, end), '\n')) {
    line = base::trim(line);
    const auto colon = line.find(':');
    if (first) {
      const bool known = line.starts_with("HTTP/1.1 ") && line.size() >= 12;
      const auto status = known ? line.substr(9, 3) : std::string_view();
      if (!known ||
          std::from_chars(status.data(), status.data() + 3, out.status).ptr != status.data() + 3)
        return lost("it does not answer in HTTP/1.1");
    } else if (colon != line.npos) {
      out.headers.emplace_back(line.substr(0, colon), base::trim(line.substr(colon + 1)));
    }
    first = false;
  }
  out.content_type = out.header("Content-Type");
  return out;
}

Result<Response> DirectLine::exchange(std::string_view head, std::string_view body, bool wants_body,
                                      std::string& memory) {
  SOUK_TRY(write(head));
  SOUK_TRY(write(body));
  std::string rest;
  SOUK_ASSIGN(auto out, read_head(rest));
  while (out.status / 100 == 1) {
    if (!rest.empty()) return lost("it does not answer in HTTP/1.1");
    SOUK_ASSIGN(out, read_head(rest));
  }
  std::size_t length = 0;
  if (wants_body && !has_no_body(out.status)) {
    const auto text = out.header("Content-Length");
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
      return lost("its answer does not say how long it is");
  }
  if (length > options_.max_response_bytes) {
    disconnect();
    return base::fail(Code::too_large,
                      fmt::format("the answer of {} is larger than {} bytes", options_.base_url,
                                  options_.max_response_bytes),
                      "ask for less at once");
  }
  if (rest.size() > length) return lost("more follows its answer than it says");
  memory.resize_and_overwrite(length, [=](char*, std::size_t) { return length; });
  std::memcpy(memory.data(), rest.data(), rest.size());
  for (auto at = rest.size(); at < length;) {
    expect(length - at);
    SOUK_ASSIGN(const auto got, read(memory.data() + at, length - at));
    at += got;
  }
  expect(1);
  out.body = std::move(memory);
  if (equal_ignoring_case(out.header("Connection"), "close")) disconnect();
  return out;
}

Result<Response> DirectLine::send(std::string_view method, std::string_view path,
                                  const Headers& headers, std::string_view body,
                                  std::string memory) {
  deadline_ = Clock::now() + std::chrono::microseconds(options_.total_timeout.us);
  const auto& url = options_.base_url;
  const auto host = std::string_view(url).substr(url.find("://") + 3);
  std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: {}\r\n", method, path,
                                 host.substr(0, host.find('/')), options_.user_agent);
  for (const auto& [name, value] : headers) head += fmt::format("{}: {}\r\n", name, value);
  if (!body.empty() || method != "GET") head += fmt::format("Content-Length: {}\r\n", body.size());
  head += "\r\n";
  for (bool again = socket_ >= 0;; again = false) {
    SOUK_TRY(connect());
    answered_ = false;
    auto out = exchange(head, body, method != "HEAD", memory);
    // The server may have closed a connection that was idle: then it has not seen the request.
    if (out || !again || answered_ || cancelled_ || Clock::now() >= deadline_) return out;
  }
}

}  // namespace souk::net
