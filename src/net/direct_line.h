#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/client.h"

using CURL = void;

namespace souk::net {

// What every handle of a client has: whom it trusts, how it gets there.
void set_up(CURL* curl, const ClientOptions& options, char* detail,
            const std::atomic<bool>& cancelled);
std::string hint_for(int curl_code, bool pinned);

// A connection that libcurl makes (names, proxies, certificates) and on which we speak HTTP/1.1
// ourselves, so that a body is sent from, and read to, where it lies. Only for our own servers:
// answers have a Content-Length. For one thread. Internal to src/net.
class DirectLine {
 public:
  DirectLine(const ClientOptions& options, const std::atomic<bool>& cancelled);
  ~DirectLine();
  DirectLine(const DirectLine&) = delete;
  DirectLine& operator=(const DirectLine&) = delete;

  // The answer's body lies in what `memory` was.
  base::Result<Response> send(std::string_view method, std::string_view path,
                              const Headers& headers, std::string_view body, std::string memory);

 private:
  using Clock = std::chrono::steady_clock;
  base::Result<> connect();
  void disconnect();
  base::Result<Response> exchange(std::string_view head, std::string_view body, bool wants_body,
                                  std::string& memory);
  base::Result<> write(std::string_view bytes);
  base::Result<std::size_t> read(char* to, std::size_t room);
  base::Result<> still_waits();
  void expect(std::size_t bytes);
  base::Result<Response> read_head(std::string& rest);
  base::Failure lost(std::string_view why, int code = 0);

  const ClientOptions& options_;
  const std::atomic<bool>& cancelled_;
  CURL* curl_ = nullptr;
  int socket_ = -1;        // While it is connected.
  int low_water_ = 1;      // Of the socket.
  bool answered_ = false;  // Something of the answer has arrived.
  Clock::time_point deadline_;
  std::array<char, 256> detail_{};  // CURL_ERROR_SIZE
};

}  // namespace souk::net
