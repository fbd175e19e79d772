#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace souk::server {

// An archive with the built-in trainer, as it was when it was hashed. It stays on disk and is read
// as it is sent. Immutable, hence thread-safe; read() may block.
class TrainerArchive {
 public:
  // An error names the file and says what is wrong with it.
  [[nodiscard]] static base::Result<std::shared_ptr<const TrainerArchive>> open(
      const std::string& path);

  [[nodiscard]] const std::string& sha256() const { return sha256_; }  // 64 hex digits.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // Up to `most` bytes from there on; none at the end. An error once the file is not what was
  // hashed.
  [[nodiscard]] base::Result<std::string> read(std::uint64_t at, std::size_t most) const;

 private:
  friend class TrainerFile;
  [[nodiscard]] base::Result<> hash();

  std::string path_;
  base::Fd file_;
  struct stat status_ = {};
  std::string sha256_;
  std::uint64_t bytes_ = 0;
};

// The trainer that a server gives to lenders who have none: opened and hashed when somebody first
// asks, and again after its file was replaced. Thread-safe; get() may block on the disk.
class TrainerFile {
 public:
  explicit TrainerFile(std::string path) : path_(std::move(path)) {}

  // Null when the server has none.
  [[nodiscard]] base::Result<std::shared_ptr<const TrainerArchive>> get();

 private:
  const std::string path_;
  std::mutex mutex_;
  std::shared_ptr<const TrainerArchive> archive_;
};

}  // namespace souk::server
