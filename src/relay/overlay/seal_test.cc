#include "relay/overlay/seal.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace souk::relay {
namespace {

class Seal : public ::testing::TestWithParam<Cipher> {
 protected:
  Seal() {
    const auto a = KeyPair::make(), b = KeyPair::make();
    first = agree(a, b.public_key, true).value();
    second = agree(b, a.public_key, false).value();
  }
  static std::vector<std::uint8_t> sealed(Sealer& sealer, std::string_view text) {
    std::vector<std::uint8_t> out(kSealBytes + text.size());
    std::memcpy(out.data() + kCounterBytes, text.data(), text.size());
    EXPECT_EQ(sealer.seal(out.data(), text.size()), out.size());
    return out;
  }
  static std::string opened(Opener& opener, std::vector<std::uint8_t> record) {
    const auto text = opener.open(record);
    return text ? std::string(text->begin(), text->end()) : "(refused)";
  }
  SessionKeys first, second;
};
INSTANTIATE_TEST_SUITE_P(Ciphers, Seal, ::testing::Values(Cipher::aes, Cipher::chacha),
                         [](const auto& row) {
                           return row.param == Cipher::aes ? "aes" : "chacha";
                         });

TEST_P(Seal, TwoWorkersHaveTheSameKeysCrossedAndAThirdHasOthers) {
  EXPECT_EQ(first.send, second.receive);
  EXPECT_EQ(first.receive, second.send);
  EXPECT_NE(first.send, first.receive);
  const auto eve = KeyPair::make();
  const auto other = agree(eve, KeyPair::make().public_key, true).value();
  EXPECT_NE(other.send, first.send);
  EXPECT_FALSE(agree(eve, PublicKey{}, true)) << "a key of small order gives everybody the same";
}

TEST_P(Seal, WhatIsSealedIsOpenedByTheOtherAlone) {
  Sealer sealer(first.send, GetParam());
  Opener opener(second.receive, GetParam()), wrong(first.receive, GetParam());
  const auto record = sealed(sealer, "hello");
  EXPECT_EQ(std::string(record.begin(), record.end()).find("hello"), std::string::npos);
  EXPECT_EQ(opened(wrong, record), "(refused)");
  EXPECT_EQ(opened(opener, record), "hello");
}

TEST_P(Seal, ARecordThatWasChangedOrSentAgainIsRefused) {
  Sealer sealer(first.send, GetParam());
  Opener opener(second.receive, GetParam());
  const auto record = sealed(sealer, "pay 1 credit");
  for (std::size_t i = 0; i < record.size(); ++i) {
    auto changed = record;
    changed[i] ^= 1;
    EXPECT_EQ(opened(opener, changed), "(refused)") << i;
  }
  EXPECT_EQ(opened(opener, {record.begin(), record.end() - 1}), "(refused)");
  EXPECT_EQ(opened(opener, {}), "(refused)");
  EXPECT_EQ(opened(opener, record), "pay 1 credit");
  EXPECT_EQ(opened(opener, record), "(refused)");
}

TEST_P(Seal, RecordsMayOvertakeEachOtherButNotByMuch) {
  Sealer sealer(first.send, GetParam());
  Opener opener(second.receive, GetParam());
  std::vector<std::vector<std::uint8_t>> records;
  for (std::uint64_t i = 0; i < Opener::kWindow + 10; ++i)
    records.push_back(sealed(sealer, std::to_string(i)));
  EXPECT_EQ(opened(opener, records[5]), "5");
  EXPECT_EQ(opened(opener, records[3]), "3");
  EXPECT_EQ(opened(opener, records[3]), "(refused)");
  EXPECT_EQ(opened(opener, records.back()), std::to_string(records.size() - 1));
  EXPECT_EQ(opened(opener, records[4]), "(refused)") << "too late";
  EXPECT_EQ(opened(opener, records[10]), "10") << "just in time";
  EXPECT_EQ(opened(opener, records[10]), "(refused)");
}

TEST(Keys, AreReadAsTheyAreWritten) {
  const auto pair = KeyPair::make();
  EXPECT_EQ(parse_key(to_text(pair.public_key)).value(), pair.public_key);
  for (const std::string text : {"", "ab", "zz"}) EXPECT_FALSE(parse_key(text));
  EXPECT_FALSE(parse_key(std::string(64, 'g')));
  EXPECT_FALSE(parse_key(to_text(pair.public_key) + "00"));
}

}  // namespace
}  // namespace souk::relay
