#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/credits.h"
#include "base/result.h"
#include "mechanism/mechanism.h"

// Books and outcomes as JSON: the files of `souk clear` and the lines that go to and come from a
// mechanism in another language (external.h). docs/mechanisms.md describes the format for people.
//
//   {"class":"c1","reference":8,
//    "bids":[{"id":"b1","price":17,"units":1,"gang":2,"owner":"ann","side":"left",
//             "rates":{"s1":2.5},"steps":9000,"done":0,"elapsed":60,"slo":3600}],
//    "asks":[{"id":"s1","price":1,"units":1,"rank":0,"side":"left"}]}
//   {"items":["a","b"],"bids":[{"id":"Green","price":19,"bundle":["a","b"]}]}
//   {"quanta":[[4,1,1],[0,3,0]],"initial_credits":6,"slices":6}
//
// Prices are in credits, per slot-hour. A bid with a gang names the price of the whole gang: its
// limit per slot is that price divided by the gang, rounded down to the micro-credit. Its units are
// slots; left out they are one gang, and a number below the gang counts gangs.
//
// The rates of a bid are the steps a second that a slot of each ask does for it: it cannot run on
// asks that are not named, and without rates all do 1. Seconds and steps are of its job
// (mechanism::JobProgress).
//
// Reading is as strict as wire/json.h, and bounded: what is read here can be cleared and added up
// without an overflow. Pure.

namespace souk::lab {

// A book whose bids and asks have names. No two of them, on either side, share one.
struct NamedBook {
  mechanism::Book book;
  std::vector<std::string> bids;  // The name of each bid, and of each ask.
  std::vector<std::string> asks;
  std::string slot_class;
  bool has_reference = false;  // Whether the file named a suggested price.
};

// What several users want of the same slices, quantum after quantum.
struct Quanta {
  std::vector<std::vector<std::int64_t>> demands;  // Per quantum, per user.
  std::int64_t initial_credits = 0;
  std::int64_t slices = 0;
};

inline constexpr std::int32_t kMostUnits = 1'000'000;   // Of one bid or ask.
inline constexpr double kMostMeasure = 1e15;            // Of a rate, of steps and of seconds.
inline constexpr std::size_t kMostRates = 1 << 24;      // Bids times asks of a book with rates.
inline constexpr std::int64_t kMostSlices = 1'000'000;  // And demands, and initial credits.
inline constexpr std::size_t kMostOrders = 1'000'000;   // Bids, asks, items and demands, of each.
// Prices times units, of all bids or all asks together: a trillion credits.
inline constexpr base::Credits kMostWorth{1'000'000'000'000'000'000};

[[nodiscard]] base::Result<std::variant<NamedBook, Quanta>> read_book(std::string_view text);

// `book` with the names b1, b2... and s1, s2...
[[nodiscard]] NamedBook with_names(mechanism::Book book);

// The book of bids and asks as one line of JSON, with the seed for draws. Bids that can never trade
// (sides.h) are left out.
[[nodiscard]] std::string book_line(const NamedBook& book, std::uint64_t seed);

// An outcome as another program writes it: {"trades":[{"bid":"b1","ask":"s1","units":1,"pays":8.5,
// "gets":8.5}]}, in any order, units 1 unless given. Names that are not in the book, a pair that
// appears twice, more units than there are, a broken gang and prices outside the limit or reserve
// are errors that use the book's names. What it returns is in order; whether it keeps all rules is
// still for mechanism::verify() to say.
[[nodiscard]] base::Result<mechanism::Outcome> read_outcome(const NamedBook& book,
                                                            std::string_view text);

// The price at which everything traded, if there is one.
[[nodiscard]] std::optional<base::Credits> uniform_price(const mechanism::Outcome& outcome);

// Who cleared a book, for the record.
struct Clearing {
  std::string_view mechanism;
  std::uint64_t seed = 0;
};

// {"mechanism":...,"seed":...,"trades":[...],"gain":35,"platform":0,"buyers_pay":34,
// "sellers_get":34,"price":8.5,"lottery":{},"fees":{}}. `pays` and `gets` of a trade are per slot,
// or for a bundle; the others are totals. `price` is missing when there is no single one. `lottery`
// is an object, or a list of them when there were several draws.
[[nodiscard]] std::string outcome_json(const Clearing& clearing, const NamedBook& book,
                                       const mechanism::Outcome& outcome);

// The largest gain from trade that the book has in it. With gangs this is what serving bids from
// the highest limit down gets, which is a lower bound. Requires a book of bids and asks.
[[nodiscard]] base::Credits largest_gain(const mechanism::Book& book);

}  // namespace souk::lab
