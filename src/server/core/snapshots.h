#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "server/core/core.h"
#include "server/core/pool.h"

namespace souk::server {

// Saves the whole state now and then, so that a server that starts need not replay all of its
// journal. Core thread; a thread of its own writes the file.
class Snapshots {
 public:
  struct Options {
    std::string path;  // Empty: none are saved.
    base::Duration every;
  };
  // `saved`: how many events the file holds already.
  Snapshots(Options options, base::Time now, std::uint64_t saved)
      : options_(std::move(options)), next_(now + options_.every), saved_(saved) {
    writer_.emplace(1, 4);
  }

  // When it is time and something has happened.
  void on_tick(Core::Turn& turn);
  // Here and now, if something has happened. After the core has stopped.
  void save_last(const market::State& s);

 private:
  void save(std::uint64_t events, std::string_view bytes) const;

  const Options options_;
  base::Time next_;
  std::uint64_t saved_;
  std::optional<Pool> writer_;
};

}  // namespace souk::server
