#include "blob/disk_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <tuple>

#include "base/check.h"
#include "base/disk.h"

namespace souk::blob {
namespace {

constexpr mode_t kOwnFolder = 0700;
constexpr mode_t kOwnFile = 0600;
constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kAbandoned_ns = 3'600 * kSecond_ns;
constexpr std::size_t kMostNames = 10'000'000;  // In one of 256 folders; only against nonsense.
constexpr std::string_view kTemporary = "tmp-";

std::string fan_of(const Digest& name) { return to_string(name).substr(0, 2); }
std::string file_of(const Digest& name) { return to_string(name).substr(2); }
std::string place_of(const Digest& name) { return to_string(name).insert(2, "/"); }

std::int64_t ns_of(const timespec& t) {
  return static_cast<std::int64_t>(t.tv_sec) * kSecond_ns + t.tv_nsec;
}

std::int64_t clock_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return ns_of(now);
}

// Different in each call and process; what still exists by chance is refused by O_EXCL.
std::string temporary_name() {
  static std::atomic<std::uint64_t> counter;
  return fmt::format("{}{}-{}-{}", kTemporary, ::getpid(), clock_ns(), ++counter);
}

base::Failure absent(const Digest& name, const std::string& path) {
  return base::fail(base::Code::not_found,
                    fmt::format("chunk {} is not in the store {}", to_string(name), path));
}

}  // namespace

DiskStore::DiskStore(std::string path, const StoreOptions& options, Fd root)
    : path_(std::move(path)), options_(options), root_(std::move(root)) {}

Result<std::unique_ptr<DiskStore>> DiskStore::open(const std::string& path,
                                                   const StoreOptions& options) {
  if (options.most_chunks == 0)
    return base::fail(base::Code::invalid, "a store of at most 0 chunks can hold nothing",
                      "most_chunks of at least 1");
  if (::mkdir(path.c_str(), kOwnFolder) != 0 && errno != EEXIST)
    return system_failure("create the folder", path);
  Fd root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return system_failure("open the folder", path);
  std::unique_ptr<DiskStore> store(new DiskStore(path, options, std::move(root)));
  SOUK_TRY(store->load());
  return store;
}

Result<> DiskStore::load() {
  std::vector<Lru::Item> found;
  for (int fan = 0; fan < 256; ++fan) SOUK_TRY(load_fan(fmt::format("{:02x}", fan), found));
  std::ranges::sort(found, {}, [](const auto& i) { return std::tie(i.used_ns, i.name); });
  for (const auto& item : found) list(item);
  if (!found.empty()) last_ns_ = found.back().used_ns;
  const std::lock_guard lock(mutex_);
  while (lru_.count() > options_.most_chunks) SOUK_TRY(evict_oldest());
  return {};
}

Result<> DiskStore::load_fan(const std::string& fan, std::vector<Lru::Item>& found) {
  const auto path = path_ + "/" + fan;
  const auto folder = open_folder(root_.get(), fan, path);
  if (!folder && folder.error().code == base::Code::not_found) return {};
  if (!folder) return std::unexpected(folder.error());
  SOUK_ASSIGN(const auto names, list_folder(folder->get(), kMostNames, path));
  for (const auto& name : names) {
    struct stat status{};
    // Gone meanwhile: another process is at work here too.
    if (::fstatat(folder->get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(status.st_mode)) continue;
    const auto used = ns_of(status.st_mtim);
    const auto digest = parse_digest(fan + name);
    const bool abandoned = name.starts_with(kTemporary) && clock_ns() - used > kAbandoned_ns;
    // An encoded chunk has at least its tag: an empty file is what a power cut left.
    if (abandoned || (digest && status.st_size == 0)) {
      ::unlinkat(folder->get(), name.c_str(), 0);
    } else if (digest) {
      found.push_back({*digest, static_cast<std::uint64_t>(status.st_size), used});
    }
  }
  return {};
}

bool DiskStore::has(const Digest& name) const {
  const std::lock_guard lock(mutex_);
  return touch(name);
}

bool DiskStore::knows(const Digest& name) const {
  const std::lock_guard lock(listed_mutex_);
  return listed_.contains(name);
}

std::optional<std::uint64_t> DiskStore::size_of(const Digest& name) const {
  const std::lock_guard lock(mutex_);
  return lru_.bytes_of(name);
}

StoreFigures DiskStore::figures() const {
  const std::lock_guard lock(listed_mutex_);
  return {.chunks = listed_.size(), .bytes = listed_bytes_};
}

void DiskStore::list(const Lru::Item& item) const {
  const auto before = lru_.bytes_of(item.name);
  lru_.use(item);
  if (before == item.bytes) return;
  const std::lock_guard lock(listed_mutex_);
  listed_.insert(item.name);
  listed_bytes_ += item.bytes - before.value_or(0);
}

void DiskStore::unlist(const Digest& name) const {
  const auto bytes = lru_.bytes_of(name);
  if (!bytes) return;
  lru_.erase(name);
  {
    const std::lock_guard lock(listed_mutex_);
    listed_.erase(name);
    listed_bytes_ -= *bytes;
  }
  if (on_dropped_) on_dropped_(name);
}

// The disk is asked each time, as another process may have added or evicted it.
bool DiskStore::touch(const Digest& name) const {
  const auto place = place_of(name);
  const auto now = now_ns();
  timespec when{};
  when.tv_sec = now / kSecond_ns;
  when.tv_nsec = now % kSecond_ns;
  const std::array times{when, when};
  struct stat status{};
  if (::fstatat(root_.get(), place.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(status.st_mode)) {
    unlist(name);
    return false;
  }
  // If this fails the chunk is only evicted earlier than need be.
  ::utimensat(root_.get(), place.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
  list({name, static_cast<std::uint64_t>(status.st_size), now});
  return true;
}

// Strictly increasing, so that the order of use survives on disk even within one clock tick.
std::int64_t DiskStore::now_ns() const { return last_ns_ = std::max(clock_ns(), last_ns_ + 1); }

Result<bool> DiskStore::keep(const Digest& name, const Encoded& encoded) {
  const auto bytes = 1 + encoded.body.size();
  {
    const std::lock_guard lock(mutex_);
    if (touch(name)) return false;
    SOUK_TRY(make_room(bytes));
    reserved_bytes_ += bytes;
    ++reserved_count_;
  }
  // Unlocked, as this waits for the disk. Two threads with one chunk both write it: harmless.
  auto written = write(name, encoded);
  const std::lock_guard lock(mutex_);
  reserved_bytes_ -= bytes;
  --reserved_count_;
  if (!written) return std::unexpected(std::move(written).error());
  touch(name);
  return true;
}

Result<> DiskStore::make_room(std::uint64_t bytes) {
  SOUK_TRY(base::check_reserve(path_, reserved_bytes_ + bytes, options_.reserve_bytes, "files"));
  const auto staying = lru_.pinned_bytes() + reserved_bytes_ + bytes;
  if (staying > options_.max_bytes)
    return base::fail(
        base::Code::exhausted,
        fmt::format("a chunk of {} bytes does not fit into the store {}: {} of its {} bytes are in "
                    "use and must stay",
                    bytes, path_, lru_.pinned_bytes() + reserved_bytes_, options_.max_bytes),
        "a larger limit for the store, or less at a time");
  while (lru_.bytes() + reserved_bytes_ + bytes > options_.max_bytes) SOUK_TRY(evict_oldest());
  while (lru_.count() + reserved_count_ + 1 > options_.most_chunks) SOUK_TRY(evict_oldest());
  return {};
}

Result<> DiskStore::evict_oldest() {
  // At most one look at each chunk: another process may use them as fast as we look.
  for (std::size_t looks = lru_.count();; --looks) {
    const auto oldest = lru_.oldest();
    if (!oldest)
      return base::fail(base::Code::exhausted,
                        fmt::format("all {} chunks of the store {} are in use and must stay",
                                    lru_.count(), path_),
                        "a larger limit for the store, or less at a time");
    const auto place = place_of(oldest->name);
    struct stat status{};
    const bool there = ::fstatat(root_.get(), place.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && ns_of(status.st_mtim) > oldest->used_ns && looks > 1) {
      lru_.use({oldest->name, oldest->bytes, ns_of(status.st_mtim)});
      continue;
    }
    return remove(oldest->name);
  }
}

Result<> DiskStore::remove(const Digest& name) {
  const auto place = place_of(name);
  if (::unlinkat(root_.get(), place.c_str(), 0) != 0 && errno != ENOENT)
    return system_failure("remove", path_ + "/" + place);
  unlist(name);
  return {};
}

Result<bool> DiskStore::drop(const Digest& name) {
  const std::lock_guard lock(mutex_);
  if (!lru_.contains(name) || lru_.pinned(name)) return false;
  SOUK_TRY(remove(name));
  return true;
}

Result<std::uint64_t> DiskStore::clean(std::uint64_t bytes) {
  std::uint64_t freed = 0;
  while (freed < bytes) {
    const std::lock_guard lock(mutex_);  // Taken anew for each, so that others get their turn.
    const auto oldest = lru_.oldest();
    if (!oldest) break;
    SOUK_TRY(remove(oldest->name));
    freed += oldest->bytes;
  }
  return freed;
}

void DiskStore::on_dropped(std::function<void(const Digest& name)> fn) {
  const std::lock_guard lock(mutex_);
  on_dropped_ = std::move(fn);
}

void DiskStore::set_max_bytes(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  options_.max_bytes = bytes;
}

std::uint64_t DiskStore::max_bytes() const {
  const std::lock_guard lock(mutex_);
  return options_.max_bytes;
}

Result<> DiskStore::write(const Digest& name, const Encoded& encoded) const {
  const auto fan = fan_of(name);
  const auto path = path_ + "/" + fan;
  if (::mkdirat(root_.get(), fan.c_str(), kOwnFolder) == 0) {
    if (options_.sync && ::fsync(root_.get()) != 0) return system_failure("sync", path_);
  } else if (errno != EEXIST) {
    return system_failure("create the folder", path);
  }
  SOUK_ASSIGN(const auto folder, open_folder(root_.get(), fan, path));
  const auto temporary = temporary_name();
  auto result = publish(folder.get(), temporary, name, encoded);
  if (!result) ::unlinkat(folder.get(), temporary.c_str(), 0);
  return result;
}

Result<> DiskStore::publish(int fan, const std::string& temporary, const Digest& name,
                            const Encoded& encoded) const {
  const auto path = path_ + "/" + place_of(name);
  const Fd file(::openat(fan, temporary.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwnFile));
  if (!file) return system_failure("create", path);
  SOUK_TRY(write_all(file.get(), {&encoded.tag, 1}, encoded.body, path));
  if (options_.sync && ::fsync(file.get()) != 0) return system_failure("sync", path);
  if (::renameat(fan, temporary.c_str(), fan, file_of(name).c_str()) != 0)
    return system_failure("name", path);
  if (options_.sync && ::fsync(fan) != 0) return system_failure("sync the folder of", path);
  return {};
}

Result<DiskStore::Opened> DiskStore::open_chunk(const Digest& name) const {
  {
    const std::lock_guard lock(mutex_);
    if (!touch(name)) return absent(name, path_);
  }
  const auto place = place_of(name);
  auto path = path_ + "/" + place;
  Fd file(::openat(root_.get(), place.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file && errno == ENOENT) return absent(name, path_);
  if (!file) return system_failure("open", path);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return system_failure("look at", path);
  // One byte more than may be, so that decode() sees that it is too long.
  const auto most =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(status.st_size), kMostEncodedBytes + 1);
  return Opened{std::move(file), most, std::move(path)};
}

Result<Bytes> DiskStore::get(const Digest& name) const {
  SOUK_ASSIGN(const auto chunk, open_chunk(name));
  return read_up_to(chunk.file.get(), chunk.bytes, chunk.path);
}

// The tag is read by itself, so that raw content is read to where it stays.
Result<Bytes> DiskStore::content(const Digest& name) const {
  SOUK_ASSIGN(const auto chunk, open_chunk(name));
  SOUK_ASSIGN(const auto tag, read_up_to(chunk.file.get(), 1, chunk.path));
  SOUK_ASSIGN(auto body, read_up_to(chunk.file.get(), chunk.bytes - tag.size(), chunk.path));
  auto content = tag.empty() ? decode(tag, name) : decode(tag[0], std::move(body), name);
  if (!content && content.error().code == base::Code::damaged) {
    const std::lock_guard lock(mutex_);
    ::unlinkat(root_.get(), place_of(name).c_str(), 0);
    unlist(name);
    content.error().message += fmt::format(" (removed from the store {})", path_);
  }
  return content;
}

void DiskStore::pin_names(std::span<const Digest> names) const {
  const std::lock_guard lock(mutex_);
  lru_.pin(names);
}

void DiskStore::unpin_names(std::span<const Digest> names) const {
  const std::lock_guard lock(mutex_);
  lru_.unpin(names);
}

std::vector<Lru::Item> DiskStore::items() const {
  const std::lock_guard lock(mutex_);
  return lru_.items();
}

std::uint64_t DiskStore::bytes() const {
  const std::lock_guard lock(mutex_);
  return lru_.bytes();
}

std::size_t DiskStore::count() const {
  const std::lock_guard lock(mutex_);
  return lru_.count();
}

}  // namespace souk::blob
