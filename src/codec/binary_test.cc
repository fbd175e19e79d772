#include "codec/binary.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"
#include "codec/snapshot.h"
#include "market/testing/history.h"

namespace souk::codec {
namespace {

using base::Bytes;

template <class T>
Bytes bytes_of(const T& value) {
  Bytes out;
  Writer(out).put(value);
  return out;
}

// What comes back after a journey through bytes.
template <class T>
T there_and_back(const T& value) {
  const auto bytes = bytes_of(value);
  T out{};
  Reader reader(bytes);
  reader.get(out);
  EXPECT_TRUE(reader.ok());
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(base::to_hex(bytes_of(out)), base::to_hex(bytes));
  return out;
}

struct Item {
  base::JobId id;
  std::string name = "unnamed";
  std::optional<base::Credits> price;

  bool operator==(const Item&) const = default;
  SOUK_FIELDS(Item, id, name, price)
};

using market::FeedbackCategory;

TEST(Binary, NumbersKeepTheirValueAtEveryEdge) {
  for (const std::uint64_t v : {0ull, 1ull, 127ull, 128ull, 16'383ull, 16'384ull, ~0ull}) {
    EXPECT_EQ(there_and_back(v), v);
    EXPECT_EQ(there_and_back(base::JobId(v)), base::JobId(v));
  }
  using Limits = std::numeric_limits<std::int64_t>;
  for (const std::int64_t v :
       {Limits::min(), std::int64_t{-65}, std::int64_t{-64}, std::int64_t{-1}, std::int64_t{0},
        std::int64_t{63}, std::int64_t{64}, Limits::max()}) {
    EXPECT_EQ(there_and_back(v), v);
    EXPECT_EQ(there_and_back(base::Time(v)), base::Time(v));
    EXPECT_EQ(there_and_back(base::Credits(v)), base::Credits(v));
    EXPECT_EQ(there_and_back(base::Duration(v)), base::Duration(v));
  }
  EXPECT_EQ(base::to_hex(bytes_of(std::uint64_t{300})), "ac02");  // LEB128, as in the Wikipedia.
  EXPECT_EQ(base::to_hex(bytes_of(std::int32_t{-2})), "03");      // Zigzag.
}

TEST(Binary, EveryShapeOfValueComesBackEqual) {
  EXPECT_EQ(there_and_back(true), true);
  EXPECT_EQ(there_and_back(FeedbackCategory::idea), FeedbackCategory::idea);
  EXPECT_EQ(there_and_back(std::string("a\0b", 3)), std::string("a\0b", 3));
  EXPECT_EQ(there_and_back(base::blake2b("x")), base::blake2b("x"));
  EXPECT_EQ(there_and_back(std::optional<std::string>{}), std::nullopt);
  EXPECT_EQ(there_and_back(std::optional<std::string>{"x"}), "x");
  const Item item{base::JobId(7), "seven", base::Credits(3)};
  EXPECT_EQ(there_and_back(std::vector{item, Item{}}), (std::vector{item, Item{}}));
  EXPECT_EQ(there_and_back(std::deque<int>{1, -1}), (std::deque<int>{1, -1}));
  const std::map<std::string, std::int64_t> map{{"a", 1}, {"b", -1}};
  EXPECT_EQ(there_and_back(map), map);
}

TEST(Binary, ATableKeepsItsGapsSoIdsAreNeverGivenOutAgain) {
  market::Table<base::JobId, Item> table;
  for (std::uint64_t i = 1; i <= 9; ++i) table.add(base::JobId(i), Item{base::JobId(i)});
  for (const std::uint64_t i : {1, 2, 5, 9}) table.erase(base::JobId(i));
  const auto back = there_and_back(table);
  EXPECT_EQ(back.next(), base::JobId(10));
  EXPECT_EQ(back.size(), 5u);
  EXPECT_EQ(back.find(base::JobId(5)), nullptr);
  EXPECT_NE(back.find(base::JobId(6)), nullptr);
  for (const std::uint64_t i : {3, 4, 6, 7, 8}) table.erase(base::JobId(i));
  EXPECT_EQ(there_and_back(table).next(), base::JobId(10));  // All forgotten.
}

TEST(Binary, MissingTrailingFieldsKeepTheirDefaultsUnlessAllAreDemanded) {
  const auto bytes = bytes_of(Item{base::JobId(7), "seven", {}});
  Item item;
  Reader reader(std::string_view(bytes).substr(0, 1));
  reader.get(item);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(item, (Item{base::JobId(7), "unnamed", {}}));
  Reader strict(std::string_view(bytes).substr(0, 1), true);
  strict.get(item);
  EXPECT_FALSE(strict.ok());
}

TEST(Binary, NonsenseIsNoticed) {
  const auto read = [](std::string_view bytes, auto value) {
    Reader reader(bytes);
    reader.get(value);
    return reader.ok();
  };
  EXPECT_FALSE(read("", std::uint64_t{}));
  EXPECT_FALSE(read("\x80", std::uint64_t{}));  // Never ends.
  EXPECT_FALSE(read("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", std::uint64_t{}));  // Too long.
  EXPECT_FALSE(read("\x80\x02", std::uint8_t{}));                                       // 256
  EXPECT_FALSE(read("\x02", true));
  EXPECT_FALSE(read("\x04", FeedbackCategory::idea));
  EXPECT_FALSE(
      read("\x05"
           "abc",
           std::string()));
  EXPECT_FALSE(
      read("\xff\xff\xff\xff\x0f"
           "abc",
           std::vector<Item>()));  // A huge count.
  const std::string_view two_of_the_same("\x09\x02\x03\x00\x00\x03\x00\x00", 8);
  EXPECT_FALSE(read(two_of_the_same, market::Table<base::JobId, Item>()));
  Bytes far;  // An id a billion further on: a table would need the memory for all in between.
  Writer(far).put(base::JobId(2'000'000'000));
  far += std::string("\x02\x01\x00\x00", 4);
  Writer(far).put(Item{base::JobId(1'000'000'000)});
  EXPECT_FALSE(read(far, market::Table<base::JobId, Item>()));
}

TEST(Binary, ADamagedSnapshotIsRefusedOrReadButNeverCrashes) {
  market::testing::HistoryMaker maker(3);
  market::testing::CheckedRun run;
  run.on_event = [&](base::Time at, const market::Event& e) { maker.observe(e, at); };
  for (int i = 0; i < 1'500; ++i) ASSERT_EQ(run.step(maker.next(run.state)), "");
  const auto whole = encode_state(run.state);
  ASSERT_TRUE(decode_state(whole));
  EXPECT_FALSE(decode_state("souk state 1\n" + whole.substr(13)));
  EXPECT_FALSE(decode_state(whole + "x"));
  base::Random random(1);
  for (int i = 0; i < 1'000; ++i)
    EXPECT_FALSE(decode_state(whole.substr(0, random.below(whole.size())))) << "cut short";
  for (int i = 0; i < 1'000; ++i) {
    auto bytes = whole.substr(13);
    for (auto flips = 1 + random.below(4); flips > 0; --flips)
      bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    market::State state;  // Read, but not used: a file's seal tells damage from sense (journal).
    Reader(bytes, true).get(state);
  }
}

}  // namespace
}  // namespace souk::codec
