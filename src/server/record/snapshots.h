#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/time.h"
#include "server/core/core.h"
#include "server/record/retention.h"

namespace souk::server {

// What operators watch of a market's files.
struct JournalFigures {
  std::uint64_t bytes = 0;        // Of the journal on disk.
  std::uint64_t first_event = 1;  // That it still has.
  base::Time last_snapshot;       // When it was saved; zero: not yet since the start.
};

// Saves the whole state now and then, so that a server that starts need not replay all of its
// journal, and has what is too old dropped from that.
//
// A thread of its own makes the state as a recovery would: from the snapshot before, and from the
// events since, which it reads beside the writer. So the core does not wait for it, and every
// snapshot has passed the checks of the journal's chain. While one is made there is one more state
// in memory, and its bytes.
class Snapshots {
 public:
  struct Options {
    std::string path;     // Empty: none are saved, and nothing is dropped.
    std::string journal;  // Its URL.
    base::Duration every;
    base::Duration keep;  // Of the journal; 0: everything.
    std::string archive;  // See Retention.
  };
  // `saved`: how many events the file holds already; `first`: the journal's oldest event.
  Snapshots(Options options, Core& core, const base::Clock& clock, std::uint64_t saved,
            std::uint64_t first);
  ~Snapshots() { stop(); }

  void start();  // After the core's.
  void stop();   // Before the core's.
  // Here and now, if something has happened. After the core has stopped.
  void save_last(const market::State& s);

  [[nodiscard]] JournalFigures figures() const;  // Any thread.

 private:
  void run();
  base::Result<> go_on();
  void measure();
  base::Result<> save_next();
  base::Result<> save(std::uint64_t events, std::string_view bytes);

  const Options options_;
  Core& core_;
  const base::Clock& clock_;
  std::uint64_t saved_;
  Retention retention_;
  std::atomic<std::int64_t> saved_at_us_ = 0;
  std::atomic<std::uint64_t> remote_bytes_ = 0;  // Of a journal that others keep, when last asked.
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace souk::server
