#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace souk::journal {

// Makes the names in `folder` (a file just created, renamed or removed) survive a power cut.
[[nodiscard]] base::Result<> sync_folder(const std::filesystem::path& folder);

// The folder that holds `path`; "." for a bare name.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& path);

// Writes all of `bytes` at `path`, which is replaced, and fsyncs it.
[[nodiscard]] base::Result<> write_synced(const std::filesystem::path& path,
                                          std::string_view bytes);

// Makes what was written to the file at `path` survive a power cut.
[[nodiscard]] base::Result<> sync_file(const std::filesystem::path& path);

// The error of the system call that just failed (errno) on `path`: "cannot <verb> <path>: <why>".
[[nodiscard]] base::Failure system_failure(std::string_view verb,
                                           const std::filesystem::path& path);

// A lock on a file that a process holds until it lets go or dies, whatever way it dies.
// Movable, not copyable; two locks in one process exclude each other as well.
class FileLock {
 public:
  FileLock() = default;
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  // Makes the file if need be. Never waits: conflict if someone else holds it.
  [[nodiscard]] static base::Result<FileLock> take(const std::filesystem::path& path);
  // Does someone hold it? Changes nothing, not even for a moment.
  [[nodiscard]] static bool held(const std::filesystem::path& path);

 private:
  int fd_ = -1;
};

}  // namespace souk::journal
