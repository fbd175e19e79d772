#include "blob/folder_writer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "blob/cutter.h"

namespace souk::blob {

FolderWriter::FolderWriter(Store& store) : store_(store) { out_.pin = store.pin({}); }

Result<> FolderWriter::begin(std::string path) {
  SOUK_TRY(end_file());
  out_.manifest.entries.push_back({.path = std::move(path)});
  in_file_ = true;
  return {};
}

Result<> FolderWriter::put(std::size_t bytes, bool by_content) {
  SOUK_ASSIGN(const auto added, store_.add(rest().substr(0, bytes), &out_.pin));
  auto& entry = out_.manifest.entries.back();
  entry.chunks.push_back(added.name);
  if (by_content) entry.lengths.push_back(static_cast<std::uint32_t>(bytes));
  entry.size += bytes;
  at_ += bytes;
  return {};
}

// Cut as pack() cuts, which sees as much of the file ahead: until it is over, more than a chunk.
Result<> FolderWriter::append(std::string_view bytes) {
  CHECK(in_file_);
  while (!bytes.empty()) {
    buffer_.erase(0, std::exchange(at_, 0));
    const auto more = std::min(bytes.size(), kChunkBytes);
    buffer_.append(bytes.substr(0, more));
    bytes.remove_prefix(more);
    while (rest().size() > kChunkBytes) SOUK_TRY(put(cut(rest()), true));
  }
  return {};
}

Result<> FolderWriter::end_file() {
  const bool by_content = in_file_ && !out_.manifest.entries.back().chunks.empty();
  while (!rest().empty()) SOUK_TRY(put(by_content ? cut(rest()) : rest().size(), by_content));
  buffer_.clear();
  at_ = 0;
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
