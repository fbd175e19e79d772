#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "blob/manifest.h"
#include "blob/progress.h"
#include "blob/store.h"

// Folders to manifests and chunks, and back. Blocking; any thread; each call stands alone.

namespace souk::blob {

struct PackOptions {
  // Lines as in .soukignore, which is read from the top of the folder and comes after them, so it
  // can take back what these leave out.
  std::string ignore = {};
  // Only these paths below the folder, and what is in them; `*` and `?` stand for any in a name.
  // Then .soukignore has no say, and links that leave the folder are skipped with a warning: the
  // rest of the folder is somebody else's business.
  std::vector<std::string> only = {};
  std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();  // Of all files together.
  OnProgress on_progress = {};
};

struct PackPreview {
  std::vector<Entry> entries;  // Without chunks.
  std::uint64_t total_bytes = 0;
  std::vector<std::string> warnings;
};

// What pack() would pack, found without reading any file: for a warning before the work.
// Same errors as pack(), as far as they can be known by then.
[[nodiscard]] Result<PackPreview> plan(const std::string& path, const PackOptions& options = {});

struct Packed {
  Digest root;  // Names the folder: that of the manifest's chunk.
  Manifest manifest;
  std::vector<std::string> warnings;
  Store::Pin pin;  // Keeps all of it in the store, to be sent.
};

// Puts a folder, or a single file as a folder with that one file, into `store`. Follows no link
// below `path`. Sockets, pipes and devices are skipped with a warning.
//   invalid    a link that leaves the folder
//   too_large  more than most_bytes, or too many files for a manifest
//   conflict   a file that changed while it was read
//   exhausted  the store is too small
[[nodiscard]] Result<Packed> pack(const std::string& path, Store& store,
                                  const PackOptions& options = {});

// Puts files that are in memory into `store`, as a folder: their paths and contents.
[[nodiscard]] Result<Packed> pack_files(const std::map<std::string, std::string>& files,
                                        Store& store);

// The content of one file of a folder that is whole in `store`, in memory: so whoever reads says
// how much of it there may be.
//   not_found  there is no such file
//   too_large  it claims more than `most_bytes`
//   damaged    it claims more or less than its chunks hold
[[nodiscard]] Result<Bytes> read_file(const Manifest& manifest, std::string_view path,
                                      const Store& store, std::uint64_t most_bytes);

// The same, chunk by chunk, for a file that is too large for that: whoever reads adds up how much
// there is. Ends with the error of `each`, if it gives one.
[[nodiscard]] Result<> read_chunks(const Manifest& manifest, std::string_view path,
                                   const Store& store,
                                   const std::function<Result<>(std::string_view)>& each);

// The manifest that `root` names. not_found or damaged as the store says; invalid if it is none.
[[nodiscard]] Result<Manifest> read_manifest(const Digest& root, const Store& store);

// Writes a manifest's content into `target`, a folder that is empty or does not exist yet (its
// parent must). Folders and executables get mode 0755, files 0644, whatever the umask. Nothing is
// ever written outside `target`: every name is opened by itself, must be new and is never followed
// if it is a link, not even one that somebody else plants meanwhile; links are made last.
// On error what was written so far stays, for the caller to remove.
//   invalid    the manifest does not pass check()
//   conflict   `target` is not an empty folder, or something appeared in it meanwhile
//   not_found, damaged  a chunk is absent or broken
[[nodiscard]] Result<> unpack(const Manifest& manifest, const Store& store,
                              const std::string& target, const OnProgress& on_progress = {});

}  // namespace souk::blob
