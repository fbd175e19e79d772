#include "codec/binary.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"
#include "codec/schema.h"
#include "codec/snapshot.h"
#include "market/testing/checked_run.h"
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

// A machine and its specification, as one program knows them...
struct Spec {
  std::int32_t cores = 1;
  std::string gpu;
  bool operator==(const Spec&) const = default;
  SOUK_FIELDS(Spec, cores, gpu)
};
struct Machine {
  base::MachineId id;
  Spec spec;
  std::optional<Spec> planned;
  std::vector<Spec> past;
  std::map<std::string, Spec> named;
  std::string name = "none";
  bool operator==(const Machine&) const = default;
  SOUK_FIELDS(Machine, id, spec, planned, past, named, name)
};

// ... and as a later one does, which has appended fields to both.
struct Disk {
  std::int64_t mib = 7;
  bool operator==(const Disk&) const = default;
  SOUK_FIELDS(Disk, mib)
};
struct LaterSpec {
  std::int32_t cores = 1;
  std::string gpu;
  std::vector<Disk> disks{{1}};
  std::string region = "anywhere";
  bool operator==(const LaterSpec&) const = default;
  SOUK_FIELDS(LaterSpec, cores, gpu, disks, region)
};
struct LaterMachine {
  base::MachineId id;
  LaterSpec spec;
  std::optional<LaterSpec> planned;
  std::vector<LaterSpec> past;
  std::map<std::string, LaterSpec> named;
  std::string name = "none";
  bool online = true;
  bool operator==(const LaterMachine&) const = default;
  SOUK_FIELDS(LaterMachine, id, spec, planned, past, named, name, online)
};

}  // namespace

template <>
inline constexpr std::size_t kFirstFields<LaterSpec> = 2;
template <>
inline constexpr std::size_t kFirstFields<LaterMachine> = 6;

namespace {

template <class T>
Bytes sized(const T& value) {
  Bytes out;
  Writer(out, Layout::sized).fields(value);
  return out;
}

template <class T>
std::optional<T> read_as(std::string_view bytes, Layout layout = Layout::sized) {
  T out;
  Reader reader(bytes, false, layout);
  reader.fields(out);
  return reader.ok() ? std::optional(std::move(out)) : std::nullopt;
}

Machine any_machine() {
  return {base::MachineId(3),   {8, "A100"},       {{9, "H100"}},
          {{1, "x"}, {2, "y"}}, {{"a", {3, "z"}}}, "box"};
}

LaterMachine any_later_machine() {
  LaterSpec spec{8, std::string(200, 'g'), {{5}, {6}}, "eu"};  // Too long for one byte of length.
  return {base::MachineId(3), spec, {spec}, {spec, {2, "y"}}, {{"a", spec}}, "box", false};
}

TEST(Binary, AFieldAppendedToANestedStructIsItsDefaultInOldBytes) {
  const auto now = read_as<LaterMachine>(sized(any_machine()));
  ASSERT_TRUE(now);
  const LaterMachine expected{base::MachineId(3), {8, "A100"}, {{9, "H100"}}, {{1, "x"}, {2, "y"}},
                              {{"a", {3, "z"}}},  "box",       true};
  EXPECT_EQ(*now, expected);
}

TEST(Binary, AnOlderProgramSkipsTheFieldsItDoesNotKnow) {
  const auto later = any_later_machine();
  EXPECT_EQ(read_as<LaterMachine>(sized(later)), later);
  const auto then = read_as<Machine>(sized(later));
  ASSERT_TRUE(then);
  const Spec spec{8, std::string(200, 'g')};
  EXPECT_EQ(*then,
            (Machine{base::MachineId(3), spec, spec, {spec, {2, "y"}}, {{"a", spec}}, "box"}));
}

TEST(Binary, ALengthOfAnySizeIsWrittenInTheFewestBytes) {
  for (const std::size_t size : {0, 1, 124, 125, 126, 200, 16'378, 16'379, 16'380, 3'000'000}) {
    const Machine machine{.spec = {1, std::string(size, 'x')}, .name = "after"};
    EXPECT_EQ(read_as<Machine>(sized(machine)), machine) << size;
    Bytes spec;
    Writer(spec).put(machine.spec);
    Bytes whole;
    Writer(whole, Layout::sized).put(machine.spec);
    Bytes length;
    Writer(length).number(spec.size());
    EXPECT_TRUE(whole == length + spec) << size;
  }
}

TEST(Binary, ADamagedLengthIsAnErrorAndNothingBeyondItIsRead) {
  const Machine machine{.id = base::MachineId(3), .spec = {8, "A100"}, .name = "box"};
  const auto bytes = sized(machine);
  ASSERT_EQ(bytes[1], 6);  // Of the spec: cores, the length of "A100" and its bytes.
  const auto with_length = [&](const Bytes& length) {
    return bytes.substr(0, 1) + length + bytes.substr(2);
  };
  Bytes huge;
  Writer(huge).number(~0ull);
  EXPECT_FALSE(read_as<Machine>(with_length(huge)));
  EXPECT_FALSE(read_as<Machine>(with_length("\x7f")));  // Beyond the end.
  for (char length = 2; length < 6; ++length)           // Within the name of the GPU.
    EXPECT_FALSE(read_as<Machine>(with_length({length}))) << int{length};
  EXPECT_FALSE(read_as<Machine>(with_length("\x80")));
  // From exact allocations, so that a sanitizer sees what is read beyond them.
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<char> cut(bytes.begin(), bytes.begin() + static_cast<long>(size));
    const auto read = read_as<Machine>({cut.data(), cut.size()});
    if (read) EXPECT_EQ(sized(*read).substr(0, size), bytes.substr(0, size)) << size;
  }
}

TEST(Binary, TheFirstLayoutIsReadWithTheFieldsOfThenWhateverWasAppendedSince) {
  const auto now = read_as<LaterMachine>(bytes_of(any_machine()), Layout::first);
  ASSERT_TRUE(now);
  EXPECT_EQ(*now, *read_as<LaterMachine>(sized(any_machine())));
}

TEST(Binary, ASnapshotOfOtherFieldsIsAnotherFormat) {
  EXPECT_EQ(Schema::of<Spec>(), "{cores i4;gpu text;}");
  EXPECT_NE(Schema::of<Machine>(), Schema::of<LaterMachine>());
  EXPECT_EQ(Schema::of<std::vector<FeedbackCategory>>(),
            "list(enum(question problem idea praise ))");
}

base::Bytes sized_fields(const market::State& state) {
  base::Bytes out;
  Writer(out, Layout::sized).fields(state);
  return out;
}

TEST(Binary, ADamagedSnapshotIsRefusedOrAStateLikeAnyOther) {
  market::testing::HistoryMaker maker(3);
  market::testing::CheckedRun run;
  run.on_event = [&](base::Time at, const market::Event& e) { maker.observe(e, at); };
  for (int i = 0; i < 1'500; ++i) ASSERT_EQ(run.step(maker.next(run.state)), "");
  const auto whole = encode_state(run.state);
  ASSERT_TRUE(decode_state(whole));
  const auto header = whole.find('\n') + 1;
  EXPECT_FALSE(decode_state("souk state 1\n" + whole.substr(header)));
  EXPECT_FALSE(decode_state(whole + "x"));
  base::Random random(1);
  for (int i = 0; i < 1'000; ++i)
    EXPECT_FALSE(decode_state(whole.substr(0, random.below(whole.size())))) << "cut short";
  int refused = 0;
  for (int i = 0; i < 1'000; ++i) {
    auto bytes = whole.substr(header);
    for (auto flips = 1 + random.below(4); flips > 0; --flips)
      bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    // Read, but not used: a file's seal tells damage from sense (journal).
    market::State state;
    Reader reader(bytes, true, Layout::sized);
    reader.fields(state);
    if (!reader.ok() || !reader.at_end()) {
      ++refused;
      continue;
    }
    const auto again = sized_fields(state);
    market::State back;
    Reader second(again, true, Layout::sized);
    second.fields(back);
    EXPECT_TRUE(second.ok() && second.at_end());
    EXPECT_TRUE(sized_fields(back) == again);
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace souk::codec
