#include "hub/spill.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/check.h"

namespace souk::hub {
namespace {

using base::Code;
using base::fail;
using base::Result;

base::Failure cannot(std::string_view verb, std::string_view what) {
  const auto why = std::generic_category().message(errno);
  return fail(Code::unavailable, fmt::format("cannot {} {}: {}", verb, what, why),
              "the server's disk is full or broken: try again later");
}

}  // namespace

SpillFile::SpillFile(base::Fd file, base::Budget* disk, std::string owner)
    : file_(std::move(file)), disk_(disk), owner_(std::move(owner)) {}

Result<std::shared_ptr<SpillFile>> SpillFile::make(const SpillOptions& options) {
  base::Fd file(::open(options.folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file && (errno == EOPNOTSUPP || errno == EISDIR)) {
    auto name = options.folder + "/spill-XXXXXX";
    file = base::Fd(::mkostemp(name.data(), O_CLOEXEC));
    if (file) ::unlink(name.c_str());
  }
  if (!file) return cannot("make a file in", options.folder);
  return std::shared_ptr<SpillFile>(new SpillFile(std::move(file), options.disk, options.owner));
}

SpillFile::~SpillFile() {
  if (mapped_ != nullptr) ::munmap(const_cast<char*>(mapped_), size_);
  if (disk_ != nullptr) disk_->give_back(owner_, size_);
}

Result<> SpillFile::write(std::size_t at, std::string_view bytes) {
  CHECK(mapped_ == nullptr && at <= size_);
  const auto more = at + bytes.size() - std::min(at + bytes.size(), size_);
  if (disk_ != nullptr)
    if (auto taken = disk_->take(owner_, more); !taken) {
      auto error = std::move(taken).error();
      error.code = Code::unavailable;  // Others leave again: the sender waits.
      return std::unexpected(std::move(error));
    }
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto n = ::pwrite(file_.get(), bytes.data() + done, bytes.size() - done,
                            static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      auto failure = cannot("write", fmt::format("{} bytes for a training", bytes.size()));
      if (disk_ != nullptr) disk_->give_back(owner_, more);
      return failure;
    }
    done += static_cast<std::size_t>(n);
  }
  size_ += more;
  return {};
}

Result<> SpillFile::seal() {
  if (mapped_ != nullptr || size_ == 0) return {};
  auto* at = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file_.get(), 0);
  if (at == MAP_FAILED) return cannot("map", fmt::format("{} bytes of a training", size_));
  ::madvise(at, size_, MADV_SEQUENTIAL);
  mapped_ = static_cast<const char*>(at);
  file_.reset();  // The mapping keeps it.
  return {};
}

std::string_view SpillFile::bytes() const {
  CHECK(mapped_ != nullptr || size_ == 0);
  return {mapped_, size_};
}

// Whole pages inside of the part: their neighbours may be in use.
void SpillFile::let_go(std::size_t at, std::size_t length) const {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto from = (at + page - 1) / page * page, to = (at + length) / page * page;
  if (mapped_ == nullptr || from >= to) return;
  ::madvise(const_cast<char*>(mapped_) + from, to - from, MADV_DONTNEED);
}

Result<> ArrivingBytes::write(std::size_t at, std::string_view piece) {
  CHECK(at <= size());
  if (!stays_in_memory(at + piece.size()) && !file_) {
    SOUK_ASSIGN(auto file, SpillFile::make(spill_));
    SOUK_TRY(file->write(0, memory_));
    file_ = std::move(file);
    std::string().swap(memory_);
  }
  if (file_) return file_->write(at, piece);
  memory_.resize(at);
  memory_.append(piece);
  return {};
}

Result<std::shared_ptr<const train::KeptBytes>> ArrivingBytes::finish() {
  if (!file_) return train::kept(std::move(memory_));
  SOUK_TRY(file_->seal());
  return file_;
}

Result<train::Blocks> spilled(train::Blocks blocks, const SpillOptions& spill) {
  std::size_t bytes = 0;
  for (const auto& block : blocks) bytes += block->size() * sizeof(float);
  if (spill.folder.empty() || bytes <= spill.over || blocks.front()->is_elsewhere()) return blocks;
  SOUK_ASSIGN(const auto file, SpillFile::make(spill));
  for (const auto& block : blocks)
    SOUK_TRY(file->write(file->size(), {reinterpret_cast<const char*>(block->data()),
                                        block->size() * sizeof(float)}));
  SOUK_TRY(file->seal());
  std::size_t at = 0;
  for (auto& block : blocks) {
    const auto floats = block->size();
    block = std::make_shared<train::Block>(file, at, floats);
    at += floats * sizeof(float);
  }
  return blocks;
}

}  // namespace souk::hub
