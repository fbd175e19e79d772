#include "cli/commands/listen.h"

#include <gtest/gtest.h>

namespace souk::cli {
namespace {

TEST(Listen, ReadsAnAddressAndAPort) {
  struct Case {
    std::string text, address;
    int port;
  };
  for (const auto& [text, address, port] :
       {Case{"127.0.0.1:7070", "127.0.0.1", 7070}, Case{"localhost:0", "127.0.0.1", 0},
        Case{"[::1]:7070", "::1", 7070}, Case{":80", "0.0.0.0", 80}}) {
    Listen out;
    ASSERT_TRUE(read_value(text, out)) << text;
    EXPECT_EQ(out.address, address);
    EXPECT_EQ(out.port, port);
  }
}

TEST(Listen, SaysWhatIsNotOne) {
  for (const auto* text : {"", "7070", "host:", "host:x", "host:65536", "host:-1"}) {
    Listen out{"as before", 1};
    const auto read = read_value(text, out);
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find("is not an address"), std::string::npos);
    EXPECT_EQ(out.address, "as before");
  }
}

}  // namespace
}  // namespace souk::cli
