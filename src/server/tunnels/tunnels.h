#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "net/line.h"
#include "relay/carrier.h"
#include "relay/joiner.h"

namespace souk::server {

// Connections that have left HTTP and meet at this server. Its thread begins with the first of
// them. Any thread. Closed before the HTTP server stops, which counts them as its own.
class Tunnels {
 public:
  // As relay::Joiner::bring().
  void bring(const std::string& meeting, int side, std::unique_ptr<net::Line> line);
  // As relay::Carrier::carry().
  void carry(std::unique_ptr<net::Line> a, std::unique_ptr<net::Line> b);
  // Bytes that were carried, and pairs of connections now.
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t pairs() const;
  void close();  // For good.

 private:
  struct Parts {
    std::unique_ptr<relay::Carrier> carrier;
    relay::Joiner joiner{*carrier};
  };
  [[nodiscard]] std::shared_ptr<Parts> parts(bool make);

  mutable std::mutex mutex_;
  std::shared_ptr<Parts> parts_;
  bool closed_ = false;
};

}  // namespace souk::server
