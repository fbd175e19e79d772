#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/random.h"
#include "blob/manifest.h"

namespace souk::blob::testing {

// A folder that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "souk-blob-XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline void spill(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

inline std::string slurp(const std::filesystem::path& path) {
  return base::read_file(path, "").value_or("");
}

// Bytes that do not compress.
inline std::string noise(std::size_t size, std::uint64_t seed = 1) {
  base::Random random(seed);
  std::string out;
  out.reserve(size + 8);
  while (out.size() < size) {
    const auto word = random.next();
    out.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  out.resize(size);
  return out;
}

// Bytes that do.
inline std::string prose(std::size_t size, std::uint64_t seed = 1) {
  std::string out;
  for (auto line = seed; out.size() < size; ++line)
    out += "line " + std::to_string(line) + ": the market opens at nine\n";
  out.resize(size);
  return out;
}

// What a manifest says of a file of one chunk,
inline Entry file(std::string path, std::string_view content = "x") {
  return {.path = std::move(path), .size = content.size(), .chunks = {name_of(content)}};
}
// and of a link.
inline Entry link(std::string path, std::string target) {
  return {.path = std::move(path), .kind = Kind::link, .target = std::move(target)};
}

// How many plain files lie below `path`.
inline std::size_t files_below(const std::filesystem::path& path) {
  std::size_t count = 0;
  for (const auto& item : std::filesystem::recursive_directory_iterator(path))
    count += item.is_regular_file() && !item.is_symlink();
  return count;
}

}  // namespace souk::blob::testing
