#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/budget.h"
#include "base/fd.h"
#include "base/result.h"
#include "train/kept_bytes.h"
#include "train/parameters.h"

namespace souk::hub {

// Where a training keeps what is too large for memory: updates on their way in, and versions of the
// parameters that a check or a comparison still needs. Without a folder all of it stays in memory.
struct SpillOptions {
  std::string folder = {};
  std::size_t over = std::size_t{64} << 20;  // Bytes: what is larger goes into a file.
  // Bytes in files are counted here, for `owner`.
  base::Budget* disk = nullptr;
  std::string owner = {};
};

// A file without a name: gone with this object, or with the process. Written by one thread; once it
// is sealed it lies still and is read through a mapping.
class SpillFile final : public train::KeptBytes {
 public:
  // `options` is copied where it is needed later; the budget outlives the file.
  static base::Result<std::shared_ptr<SpillFile>> make(const SpillOptions& options);
  ~SpillFile() override;

  // unavailable: the budget or the disk has no room for it now.
  base::Result<> write(std::size_t at, std::string_view bytes);
  [[nodiscard]] std::size_t size() const { return size_; }
  base::Result<> seal();

  // Requires seal().
  [[nodiscard]] std::string_view bytes() const override;
  void let_go(std::size_t at, std::size_t length) const override;

 private:
  SpillFile(base::Fd file, base::Budget* disk, std::string owner);

  base::Fd file_;
  base::Budget* const disk_;
  const std::string owner_;
  std::size_t size_ = 0;
  const char* mapped_ = nullptr;
};

// Bytes that arrive piece by piece: in memory, and in a file once they are many. Not thread-safe.
class ArrivingBytes {
 public:
  explicit ArrivingBytes(SpillOptions spill = {}) : spill_(std::move(spill)) {}

  [[nodiscard]] std::size_t size() const { return file_ ? file_->size() : memory_.size(); }
  [[nodiscard]] std::size_t in_memory() const { return memory_.size(); }
  // Will it lie in memory after `bytes` have arrived?
  [[nodiscard]] bool stays_in_memory(std::size_t bytes) const {
    return !file_ && (spill_.folder.empty() || bytes <= spill_.over);
  }
  // Requires at <= size().
  base::Result<> write(std::size_t at, std::string_view piece);
  // All of it. What arrives later is not added.
  base::Result<std::shared_ptr<const train::KeptBytes>> finish();

 private:
  SpillOptions spill_;
  std::string memory_;
  std::shared_ptr<SpillFile> file_;
};

// The same blocks, in a file if they are many.
[[nodiscard]] base::Result<train::Blocks> spilled(train::Blocks blocks, const SpillOptions& spill);

}  // namespace souk::hub
