#include "net/local_address.h"

#include <gtest/gtest.h>

namespace souk::net {
namespace {

TEST(LocalAddress, AStrangerCannotSendUsToOurselves) {
  for (const auto* local :
       {"127.0.0.1", "127.9.9.9", "0.0.0.0", "169.254.169.254", "::1", "::", "fe80::1", "ff02::1",
        "224.0.0.1", "255.255.255.255", "::ffff:127.0.0.1", "localhost", "", "10.0.0.1:80"})
    EXPECT_TRUE(is_local(local)) << local;
  for (const auto* other : {"10.0.0.1", "192.168.1.5", "203.0.113.9", "2001:db8::1", "fd00::1"})
    EXPECT_FALSE(is_local(other)) << other;
}

}  // namespace
}  // namespace souk::net
