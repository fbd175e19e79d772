#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "blob/store.h"
#include "net/aws/key.h"

namespace souk::server {

struct BlobOptions {
  std::string bucket = {};                   // s3://... (blob/s3/address.h); empty: in the folder.
  std::optional<std::uint64_t> max_bytes;    // Absent: as much as is usual.
  std::optional<std::uint64_t> cache_bytes;  // With a bucket: of copies in the folder.
  std::function<base::Result<net::AwsKey>()> key = {};  // Of the bucket.
  std::uint64_t reserve_bytes = 0;                      // Of the disk.
  bool sync = true;
};

// The files of the market in the data folder `folder`: in its `blobs/`, or in a bucket with copies
// in `blobs.cache/`. What `blobs/` holds is then moved to the bucket while the server runs. Which
// bucket it is stays in the file `blobs.bucket`, and a start without it, or with another, is
// refused: all files of live jobs would be gone.
[[nodiscard]] base::Result<std::unique_ptr<blob::Store>> open_blobs(const std::string& folder,
                                                                    const BlobOptions& options,
                                                                    const base::Clock& clock);

}  // namespace souk::server
