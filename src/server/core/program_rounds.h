#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/time.h"
#include "market/commands.h"
#include "market/state.h"
#include "server/core/core.h"

namespace souk::server {

class ProgramThread;

// The rounds of classes that programs of the operator's clear (market::kExternal).
//
// When such a round is due, the core makes its books, gives them to a thread of the class and goes
// on. The thread asks the program, as long as the class's timeout_ms says for each book, and for
// the first one of a process kStartMs more. Then it brings the round to the core as a task, with
// the answer in it; market/decide/program_books.h says how an answer is fitted to what has changed
// meanwhile. Each class has at most one question under way; its next round comes after that, and
// nobody else waits. An answer of a program that no longer clears the class is dropped.
//
// Made before the core starts; goes after it has stopped.
class ProgramRounds {
 public:
  static constexpr int kStartMs = 1'000;
  // Adds what a round may know of the world. On the core thread.
  using Describe = std::function<void(const market::State&, base::Time, market::Clear&)>;

  // Only what lies in `folder` runs; empty: nothing does.
  ProgramRounds(std::string folder, Core& core, Describe describe);
  ~ProgramRounds();

  // Core thread, when `round` is due and described: whether a program is being asked, so that the
  // round comes later.
  bool take_over(const market::State& s, base::Time now, const market::Clear& round);

 private:
  friend class ProgramThread;
  struct Question;
  // Core thread: the round of an answered question.
  void finish(Core::Turn& turn, const Question& question,
              std::optional<market::ProgramAnswer> answer);

  const std::string folder_;
  Core& core_;
  const Describe describe_;
  std::map<market::ClassId, std::unique_ptr<ProgramThread>> threads_;  // Of the core thread.
};

}  // namespace souk::server
