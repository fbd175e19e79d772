#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "net/server.h"

namespace souk::net::testing {

// A server on a free port of this computer.
inline std::unique_ptr<Server> serve(Handler handler, ServerOptions options = {}) {
  auto server = Server::start(std::move(options), std::move(handler));
  EXPECT_TRUE(server) << server.error().message;
  return *std::move(server);
}

}  // namespace souk::net::testing
