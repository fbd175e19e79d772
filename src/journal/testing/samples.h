#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/random.h"
#include "journal/journal.h"

// What the tests of this folder share.

namespace souk::journal::testing {

// A folder of its own, removed with everything in it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "souk-journal-XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string slurp(const std::string& path) { return base::read_file(path, "").value_or(""); }

inline void spill(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Name and content of every file in a folder: to see that nothing changed.
inline std::map<std::string, std::string> contents(const std::filesystem::path& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    out[entry.path().filename()] = slurp(entry.path());
  return out;
}

inline void put(const std::filesystem::path& folder,
                const std::map<std::string, std::string>& files) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const auto& [name, bytes] : files) spill(folder / name, bytes);
}

inline constexpr const char* kDb = "journal.db";
inline constexpr std::size_t kFrame = 24 + 4096;  // Of SQLite's log: a header and a page.

// A batch with the bytes it views.
struct Sample {
  std::uint64_t first;
  std::uint32_t count;
  std::string bytes;
  [[nodiscard]] Batch batch() const { return {first, count, bytes}; }
  bool operator==(const Sample&) const = default;
};

// `n` batches that depend on nothing but `seed`: mostly small ones, some empty, some of many pages.
inline std::vector<Sample> samples(std::size_t n, std::uint64_t seed = 1) {
  base::Random random(seed);
  std::vector<Sample> out;
  std::uint64_t first = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const auto most = random.chance(8) ? 20'000 : 300;
    Sample s{first, static_cast<std::uint32_t>(random.between(1, 5)), {}};
    if (!random.chance(20)) s.bytes.resize(random.below(static_cast<std::uint64_t>(most)));
    for (auto& c : s.bytes) c = static_cast<char>(random.next());
    first += s.count;
    out.push_back(std::move(s));
  }
  return out;
}

inline base::Result<std::vector<Sample>> all(Journal& journal, std::uint64_t from = 1) {
  std::vector<Sample> out;
  SOUK_TRY(journal.replay(from, [&](const Batch& b) -> base::Result<> {
    out.push_back({b.first, b.count, std::string(b.bytes)});
    return {};
  }));
  return out;
}

}  // namespace souk::journal::testing
