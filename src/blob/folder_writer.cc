#include "blob/folder_writer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace souk::blob {

FolderWriter::FolderWriter(Store& store) : store_(store) { out_.pin = store.pin({}); }

Result<> FolderWriter::begin(std::string path) {
  SOUK_TRY(end_file());
  out_.manifest.entries.push_back({.path = std::move(path)});
  in_file_ = true;
  return {};
}

Result<> FolderWriter::put(std::string_view chunk) {
  SOUK_ASSIGN(const auto added, store_.add(chunk, &out_.pin));
  auto& entry = out_.manifest.entries.back();
  entry.chunks.push_back(added.name);
  entry.size += chunk.size();
  return {};
}

Result<> FolderWriter::append(std::string_view bytes) {
  CHECK(in_file_);
  if (!rest_.empty()) {
    const auto more = std::min(bytes.size(), kChunkBytes - rest_.size());
    rest_.append(bytes.substr(0, more));
    bytes.remove_prefix(more);
    if (rest_.size() < kChunkBytes) return {};
    SOUK_TRY(put(rest_));
    rest_.clear();
  }
  for (; bytes.size() >= kChunkBytes; bytes.remove_prefix(kChunkBytes))
    SOUK_TRY(put(bytes.substr(0, kChunkBytes)));
  rest_.append(bytes);
  return {};
}

Result<> FolderWriter::end_file() {
  if (!rest_.empty()) SOUK_TRY(put(rest_));
  rest_.clear();
  in_file_ = false;
  return {};
}

Result<> FolderWriter::add(std::string path, std::string_view content) {
  SOUK_TRY(begin(std::move(path)));
  return append(content);
}

Result<Packed> FolderWriter::finish() {
  SOUK_TRY(end_file());
  std::ranges::sort(out_.manifest.entries, path_before, &Entry::path);
  SOUK_TRY(check(out_.manifest));
  SOUK_ASSIGN(const auto bytes, to_bytes(out_.manifest));
  SOUK_ASSIGN(const auto added, store_.add(bytes, &out_.pin));
  out_.root = added.name;
  return std::move(out_);
}

}  // namespace souk::blob
