#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "journal/journal.h"
#include "server/core/core.h"

namespace souk::server {

// Drops events that are older than the operator wants to keep, behind a base state that stands for
// them (journal.h). For one thread, which is neither the core's nor the commit thread: this one
// reads the journal beside its writer, makes the base from the one before it and the events
// between, and copies those to the archive; the commit thread then cuts, and removes a bite between
// two commits.
class Retention {
 public:
  struct Options {
    std::string journal;  // Its URL.
    base::Duration keep;  // 0: everything.
    std::string archive;  // Folder for what is dropped; empty: it is gone.
  };
  // Its error ends the work, which the next drop_old() does again: the server is about to stop.
  using GoOn = std::function<base::Result<>()>;

  // `first`: the journal's oldest event.
  Retention(Options options, Core& core, std::uint64_t first)
      : options_(std::move(options)), core_(core), first_(first) {}

  // Drops what is older than options.keep, if that is enough to be worth it: a sixteenth of
  // options.keep. So the journal holds between 16 and 17 sixteenths, and bases and archives are
  // made seldom. Also removes what an earlier run left half removed.
  [[nodiscard]] base::Result<> drop_old(base::Time now, const GoOn& go_on);

  // The journal's oldest event. Any thread.
  [[nodiscard]] std::uint64_t first() const { return first_; }

 private:
  // What stands for the events that go.
  struct Base {
    std::uint64_t first;  // Event that the journal then begins with.
    std::string bytes;
  };
  base::Result<std::optional<Base>> make_base(journal::Journal& journal, base::Time before,
                                              const GoOn& go_on);
  base::Result<> put_aside(journal::Journal& journal, const Base& base, const GoOn& go_on);
  base::Result<> cut(const Base& base);
  base::Result<> trim(const GoOn& go_on);

  const Options options_;
  Core& core_;
  std::atomic<std::uint64_t> first_;
  bool trimmed_ = false;  // Nothing lies before first_.
};

}  // namespace souk::server
