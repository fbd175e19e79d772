#include "blob/manifest.h"

#include "fuzz/target.h"

// The manifest of a folder. It is accepted exactly if it is what we would write, and nothing in it
// leads out of the folder.

using namespace souk;

SOUK_FUZZ(manifest, .input_bytes = 8192, .malloc_mb = 8) {
  const auto manifest = blob::parse_manifest(input);
  if (!manifest) return;
  const auto bytes = blob::to_bytes(*manifest);
  CHECK(bytes.has_value() && *bytes == input);
  CHECK(blob::check(*manifest).has_value());
  (void)manifest->chunks();
  (void)manifest->total_bytes();
  for (const auto& entry : manifest->entries) {
    CHECK(!entry.path.starts_with('/') && !("/" + entry.path + "/").contains("/../"));
    CHECK(!entry.target.starts_with('/'));
    std::uint64_t bytes_in_chunks = 0;
    for (std::size_t i = 0; i < entry.chunks.size(); ++i) {
      CHECK(entry.chunk_bytes(i) > 0 && entry.chunk_bytes(i) <= blob::kChunkBytes);
      bytes_in_chunks += entry.chunk_bytes(i);
    }
    CHECK(bytes_in_chunks == entry.size);
  }
}
