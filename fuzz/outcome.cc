#include <string>

#include "base/random.h"
#include "fuzz/target.h"
#include "lab/files/book.h"

// Books, and what a mechanism that is somebody's program answers. The first line is the answer, the
// rest a book; without one, a book of ours. A book that is accepted can be cleared and added up,
// and an answer that is accepted keeps the rules that bind our own mechanisms.

namespace {

using namespace souk;

constexpr std::string_view kBook =
    R"({"class":"c1","reference":8,"bids":[{"id":"b1","price":17,"units":2},)"
    R"({"id":"b2","price":14,"units":4,"gang":2,"owner":"ann"},{"id":"b3","price":3}],)"
    R"("asks":[{"id":"s1","price":1,"units":3},{"id":"s2","price":4,"units":2}]})";

void answer(const lab::NamedBook& book, std::string_view text) {
  const auto outcome = lab::read_outcome(book, text);
  if (!outcome) return;
  CHECK(mechanism::verify(book.book, *outcome).has_value());
  const auto totals = mechanism::totals(book.book, *outcome);
  CHECK(totals.units >= 0);
  (void)lab::outcome_json({"program", 1}, book, *outcome);
}

}  // namespace

SOUK_FUZZ(outcome, .input_bytes = 4096, .malloc_mb = 8) {
  const auto line = fuzz::take_line(input);
  const auto read = lab::read_book(input.empty() ? kBook : input);
  if (!read || !std::holds_alternative<lab::NamedBook>(*read)) return;
  const auto& book = std::get<lab::NamedBook>(*read);
  answer(book, line);
  if (!book.book.items.empty()) return;
  (void)lab::largest_gain(book.book);
  (void)lab::book_line(book, 7);
  const auto mechanism = *mechanism::make("k-double");
  if (!mechanism->accepts(book.book)) return;
  base::Random random(1);
  const auto outcome = mechanism->clear(book.book, random);
  CHECK(mechanism::verify(book.book, outcome).has_value());
}
