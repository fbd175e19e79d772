#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "blob/folder.h"
#include "server/testing/market.h"

// Folders as browsers and agents send them: chunks, then the manifest.

namespace souk::server::testing {

// Sends one chunk and returns its name.
inline std::string send_chunk(Market& market, const std::string& token, std::string_view content) {
  const auto name = to_string(blob::name_of(content));
  market.must("PUT", "/v1/blobs/" + name, token, blob::encode(content));
  return name;
}

inline std::string send_manifest(Market& market, const std::string& token,
                                 const blob::Manifest& manifest) {
  const auto bytes = blob::to_bytes(manifest);
  CHECK(bytes.has_value());
  return send_chunk(market, token, *bytes);
}

// Sends small files as a folder and returns the name of its manifest.
inline std::string send_files(Market& market, const std::string& token,
                              const std::map<std::string, std::string>& files) {
  blob::Manifest manifest;
  for (const auto& [path, content] : files) {
    CHECK(content.size() <= blob::kChunkBytes);
    blob::Entry entry{.path = path, .size = content.size()};
    if (!content.empty()) entry.chunks.push_back(blob::name_of(content));
    manifest.entries.push_back(std::move(entry));
    if (!content.empty()) send_chunk(market, token, content);
  }
  std::ranges::sort(manifest.entries, blob::path_before, &blob::Entry::path);
  return send_manifest(market, token, manifest);
}

}  // namespace souk::server::testing
