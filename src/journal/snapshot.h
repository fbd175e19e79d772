#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace souk::journal {

// A state after event `seq`, as opaque bytes. A disposable cache: losing it costs a longer replay.
struct Snapshot {
  std::uint64_t seq = 0;
  std::string bytes;
};

// Replaces the snapshot at `path`. Whatever happens meanwhile, the file is the old one or the new
// one. An error leaves the old one and may be ignored; one process at a time.
[[nodiscard]] base::Result<> save_snapshot(const std::string& path, std::uint64_t seq,
                                           std::string_view bytes);

struct LoadedSnapshot {
  std::optional<Snapshot> snapshot;
  std::string note;  // Why there is none: absent, damaged. Empty if there is one.
};

// Never fails and never returns bytes other than those saved.
[[nodiscard]] LoadedSnapshot load_snapshot(const std::string& path);

}  // namespace souk::journal
