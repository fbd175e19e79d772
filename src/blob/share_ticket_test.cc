#include "blob/share_ticket.h"

#include <gtest/gtest.h>

namespace souk::blob {
namespace {

const Digest kKey = base::blake2b("a key");
const base::Time kNow(1'767'571'200'000'000);
const ShareTicket kTicket{name_of("x"), "j1", "l2", kNow + base::minutes(1)};

TEST(ShareTicket, IsGoodForWhatItSaysUntilItExpires) {
  const auto text = sign(kTicket, kKey);
  const auto read = read_share_ticket(text, kKey, kNow);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, kTicket);
  EXPECT_FALSE(read_share_ticket(text, kKey, kTicket.expires));
}

TEST(ShareTicket, NobodyMakesOrChangesOneWithoutTheKey) {
  const auto text = sign(kTicket, kKey);
  EXPECT_FALSE(read_share_ticket(text, base::blake2b("another"), kNow));
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto bad = text;
    bad[i] = bad[i] == '1' ? '2' : '1';
    if (bad != text) EXPECT_FALSE(read_share_ticket(bad, kKey, kNow)) << i;
    EXPECT_FALSE(read_share_ticket(text.substr(0, i), kKey, kNow)) << i;
  }
  for (const auto& bad : {text + "/", text + "0", " " + text, std::string(10'000, '/')})
    EXPECT_FALSE(read_share_ticket(bad, kKey, kNow));
}

}  // namespace
}  // namespace souk::blob
