#include "server/files/trainer_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/hash.h"

namespace souk::server {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr auto kTrainerHint = "`make package` makes one; give its path with --trainer, or `none`";
constexpr std::size_t kHashedAtOnce = 1 << 20;
constexpr std::string_view kZstdBeginning = "\x28\xb5\x2f\xfd";
constexpr std::string_view kGzipBeginning = "\x1f\x8b\x08";

// Its last name may be gone, or another file may have its name: it is still the same file.
bool same_content(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

base::Failure unreadable_trainer(const std::string& path) {
  return fail(Code::not_found,
              fmt::format("the trainer {} cannot be read: {}", path, std::strerror(errno)),
              kTrainerHint);
}

}  // namespace

Result<std::shared_ptr<const TrainerArchive>> TrainerArchive::open(const std::string& path) {
  auto out = std::make_shared<TrainerArchive>();
  out->path_ = path;
  out->file_ = base::Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!out->file_ || ::fstat(out->file_.get(), &out->status_) != 0) return unreadable_trainer(path);
  if (!S_ISREG(out->status_.st_mode))
    return fail(Code::invalid, fmt::format("the trainer {} is no file", path), kTrainerHint);
  out->bytes_ = static_cast<std::uint64_t>(out->status_.st_size);
  SOUK_TRY(out->hash());
  return out;
}

Result<> TrainerArchive::hash() {
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  for (std::uint64_t at = 0;;) {
    SOUK_ASSIGN(const auto piece, read(at, kHashedAtOnce));
    if (at == 0 && !piece.starts_with(kZstdBeginning) && !piece.starts_with(kGzipBeginning))
      return fail(Code::invalid,
                  fmt::format("{} is not a trainer: it is no .tar.zst or .tar.gz", path_),
                  kTrainerHint);
    if (piece.empty()) break;
    crypto_hash_sha256_update(&state, reinterpret_cast<const unsigned char*>(piece.data()),
                              piece.size());
    at += piece.size();
  }
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256_final(&state, hash.data());
  sha256_ = base::to_hex({reinterpret_cast<const char*>(hash.data()), hash.size()});
  return {};
}

Result<std::string> TrainerArchive::read(std::uint64_t at, std::size_t most) const {
  std::string out(std::min<std::uint64_t>(most, bytes_ - std::min(at, bytes_)), '\0');
  std::size_t have = 0;
  while (have < out.size()) {
    const auto got =
        ::pread(file_.get(), out.data() + have, out.size() - have, static_cast<off_t>(at + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable_trainer(path_);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  struct stat now = {};
  if (have == out.size() && ::fstat(file_.get(), &now) == 0 && same_content(status_, now))
    return out;
  return fail(Code::unavailable, fmt::format("{} was changed while it was read", path_),
              "ask again in a moment");
}

Result<std::shared_ptr<const TrainerArchive>> TrainerFile::get() {
  const std::lock_guard lock(mutex_);
  if (path_.empty()) return archive_;
  struct stat now = {};
  const bool same = archive_ != nullptr && ::stat(path_.c_str(), &now) == 0 &&
                    same_content(archive_->status_, now);
  if (!same) {
    archive_.reset();
    SOUK_ASSIGN(archive_, TrainerArchive::open(path_));
  }
  return archive_;
}

}  // namespace souk::server
