#include "server/files/blob_claims.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "blob/testing/samples.h"
#include "server/testing/stack.h"

namespace souk::server {
namespace {

using base::Code;
using blob::testing::noise;
using testing::kAnn;
using testing::kBob;

constexpr std::size_t kContentBytes = 1'000;
constexpr std::uint64_t kStored = kContentBytes + 1;  // Encoded.

class BlobClaimsTest : public ::testing::Test {
 protected:
  BlobClaimsTest() { open(); }

  void open() {
    claims_.reset();
    store_ = *blob::Store::open(folder_ / "blobs", {.max_bytes = 100 * kStored});
    budgets_ = std::make_unique<Budgets>();
    budgets_->blob_bytes.set_limit({.each = 5 * kStored, .all = Budgets::kNoLimit});
    budgets_->blob_chunks.set_limit({.each = 20, .all = Budgets::kNoLimit});
    claims_ = std::make_unique<BlobClaims>(folder_ / "claims", *store_, *budgets_, clock_);
    claims_->recall();
  }
  base::Result<> put(base::AccountId account, std::uint64_t seed) {
    const auto content = noise(kContentBytes, seed);
    return claims_->put(account, blob::name_of(content), blob::encode(content));
  }
  static blob::Digest name(std::uint64_t seed) { return blob::name_of(noise(kContentBytes, seed)); }
  std::uint64_t bytes(base::AccountId account) { return budgets_->blob_bytes.used(party(account)); }
  std::uint64_t chunks(base::AccountId account) {
    return budgets_->blob_chunks.used(party(account));
  }

  testing::Folder folder_;
  testing::ObedientClock clock_;
  std::unique_ptr<blob::Store> store_;
  std::unique_ptr<Budgets> budgets_;
  std::unique_ptr<BlobClaims> claims_;
};

TEST_F(BlobClaimsTest, AnAccountIsRefusedAtItsLimitAndOthersAreNot) {
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(put(kAnn, i));
  const auto refused = put(kAnn, 5);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::exhausted);
  EXPECT_NE(refused.error().message.find("blob-bytes"), std::string::npos);
  EXPECT_FALSE(store_->has(name(5)));
  EXPECT_EQ(bytes(kAnn), 5 * kStored);
  EXPECT_TRUE(put(kAnn, 3)) << "it is there";
  EXPECT_TRUE(put(kBob, 5));
}

TEST_F(BlobClaimsTest, ManySmallChunksHaveALimitToo) {
  for (int i = 0; i < 20; ++i) {
    const auto content = std::to_string(i);
    ASSERT_TRUE(claims_->put(kAnn, blob::name_of(content), blob::encode(content)));
  }
  const auto refused = claims_->put(kAnn, blob::name_of("x"), blob::encode("x"));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("blob-chunks"), std::string::npos);
  EXPECT_EQ(bytes(kAnn), 10u * 2 + 10u * 3) << "what was refused was given back";
}

TEST_F(BlobClaimsTest, WhatMakesRoomIsGivenBack) {
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(put(kAnn, i));
  ASSERT_TRUE(*store_->drop(name(2)));
  EXPECT_EQ(bytes(kAnn), 4 * kStored);
  EXPECT_EQ(chunks(kAnn), 4u);
  EXPECT_FALSE(claims_->has(kAnn, name(2)));
  EXPECT_TRUE(put(kAnn, 5));
}

TEST_F(BlobClaimsTest, OldFilesOfTheAccountMakeRoomUnlessAJobNeedsThem) {
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(put(kAnn, i));
  clock_.move(base::hours(2));
  const auto pin = store_->pin({name(0)});
  EXPECT_TRUE(claims_->has(kAnn, name(1))) << "used just now";
  ASSERT_TRUE(put(kAnn, 5));
  EXPECT_TRUE(store_->has(name(0)));
  EXPECT_TRUE(store_->has(name(1)));
  EXPECT_FALSE(store_->has(name(2)));
  ASSERT_TRUE(put(kAnn, 6));
  ASSERT_TRUE(put(kAnn, 7));
  EXPECT_FALSE(put(kAnn, 8)) << "all is young or pinned";
  EXPECT_EQ(bytes(kAnn), 5 * kStored);
}

TEST_F(BlobClaimsTest, TheSameContentIsKeptOnceAndIsBothTheirs) {
  ASSERT_TRUE(put(kAnn, 1));
  EXPECT_FALSE(claims_->has(kBob, name(1))) << "that it is here is none of his business";
  ASSERT_TRUE(put(kBob, 1));
  EXPECT_EQ(store_->count(), 1u);
  EXPECT_TRUE(claims_->has(kBob, name(1)));
  EXPECT_EQ(bytes(kBob), kStored);
  clock_.move(base::hours(2));
  for (std::uint64_t i = 2; i < 7; ++i) ASSERT_TRUE(put(kAnn, i));
  EXPECT_FALSE(claims_->has(kAnn, name(1)));
  EXPECT_TRUE(claims_->has(kBob, name(1))) << "hers made room, his stays";
}

TEST_F(BlobClaimsTest, WhatIsNotWhatItSaysCountsForNothing) {
  EXPECT_EQ(claims_->put(kAnn, name(1), blob::encode("other")).error().code, Code::damaged);
  EXPECT_EQ(bytes(kAnn), 0u);
  EXPECT_EQ(claims_->count(), 0u);
}

TEST_F(BlobClaimsTest, ARestartKnowsWhoBroughtWhat) {
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(put(kAnn, i));
  ASSERT_TRUE(put(kBob, 0));
  ASSERT_TRUE(*store_->drop(name(1)));
  open();
  EXPECT_EQ(bytes(kAnn), 2 * kStored);
  EXPECT_EQ(bytes(kBob), kStored);
  EXPECT_TRUE(claims_->has(kAnn, name(2)));
  EXPECT_FALSE(claims_->has(kBob, name(2)));
  EXPECT_EQ(std::filesystem::file_size(folder_ / "claims"), 3u * 48);
}

TEST_F(BlobClaimsTest, ARestartMakesNothingOld) {
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(put(kAnn, i));
  open();
  EXPECT_FALSE(put(kAnn, 5));
  EXPECT_TRUE(store_->has(name(0)));
  clock_.move(base::hours(2));
  EXPECT_TRUE(put(kAnn, 5));
}

TEST_F(BlobClaimsTest, ACutOrDamagedFileIsReadAsFarAsItGoes) {
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(put(kAnn, i));
  std::filesystem::resize_file(folder_ / "claims", 48 * 2 + 17);
  open();
  EXPECT_EQ(chunks(kAnn), 2u);
  blob::testing::spill(folder_ / "claims", noise(1'000));
  open();
  EXPECT_EQ(claims_->count(), 0u);
  EXPECT_TRUE(put(kBob, 0)) << "who sends it next has it";
}

TEST_F(BlobClaimsTest, ResultsBecomeTheBorrowersAsFarAsTheLenderBroughtThem) {
  ASSERT_TRUE(put(kAnn, 1));
  ASSERT_TRUE(put(kAnn, 2));
  ASSERT_TRUE(store_->add(noise(kContentBytes, 3)));
  claims_->hand_over(kAnn, kBob, {name(1), name(2), name(3)});
  EXPECT_EQ(bytes(kBob), 2 * kStored);
  EXPECT_FALSE(claims_->has(kBob, name(3))) << "a name alone gives no right";
  for (std::uint64_t i = 10; i < 15; ++i) EXPECT_TRUE(put(kAnn, i)) << "they take none of her room";
  EXPECT_TRUE(store_->has(name(1)));
  EXPECT_TRUE(store_->has(name(2)));
}

TEST_F(BlobClaimsTest, TwoWhoSendTheSameAtOnceAreChargedOnceEach) {
  // Not up to the limit: there the one that comes second may be refused for a moment.
  for (std::uint64_t round = 0; round < 4; ++round) {
    std::vector<std::jthread> threads;
    for (const auto account : {kAnn, kAnn, kBob, kBob})
      threads.emplace_back([this, account, round] { EXPECT_TRUE(put(account, round)); });
    threads.clear();
    EXPECT_EQ(bytes(kAnn), (round + 1) * kStored);
    EXPECT_EQ(bytes(kBob), (round + 1) * kStored);
  }
  EXPECT_EQ(claims_->count(), 8u);
}

}  // namespace
}  // namespace souk::server
