#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "base/result.h"

namespace souk::agent {

SOUK_ENUM(TarKind, file, hard_link, link, folder, special)

// One entry of a tar: ustar, with the long names of GNU and of pax.
struct TarEntry {
  TarKind kind = TarKind::file;
  std::string path;    // As written; may be anything.
  std::string target;  // Of links.
  bool executable = false;
  std::int64_t size = 0;   // Of a file's content, which follows.
  std::int64_t notes = 0;  // Bytes of what the tar said about it before.
};

// Reads a tar that comes in pieces of any size. Pure: `on_entry` hears of each entry, `on_data` of
// its content, and an error of either ends it. Nothing that a tar claims costs memory but a name,
// which is bounded.
class TarReader {
 public:
  using OnEntry = std::function<base::Result<>(const TarEntry&)>;
  using OnData = std::function<base::Result<>(std::string_view)>;
  TarReader(OnEntry on_entry, OnData on_data)
      : on_entry_(std::move(on_entry)), on_data_(std::move(on_data)) {}

  base::Result<> add(std::string_view piece);
  // What follows is not read any more.
  [[nodiscard]] bool ended() const { return ended_; }
  // Call at the end: a tar that ends within an entry is damaged.
  [[nodiscard]] base::Result<> end() const;

 private:
  base::Result<> header(std::string_view block);
  base::Result<> begin(TarEntry entry, char type);
  void expect(std::int64_t bytes);
  base::Result<> finish_name();
  base::Result<> read_pax();

  const OnEntry on_entry_;
  const OnData on_data_;
  std::string block_;         // A header that is not whole yet.
  std::int64_t content_ = 0;  // Bytes of the entry that are to come,
  std::int64_t padding_ = 0;  // and those after it, up to the next block.
  char collecting_ = 0;       // L, K or x: the content is about the next entry.
  std::string collected_;
  std::string long_path_, long_target_;
  std::int64_t long_size_ = -1;
  std::int64_t notes_ = 0;  // Bytes of them since the last entry.
  bool ended_ = false;
};

}  // namespace souk::agent
