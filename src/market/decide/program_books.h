#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "market/commands.h"
#include "market/state.h"
#include "mechanism/mechanism.h"

// How a program that clears a class (kExternal) takes part in a round without anybody waiting for
// it: the market makes the books, the program is asked elsewhere, and its answer comes back with
// the round as data (Clear::answer). docs/decisions/0023 has the reasons.
//
// The market goes on meanwhile, so the answer is fitted to the book as it is then:
//   1. A trade is dropped if its job no longer bids or its offer no longer asks in the same book,
//      and if it pays above the job's limit or gives below the offer's reserve of now. A price that
//      both sides still accept stands, whatever they have changed.
//   2. A trade is cut down to what its bid still wants and its ask still has, in the answer's
//   order.
//   3. A bid that is left with fewer units than its gang gets none.
//   4. The whole must then pass mechanism::verify and fit_to_settle, like any other outcome. If it
//      does not, the fallback clears the book.
// Bids and asks that came after the question wait for the next round.
//
// Pure.

namespace souk::market {

// A book that a program is to be asked about, and the seed of its draws.
struct ProgramBook {
  mechanism::Book book;    // A bid's id is its job's, an ask's its offer's.
  std::uint64_t seed = 0;  // 53 bits, which every language's JSON reader keeps.
};

// The books of a round of a class, in the order in which they are cleared, each as if the others
// took nothing. Empty where there is nothing to clear, or the class's mechanism is no program.
[[nodiscard]] std::vector<ProgramBook> program_books(const State& s, Time now, const Clear& c);

// What the program makes of a book; nothing where it gave no good answer.
using AskProgram = std::function<std::optional<mechanism::Outcome>(const mechanism::Book& book,
                                                                   std::uint64_t seed)>;

// Asks for each of the books in turn, less what the ones before it took.
[[nodiscard]] ProgramAnswer ask_all(std::vector<ProgramBook> books, const AskProgram& ask);

// The part of the answer that is about this book, by the rules above; nothing where the fallback is
// to clear it.
[[nodiscard]] std::optional<mechanism::Outcome> fitted(const ProgramAnswer& answer,
                                                       const mechanism::Book& book);

}  // namespace souk::market
