#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "blob/manifest.h"
#include "blob/progress.h"
#include "blob/store.h"

// Moves folders between a store here and one elsewhere. What has arrived stays, so after any
// failure the same call again moves only the rest.

namespace souk::blob {

inline constexpr std::size_t kMostNamesAsked = 1'000;

// A connection to another store. Used by one thread at a time; several exist side by side. After an
// error it may be used again: whoever implements it connects anew. Code::unavailable means that
// trying again may help, any other code that it will not.
class Remote {
 public:
  virtual ~Remote() = default;
  // Which of at most kMostNamesAsked names are not there.
  [[nodiscard]] virtual Result<std::vector<Digest>> missing(std::span<const Digest> names) = 0;
  [[nodiscard]] virtual Result<> put(const Digest& name, std::string_view encoded) = 0;
  // The encoded chunk. Need not be verified: the caller does.
  [[nodiscard]] virtual Result<Bytes> get(const Digest& name) = 0;
};

// Called by the thread that called upload() or download(), once per connection.
using RemoteFactory = std::function<Result<std::unique_ptr<Remote>>()>;

struct TransferOptions {
  std::size_t connections = 4;  // 1 to 16. So many chunks are under way at once.
  int retries = 3;              // Of each request that was unavailable.
  // Before the first retry; doubles with each. Cut short when the transfer has failed anyway.
  std::chrono::milliseconds retry_wait{250};
  OnProgress on_progress = {};
  // Downloads: not 0, then chunks are fetched in an order that follows from this number.
  std::uint64_t shuffle = 0;
  // Downloads: of the folder's files when they are unpacked. One that claims more is refused once
  // its manifest is here (too_large).
  std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();
};

struct TransferStats {
  std::uint64_t bytes_total = 0;     // Content of all different chunks.
  std::uint64_t bytes_moved = 0;     // Encoded, as sent or received.
  std::uint64_t chunks_moved = 0;    // The manifest's included.
  std::uint64_t chunks_skipped = 0;  // Already there.
};

// Sends the folder that `root` names, and all its chunks, except what is there already. The
// manifest goes last: where it is present, its content was. Blocks; starts one thread per
// connection, all ended when it returns. The first error ends the transfer.
//   not_found, damaged  it is not whole in `local`
//   unavailable         the remote failed more often than `retries`
[[nodiscard]] Result<TransferStats> upload(const Digest& root, const Store& local,
                                           const RemoteFactory& factory,
                                           const TransferOptions& options = {});

struct Downloaded {
  Manifest manifest;
  TransferStats stats;
  Store::Pin pin;  // Keeps all of it in the store, to be unpacked.
};

// Fetches the folder that `root` names into `local`, except what is there already. Each chunk is
// verified as it arrives: a damaged one is refused and ends the transfer. Otherwise as upload().
[[nodiscard]] Result<Downloaded> download(const Digest& root, Store& local,
                                          const RemoteFactory& factory,
                                          const TransferOptions& options = {});

}  // namespace souk::blob
