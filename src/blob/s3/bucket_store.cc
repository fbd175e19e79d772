#include "blob/s3/bucket_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>

#include "base/containment.h"

namespace souk::blob {
namespace {

using base::Code;
using base::fail;

constexpr int kListings = 16;  // At a time: one for each first digit of a name.
constexpr std::size_t kMostToRemove = 1'000;
constexpr auto kAfterTrouble = std::chrono::seconds(2);
constexpr auto kRemoval = std::chrono::seconds(10);

std::string key_of(const Digest& name) { return to_string(name).insert(2, "/"); }

std::optional<Digest> name_in(std::string_view key) {
  if (key.size() != 65 || key[2] != '/') return std::nullopt;
  const auto name = parse_digest(std::string(key.substr(0, 2)).append(key.substr(3)));
  return name ? std::optional(*name) : std::nullopt;
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

base::Failure absent(const Digest& name, const Bucket& bucket) {
  return fail(Code::not_found,
              fmt::format("chunk {} is not in {}", to_string(name), bucket.address().name()));
}

// All chunks of the bucket. Other objects there are somebody else's.
Result<std::vector<Lru::Item>> list_all(Bucket& bucket) {
  std::vector<Result<std::vector<Bucket::Object>>> pages(kListings,
                                                         fail(Code::internal, "it was not asked"));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kListings; ++i)
      threads.emplace_back([&, i] {
        pages[i] = base::contained([&] { return bucket.list(fmt::format("{:x}", i)); });
      });
  }
  std::vector<Lru::Item> out;
  for (const auto& page : pages) {
    if (!page) return std::unexpected(page.error());
    for (const auto& object : *page)
      if (const auto name = name_in(object.key))
        out.push_back({*name, object.bytes, object.changed.us * 1'000});
  }
  return out;
}

}  // namespace

BucketStore::BucketStore(std::unique_ptr<Bucket> bucket, std::unique_ptr<DiskStore> cache,
                         std::unique_ptr<DiskStore> old, Options options)
    : bucket_(std::move(bucket)), cache_(std::move(cache)), old_(std::move(old)) {
  index_.options = options;
}

BucketStore::~BucketStore() { bucket_->cancel(); }

Result<std::unique_ptr<BucketStore>> BucketStore::open(std::unique_ptr<Bucket> bucket,
                                                       std::unique_ptr<DiskStore> cache,
                                                       std::unique_ptr<DiskStore> old,
                                                       Options options) {
  std::unique_ptr<BucketStore> out(
      new BucketStore(std::move(bucket), std::move(cache), std::move(old), options));
  SOUK_TRY(out->load());
  out->worker_ =
      std::jthread([store = out.get()](const std::stop_token& stop) { store->work(stop); });
  return out;
}

Result<> BucketStore::load() {
  SOUK_ASSIGN(auto found, list_all(*bucket_));
  Names there;
  for (const auto& item : found) there.insert(item.name);
  if (old_)
    for (const auto& item : old_->items()) {
      if (there.contains(item.name)) {  // It was moved, and then the process ended.
        SOUK_TRY(old_->drop(item.name));
        continue;
      }
      found.push_back(item);
      index_.to_move.insert(item.name);
    }
  // A copy that was used lately says that its chunk was.
  std::unordered_map<Digest, std::int64_t, DigestHash> used;
  for (const auto& item : cache_->items()) used[item.name] = item.used_ns;
  for (auto& item : found)
    if (const auto it = used.find(item.name); it != used.end())
      item.used_ns = std::max(item.used_ns, it->second);
  std::ranges::sort(found, {}, [](const auto& i) { return std::tie(i.used_ns, i.name); });
  const std::lock_guard lock(mutex_);
  for (const auto& item : found) index_.lru.use(item);
  if (!found.empty()) index_.last_ns = found.back().used_ns;
  while (index_.lru.count() > index_.options.most_chunks) evict(index_.lru.oldest()->name);
  return {};
}

void BucketStore::use(const Digest& name, std::uint64_t bytes) const {
  index_.last_ns = std::max(now_ns(), index_.last_ns + 1);
  index_.lru.use({name, bytes, index_.last_ns});
}

void BucketStore::forget(const Digest& name) const {
  if (!index_.lru.contains(name)) return;
  index_.lru.erase(name);
  index_.to_move.erase(name);
  if (index_.on_dropped) index_.on_dropped(name);
}

void BucketStore::evict(const Digest& name) const {
  forget(name);
  index_.to_remove.push_back(name);
  index_.removing.insert(name);
  changed_.notify_all();
}

bool BucketStore::has(const Digest& name) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto bytes = index_.lru.bytes_of(name)) {
      use(name, *bytes);
      return true;
    }
    if (index_.removing.contains(name)) return false;
  }
  const auto bytes = bucket_->size_of(key_of(name));  // Another process may have written it.
  if (!bytes || !*bytes) return false;
  const std::lock_guard lock(mutex_);
  if (index_.removing.contains(name)) return false;
  use(name, **bytes);
  return true;
}

bool BucketStore::knows(const Digest& name) const {
  const std::lock_guard lock(mutex_);
  return index_.lru.contains(name);
}

std::optional<std::uint64_t> BucketStore::size_of(const Digest& name) const {
  const std::lock_guard lock(mutex_);
  return index_.lru.bytes_of(name);
}

Result<> BucketStore::make_room(std::uint64_t bytes) {
  auto& i = index_;
  const auto staying = i.lru.pinned_bytes() + i.reserved_bytes + bytes;
  if (staying > i.options.max_bytes)
    return fail(Code::exhausted,
                fmt::format("a chunk of {} bytes does not fit into {}: {} of its {} bytes are in "
                            "use and must stay",
                            bytes, bucket_->address().name(), staying - bytes, i.options.max_bytes),
                "a larger limit for the store, or less at a time");
  while (i.lru.bytes() + i.reserved_bytes + bytes > i.options.max_bytes ||
         i.lru.count() + i.reserved_count + 1 > i.options.most_chunks) {
    const auto oldest = i.lru.oldest();
    if (!oldest)
      return fail(Code::exhausted,
                  fmt::format("all {} chunks of {} are in use and must stay", i.lru.count(),
                              bucket_->address().name()),
                  "a larger limit for the store, or less at a time");
    if (i.to_remove.size() >= kMostToRemove)
      return fail(Code::unavailable,
                  fmt::format("{} has not removed the {} chunks yet that make room",
                              bucket_->address().name(), i.to_remove.size()),
                  "try again in a few seconds");
    evict(oldest->name);
  }
  return {};
}

Result<bool> BucketStore::keep(const Digest& name, const Encoded& encoded) {
  const auto bytes = 1 + encoded.body.size();
  {
    std::unique_lock lock(mutex_);
    if (std::erase(index_.to_remove, name) > 0) {  // Not yet begun: it is still there.
      index_.removing.erase(name);
      use(name, bytes);
    }
    // What is being removed would be removed after it was written.
    if (!changed_.wait_for(lock, kRemoval, [&] { return !index_.removing.contains(name); }))
      return fail(Code::unavailable, fmt::format("{} does not answer", bucket_->address().name()),
                  "try again");
    if (index_.lru.contains(name)) {
      use(name, bytes);
      return false;
    }
    SOUK_TRY(make_room(bytes));
    index_.reserved_bytes += bytes;
    ++index_.reserved_count;
  }
  std::string whole(1, encoded.tag);
  whole += encoded.body;
  auto written = bucket_->put(key_of(name), whole);
  if (written) (void)cache_->put(name, whole);  // Only a copy: it may as well not be there.
  const std::lock_guard lock(mutex_);
  index_.reserved_bytes -= bytes;
  --index_.reserved_count;
  if (!written) return std::unexpected(std::move(written).error());
  use(name, bytes);
  return true;
}

template <class T, class Fn>
Result<T> BucketStore::read(const Digest& name, Fn fn) const {
  bool in_old = false;
  {
    const std::lock_guard lock(mutex_);
    if (const auto bytes = index_.lru.bytes_of(name)) use(name, *bytes);
    if (index_.removing.contains(name)) return absent(name, *bucket_);
    in_old = index_.to_move.contains(name);
  }
  for (DiskStore* folder : {cache_.get(), in_old ? old_.get() : nullptr}) {
    if (folder == nullptr || !folder->knows(name)) continue;
    auto encoded = folder->get(name);
    if (!encoded) continue;
    auto out = fn(*std::move(encoded));
    if (out) {
      const std::lock_guard lock(mutex_);
      ++index_.figures.from_cache;
      return out;
    }
    (void)folder->drop(name);
  }
  return read_bucket<T>(name, fn);
}

template <class T, class Fn>
Result<T> BucketStore::read_bucket(const Digest& name, Fn fn) const {
  for (int tries = 1;; ++tries) {
    auto encoded = bucket_->get(key_of(name));
    if (!encoded) {
      if (encoded.error().code != Code::not_found)
        return std::unexpected(std::move(encoded).error());
      const std::lock_guard lock(mutex_);
      forget(name);
      return absent(name, *bucket_);
    }
    const auto copy = *encoded;
    auto out = fn(*std::move(encoded));
    if (out) {
      (void)cache_->put(name, copy);
      const std::lock_guard lock(mutex_);
      if (!index_.removing.contains(name)) use(name, copy.size());
      ++index_.figures.from_bucket;
      return out;
    }
    if (out.error().code != Code::damaged) return out;
    if (tries == 1) continue;  // Perhaps it was damaged on its way.
    const std::lock_guard lock(mutex_);
    if (!index_.removing.contains(name)) evict(name);
    out.error().message += fmt::format(" (removed from {})", bucket_->address().name());
    return out;
  }
}

Result<Bytes> BucketStore::get(const Digest& name) const {
  return read<Bytes>(name, [&](Bytes encoded) -> Result<Bytes> {
    SOUK_TRY(verify(encoded, name));
    return encoded;
  });
}

Result<Bytes> BucketStore::content(const Digest& name) const {
  return read<Bytes>(name, [&](const Bytes& encoded) { return decode(encoded, name); });
}

std::string BucketStore::direct_url(const Digest& name, base::Duration lasts) const {
  {
    const std::lock_guard lock(mutex_);
    if (!index_.lru.contains(name) || index_.to_move.contains(name)) return {};
  }
  return bucket_->direct_url(key_of(name), lasts);
}

Result<bool> BucketStore::drop(const Digest& name) {
  const std::lock_guard lock(mutex_);
  if (!index_.lru.contains(name) || index_.lru.pinned(name)) return false;
  evict(name);
  return true;
}

Result<std::uint64_t> BucketStore::clean(std::uint64_t bytes) {
  std::uint64_t freed = 0;
  const std::lock_guard lock(mutex_);
  while (freed < bytes) {
    const auto oldest = index_.lru.oldest();
    if (!oldest) break;
    evict(oldest->name);
    freed += oldest->bytes;
  }
  return freed;
}

void BucketStore::on_dropped(std::function<void(const Digest& name)> fn) {
  const std::lock_guard lock(mutex_);
  index_.on_dropped = std::move(fn);
}

void BucketStore::set_max_bytes(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  index_.options.max_bytes = bytes;
}

std::uint64_t BucketStore::max_bytes() const {
  const std::lock_guard lock(mutex_);
  return index_.options.max_bytes;
}

std::uint64_t BucketStore::bytes() const {
  const std::lock_guard lock(mutex_);
  return index_.lru.bytes();
}

std::size_t BucketStore::count() const {
  const std::lock_guard lock(mutex_);
  return index_.lru.count();
}

StoreFigures BucketStore::figures() const {
  const std::lock_guard lock(mutex_);
  auto out = index_.figures;
  out.in_bucket = true;
  out.chunks = index_.lru.count();
  out.bytes = index_.lru.bytes();
  out.to_move = index_.to_move.size();
  out.to_remove = index_.removing.size();
  return out;
}

void BucketStore::pin_names(std::span<const Digest> names) const {
  const std::lock_guard lock(mutex_);
  index_.lru.pin(names);
}

void BucketStore::unpin_names(std::span<const Digest> names) const {
  const std::lock_guard lock(mutex_);
  index_.lru.unpin(names);
}

void BucketStore::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto busy = [&] { return !index_.to_remove.empty() || !index_.to_move.empty(); };
    if (!changed_.wait(lock, stop, busy)) return;
    const bool removes = !index_.to_remove.empty();
    const auto name = removes ? index_.to_remove.front() : *index_.to_move.begin();
    if (removes) index_.to_remove.pop_front();
    lock.unlock();
    const auto done =
        base::contained([&]() -> Result<> { return removes ? remove(name) : move_one(name); });
    lock.lock();
    index_.figures.trouble = done ? "" : done.error().message;
    if (removes && done) index_.removing.erase(name);
    if (removes && !done) index_.to_remove.push_back(name);
    changed_.notify_all();
    if (!done) changed_.wait_for(lock, stop, kAfterTrouble, [] { return false; });
  }
}

Result<> BucketStore::remove(const Digest& name) {
  (void)cache_->drop(name);
  if (old_) (void)old_->drop(name);
  return bucket_->remove(key_of(name));
}

Result<> BucketStore::move_one(const Digest& name) {
  const auto encoded = old_->get(name);
  const bool good = encoded && verify(*encoded, name);
  if (good) SOUK_TRY(bucket_->put(key_of(name), *encoded));
  {
    const std::lock_guard lock(mutex_);
    index_.to_move.erase(name);
    if (!good) {
      forget(name);
    } else if (!index_.lru.contains(name) && !index_.removing.contains(name)) {
      evict(name);  // It was dropped meanwhile.
    }
  }
  (void)old_->drop(name);
  return {};
}

}  // namespace souk::blob
