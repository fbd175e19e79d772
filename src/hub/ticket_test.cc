#include "hub/ticket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace souk::hub {
namespace {

using ::testing::HasSubstr;

const auto kKey = key_of("a secret of the test's own");
const Ticket kTicket{"j17", "42-9f", base::Time(2'000'000)};
constexpr base::Time kBefore(1'999'999);

TEST(Ticket, SaysWhatWasSigned) {
  const auto text = sign(kTicket, kKey);
  EXPECT_THAT(text, HasSubstr("j17/42-9f/2000000/"));
  const auto read = read_ticket(text, kKey, kBefore);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, kTicket);
}

TEST(Ticket, OpensNothingOnceItHasExpired) {
  const auto read = read_ticket(sign(kTicket, kKey), kKey, kTicket.expires);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, base::Code::unauthenticated);
  EXPECT_THAT(read.error().message, HasSubstr("expired"));
}

TEST(Ticket, CannotBeMadeOrChangedWithoutTheSecret) {
  const auto good = sign(kTicket, kKey);
  const auto mac = good.substr(good.rfind('/'));
  for (const auto& text :
       {std::string(), std::string("/"), std::string("j17"), std::string("j17/42-9f/2000000"),
        "j18/42-9f/2000000" + mac, "j17/43-9f/2000000" + mac, "j17/42-9f/2000001" + mac,
        "j17/42-9f/2000000/" + mac, good + "0", good.substr(0, good.size() - 1), mac,
        sign(kTicket, key_of("another secret of the test's"))}) {
    const auto read = read_ticket(text, kKey, kBefore);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, base::Code::unauthenticated) << text;
  }
}

TEST(Ticket, IsSpelledOneWayEvenByWhoeverHasTheSecret) {
  for (const std::string text :
       {" j17/42-9f/2000000", "j17/42-9f /2000000", "j17/42-9f/2000000x", "j17/42-9f/02000000"})
    EXPECT_FALSE(read_ticket(text + "/" + to_string(base::blake2b(text, kKey)), kKey, kBefore))
        << text;
}

TEST(Ticket, DigestsAreTheSameOnlyInAllOfTheirBytes) {
  for (std::size_t i = 0; i < kKey.bytes.size(); ++i) {
    auto other = kKey;
    other.bytes[i] ^= 1;
    EXPECT_FALSE(same(kKey, other));
  }
  EXPECT_TRUE(same(kKey, kKey));
}

}  // namespace
}  // namespace souk::hub
