#include "server/files/open_blobs.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "base/disk.h"
#include "base/file.h"
#include "base/text.h"
#include "blob/disk_store.h"
#include "blob/files.h"
#include "blob/s3/bucket_store.h"

namespace souk::server {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;
using base::Result;

// 50 GiB, or half of what the disk has for files: what is free and what they take already.
std::uint64_t usual_bytes(const std::string& folder, std::uint64_t taken) {
  constexpr std::uint64_t kUsual = 50ull << 30;
  const auto disk = base::disk_space(folder);
  return disk ? std::min(kUsual, (disk->free_bytes + taken) / 2) : kUsual;
}

// Which bucket the folder's files are in, and that it is this one.
Result<> check_bucket(const std::string& folder, const std::string& bucket) {
  const auto path = folder + "/blobs.bucket";
  const auto text = base::read_file(path, "").value_or("");
  const std::string known(base::trim(text));
  if (!known.empty() && known != bucket)
    return fail(Code::invalid,
                fmt::format("the files of this market are in {}, {}", known,
                            bucket.empty() ? "and there is no --blobs that says so"
                                           : "and --blobs says " + bucket),
                fmt::format("give --blobs {}; or, if they were copied to where you want them, "
                            "remove {}",
                            known, path));
  if (known.empty() && !bucket.empty()) SOUK_TRY(blob::replace_file(path, bucket + "\n"));
  return {};
}

// What is left of a store in the folder; nothing if there is none.
Result<std::unique_ptr<blob::DiskStore>> old_store(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return nullptr;
  SOUK_ASSIGN(auto out, blob::DiskStore::open(path));
  if (out->count() == 0) return nullptr;
  return out;
}

Result<std::unique_ptr<blob::Store>> open_bucket(const std::string& folder, const BlobOptions& o,
                                                 const base::Clock& clock) {
  SOUK_ASSIGN(const auto address, blob::parse_s3(o.bucket));
  SOUK_TRY(check_bucket(folder, address.name()));
  SOUK_ASSIGN(auto bucket, blob::Bucket::make(address, o.key, clock));
  SOUK_ASSIGN(auto cache,
              blob::DiskStore::open(folder + "/blobs.cache", {.reserve_bytes = o.reserve_bytes}));
  cache->set_max_bytes(o.cache_bytes.value_or(usual_bytes(folder, cache->bytes())));
  SOUK_ASSIGN(auto old, old_store(folder + "/blobs"));
  blob::BucketStore::Options limits;
  if (o.max_bytes) limits.max_bytes = *o.max_bytes;
  SOUK_ASSIGN(auto out,
              blob::BucketStore::open(std::move(bucket), std::move(cache), std::move(old), limits));
  const auto figures = out->figures();
  spdlog::info("files are in {}: {} chunks of {}", address.name(), figures.chunks,
               base::bytes_text(figures.bytes));
  if (figures.to_move > 0)
    spdlog::info("{} chunks in {}/blobs are moved there meanwhile", figures.to_move, folder);
  return out;
}

}  // namespace

Result<std::unique_ptr<blob::Store>> open_blobs(const std::string& folder, const BlobOptions& o,
                                                const base::Clock& clock) {
  if (!o.bucket.empty()) return open_bucket(folder, o, clock);
  SOUK_TRY(check_bucket(folder, ""));
  SOUK_ASSIGN(auto out, blob::Store::open(folder + "/blobs",
                                          {.sync = o.sync, .reserve_bytes = o.reserve_bytes}));
  out->set_max_bytes(o.max_bytes.value_or(usual_bytes(folder, out->bytes())));
  return out;
}

}  // namespace souk::server
