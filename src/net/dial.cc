#include "net/dial.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstring>

#include "base/check.h"
#include "base/text.h"
#include "net/direct_line.h"

namespace souk::net {
namespace {

using base::Code;
using base::Result;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostHead = 16 * 1024;
constexpr std::size_t kMostBody = 64 * 1024;

// A connection that libcurl made: names, proxies and certificates are its business.
class CurlLine final : public Line {
 public:
  explicit CurlLine(const ClientOptions& options) : options_(options), curl_(curl_easy_init()) {
    CHECK(curl_ != nullptr);
  }
  ~CurlLine() override { curl_easy_cleanup(curl_); }
  CurlLine(const CurlLine&) = delete;
  CurlLine& operator=(const CurlLine&) = delete;

  Result<> connect() {
    set_up(curl_, options_, detail_.data(), never_);
    curl_easy_setopt(curl_, CURLOPT_URL, options_.base_url.c_str());
    curl_easy_setopt(curl_, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(curl_, CURLOPT_HTTPPROXYTUNNEL, 1L);
    const CURLcode code = curl_easy_perform(curl_);
    ERR_clear_error();
    curl_socket_t socket = CURL_SOCKET_BAD;
    if (code == CURLE_OK) curl_easy_getinfo(curl_, CURLINFO_ACTIVESOCKET, &socket);
    if (socket == CURL_SOCKET_BAD)
      return base::fail(Code::unavailable,
                        fmt::format("cannot reach {}: {}", options_.base_url,
                                    detail_[0] != '\0' ? detail_.data() : curl_easy_strerror(code)),
                        hint_for(code, !options_.pinned_sha256.empty()));
    socket_ = socket;
    ::fcntl(socket_, F_SETFL, ::fcntl(socket_, F_GETFL) | O_NONBLOCK);
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    encrypted_ = options_.base_url.starts_with("https://");
    return {};
  }

  void put_back(std::string bytes) { unread_ = std::move(bytes); }

  int fd() const override { return socket_; }
  bool plain() const override { return !encrypted_ && unread_.empty(); }

  Io read(std::span<char> into) override {
    if (!unread_.empty()) {
      const auto n = std::min(into.size(), unread_.size());
      std::memcpy(into.data(), unread_.data(), n);
      unread_.erase(0, n);
      return {Outcome::done, n};
    }
    if (!encrypted_) {
      const auto n = ::recv(socket_, into.data(), into.size(), 0);
      if (n > 0) return {Outcome::done, static_cast<std::size_t>(n)};
      return {n < 0 && (errno == EAGAIN || errno == EINTR) ? Outcome::want_read : Outcome::closed};
    }
    std::size_t got = 0;
    const CURLcode code = curl_easy_recv(curl_, into.data(), into.size(), &got);
    ERR_clear_error();
    if (code == CURLE_OK && got > 0) return {Outcome::done, got};
    return {code == CURLE_AGAIN ? Outcome::want_read : Outcome::closed};
  }

  Io write(std::span<const iovec> from) override {
    if (!encrypted_) {
      msghdr message{};
      message.msg_iov = const_cast<iovec*>(from.data());
      message.msg_iovlen = from.size();
      const auto n = ::sendmsg(socket_, &message, MSG_NOSIGNAL);
      if (n > 0) return {Outcome::done, static_cast<std::size_t>(n)};
      return {n < 0 && (errno == EAGAIN || errno == EINTR) ? Outcome::want_write : Outcome::closed};
    }
    const auto piece = std::ranges::find_if(from, [](const iovec& v) { return v.iov_len > 0; });
    if (piece == from.end()) return {Outcome::done, 0};
    std::size_t sent = 0;
    const CURLcode code = curl_easy_send(curl_, piece->iov_base, piece->iov_len, &sent);
    ERR_clear_error();
    if (code == CURLE_OK && sent > 0) return {Outcome::done, sent};
    return {code == CURLE_AGAIN || code == CURLE_OK ? Outcome::want_write : Outcome::closed};
  }

  void finish() override { ::shutdown(socket_, SHUT_WR); }

 private:
  const ClientOptions options_;
  std::atomic<bool> never_ = false;
  CURL* curl_;
  int socket_ = -1;
  bool encrypted_ = false;
  std::string unread_;
  std::array<char, 256> detail_{};  // CURL_ERROR_SIZE
};

// Waits until the line can go on; false: not before `deadline`.
bool await(const Line& line, short events, Clock::time_point deadline) {
  pollfd event{line.fd(), events, 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 && ::poll(&event, 1, static_cast<int>(left)) > 0;
}

base::Failure silent(const ClientOptions& options) {
  return base::fail(Code::unavailable, fmt::format("{} does not answer", options.base_url),
                    "try again");
}

Result<> write_all(Line& line, std::string_view bytes, const ClientOptions& options,
                   Clock::time_point deadline) {
  while (!bytes.empty()) {
    const iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
    const auto io = line.write({&piece, 1});
    if (io.outcome == Line::Outcome::closed) return silent(options);
    if (io.outcome == Line::Outcome::done)
      bytes.remove_prefix(io.bytes);
    else if (!await(line, io.outcome == Line::Outcome::want_read ? POLLIN : POLLOUT, deadline))
      return silent(options);
  }
  return {};
}

Result<> read_until(Line& line, std::string& text, const std::function<bool()>& enough,
                    const ClientOptions& options, Clock::time_point deadline) {
  std::array<char, 4096> piece;
  while (!enough()) {
    const auto io = line.read(piece);
    if (io.outcome == Line::Outcome::closed) return silent(options);
    if (io.outcome == Line::Outcome::done)
      text.append(piece.data(), io.bytes);
    else if (!await(line, io.outcome == Line::Outcome::want_write ? POLLOUT : POLLIN, deadline))
      return silent(options);
  }
  return {};
}

}  // namespace

Result<Dialled> dial(const ClientOptions& options, std::string_view path, const Headers& headers) {
  auto line = std::make_unique<CurlLine>(options);
  SOUK_TRY(line->connect());
  const auto deadline = Clock::now() + std::chrono::microseconds(options.total_timeout.us);
  const auto& url = options.base_url;
  const auto host = std::string_view(url).substr(url.find("://") + 3);
  std::string head = fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: {}\r\nConnection: Upgrade\r\nUpgrade: souk\r\n",
      path, host.substr(0, host.find('/')), options.user_agent);
  for (const auto& [name, value] : headers) head += fmt::format("{}: {}\r\n", name, value);
  head += "\r\n";
  SOUK_TRY(write_all(*line, head, options, deadline));
  std::string text;
  std::size_t end = std::string::npos;
  SOUK_TRY(read_until(
      *line, text,
      [&] {
        end = text.find("\r\n\r\n");
        return end != std::string::npos || text.size() > kMostHead;
      },
      options, deadline));
  Dialled out;
  const auto status = std::string_view(text).substr(std::min<std::size_t>(9, text.size()), 3);
  const bool known =
      end != std::string::npos && text.starts_with("HTTP/1.1 ") &&
      std::from_chars(status.data(), status.data() + status.size(), out.answer.status).ec ==
          std::errc{};
  if (!known)
    return base::fail(Code::unavailable, fmt::format("{} does not answer in HTTP/1.1", url));
  if (out.answer.status == 101) {
    line->put_back(text.substr(end + 4));
    out.line = std::move(line);
    return out;
  }
  for (const auto row : base::split(std::string_view(text).substr(0, end), '\n')) {
    const auto colon = row.find(':');
    if (colon != row.npos)
      out.answer.headers.emplace_back(base::trim(row.substr(0, colon)),
                                      base::trim(row.substr(colon + 1)));
  }
  out.answer.content_type = out.answer.header("Content-Type");
  std::size_t length = 0;
  const auto size = out.answer.header("Content-Length");
  std::from_chars(size.data(), size.data() + size.size(), length);
  length = std::min(length, kMostBody);
  SOUK_TRY(
      read_until(*line, text, [&] { return text.size() >= end + 4 + length; }, options, deadline));
  out.answer.body = text.substr(end + 4, length);
  return out;
}

}  // namespace souk::net
