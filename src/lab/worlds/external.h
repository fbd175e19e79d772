#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "lab/files/book.h"
#include "market/commands.h"
#include "market/state.h"
#include "mechanism/mechanism.h"

namespace souk::lab {

// A mechanism that is a program of the user's, in any language. It is started once, by /bin/sh, and
// is then told one book a line on its stdin (book_line()) and answers each with one line on its
// stdout (read_outcome()). docs/mechanisms.md shows how to write one.
//
// It is believed nothing: every answer is bounded, read strictly, and checked with the rules that
// bind our own mechanisms (mechanism::verify, fit_to_settle). A program that breaks one, says
// something that is not an outcome, says too much, is too slow or dies has misbehaved: it is killed
// with all of its process group, the fallback mechanism clears the book in its place, and it is
// started again at the next clearing. When it misbehaves n times in a row, 2^(n-1) - 1 clearings,
// at most 63, are left to the fallback before it is tried again; so a broken program costs little
// and outcomes depend on no clock as long as it is quick enough.
//
// The program is trusted with this machine: it runs as us, in our working folder and outside any
// sandbox; it has none of our files open. It ends with this object, and reads the end of its stdin
// if we are killed. Pure as far as the program is: the seed that it gets comes from `random`.
//
// One user at a time: clear(), attempt() and ask() talk to the same process. No thread of its own.
class External final : public mechanism::Mechanism {
 public:
  struct Options {
    std::string program;   // A command line for /bin/sh.
    int timeout_ms = 250;  // For one answer.
    int start_ms = 5'000;  // More for the first answer of a process.
  };
  static constexpr int kMostTimeoutMs = 60'000;         // Of either.
  static constexpr std::size_t kMostAnswer = 16 << 20;  // Bytes of one answer.
  static constexpr std::uint64_t kMostSkipped = 63;     // Clearings between two tries.

  External(Options options, std::unique_ptr<mechanism::Mechanism> fallback);
  ~External() override;
  External(const External&) = delete;
  External& operator=(const External&) = delete;

  [[nodiscard]] mechanism::Outcome clear(const mechanism::Book& book,
                                         base::Random& random) const override;
  // Bids and asks alone, and what the fallback takes.
  [[nodiscard]] base::Result<> accepts(const mechanism::Book& book) const override;
  [[nodiscard]] base::Result<> fit_for_live() const override;
  // As the fallback does: a program beside `las` is told the rates too.
  [[nodiscard]] bool wants_rates() const override { return fallback_->wants_rates(); }

  // As clear() before the fallback: nothing where that has to clear the book.
  [[nodiscard]] std::optional<mechanism::Outcome> attempt(const mechanism::Book& book,
                                                          std::uint64_t seed) const;
  // Asks the program itself, with no fallback and no waiting between tries: misbehaviour is the
  // error. Requires accepts(book.book).
  [[nodiscard]] base::Result<mechanism::Outcome> ask(const NamedBook& book,
                                                     std::uint64_t seed) const;

  struct Counts {
    std::uint64_t calls = 0;      // Of clear() and attempt().
    std::uint64_t fallbacks = 0;  // Of them, those that the fallback cleared.
    std::uint64_t starts = 0;     // Of the program.
    std::string last_reason;      // Why it was last found to misbehave; empty: never.
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

  // From any thread: whatever is asked now or later fails soon, for whoever has to end.
  void interrupt() { interrupted_ = true; }

 private:
  class Process;
  [[nodiscard]] base::Result<mechanism::Outcome> judged(const NamedBook& book,
                                                        std::uint64_t seed) const;

  const Options options_;
  const std::unique_ptr<mechanism::Mechanism> fallback_;
  // What a clearing changes; none of it is part of the mechanism.
  mutable std::unique_ptr<Process> process_;
  mutable Counts counts_;
  std::atomic<bool> interrupted_ = false;
  mutable unsigned failures_ = 0;   // In a row.
  mutable std::uint64_t skip_ = 0;  // Clearings to leave to the fallback.
};

// What people choose it by. All other parameters are the fallback's.
inline constexpr std::string_view kExternalSummary =
    "A program of yours clears each round; when it misbehaves, the fallback does.";
inline constexpr base::ParameterList kExternalParameters{
    {.name = "program",
     .type = base::ParameterType::text,
     .needed = true,
     .meaning =
         "On a market, a file in the folder that the server was started with (--mechanisms); "
         "in souk clear and the lab, a command line."},
    {.name = "fallback",
     .type = base::ParameterType::text,
     .default_value = "k-double",
     .meaning = "The mechanism that clears when the program misbehaves."},
    {.name = "timeout_ms",
     .type = base::ParameterType::whole,
     .low = 1,
     .high = External::kMostTimeoutMs,
     .default_value = "250",
     .meaning = "For one answer."},
    {.name = "start_ms",
     .type = base::ParameterType::whole,
     .low = 1,
     .high = External::kMostTimeoutMs,
     .default_value = "5000",
     .meaning = "More for the first answer after a start, as interpreters load slowly."}};
[[nodiscard]] base::Result<std::unique_ptr<External>> make_external(
    const mechanism::Params& params);

// Any mechanism: one of the table's, or market::kExternal.
[[nodiscard]] base::Result<std::unique_ptr<mechanism::Mechanism>> make_mechanism(
    const std::string& name, const mechanism::Params& params);

// For markets, whose programs are asked before the round (market/decide/program_books.h): the
// program, or nothing where it is one of the table's; and the parameters that their classes have
// instead. Require that make_mechanism() takes both.
[[nodiscard]] std::unique_ptr<External> program_of(const std::string& name,
                                                   const mechanism::Params& params);
[[nodiscard]] std::map<std::string, std::string> class_params(const std::string& name,
                                                              const mechanism::Params& params);

// The round, with the program's answer in it; as it is where there is no program.
[[nodiscard]] market::Clear with_answer(const External* program, const market::State& s,
                                        base::Time now, market::Clear round);

}  // namespace souk::lab
