#include "provider/intents.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/hash.h"
#include "wire/json.h"

namespace souk::provider {
namespace {

using base::Code;
using base::Fd;

base::Failure trouble(std::string_view what, const std::string& path) {
  return base::fail(Code::unavailable, fmt::format("cannot {} {}: {}", what, path, strerror(errno)),
                    "choose another place with --state");
}

std::string checksum(std::string_view json) { return to_string(base::blake2b(json)).substr(0, 16); }

std::string line_of(const Record& record) {
  std::string json;
  wire::write_json(json, record);
  return fmt::format("{} {}\n", checksum(json), json);
}

struct Content {
  Fleet fleet;
  std::size_t good_bytes = 0;  // All after it is a line that was cut off.
  std::size_t records = 0;
};

Result<Content> read_content(const std::string& path, std::string_view text) {
  Content out;
  while (out.good_bytes < text.size()) {
    const auto end = text.find('\n', out.good_bytes);
    const auto line = text.substr(out.good_bytes, end - out.good_bytes);
    const bool whole = end != text.npos && line.size() > 17 && line[16] == ' ' &&
                       checksum(line.substr(17)) == line.substr(0, 16);
    if (!whole) {
      if (end == text.npos || end + 1 == text.size()) return out;
      return base::fail(Code::damaged,
                        fmt::format("{}: record {} is damaged", path, out.records + 1),
                        "find what runs with the provider's own tools, then remove the file");
    }
    auto record = wire::from_json<Record>(line.substr(17));
    if (!record) return located(Result<Content>(std::unexpected(record.error())), path);
    apply(out.fleet, *record);
    ++out.records;
    out.good_bytes = end + 1;
  }
  return out;
}

Result<std::string> read_text(const std::string& path, int fd) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return trouble("read", path);
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    const auto n = ::pread(fd, text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return trouble("read", path);
    if (n == 0) break;
    at += static_cast<std::size_t>(n);
  }
  text.resize(at);
  return text;
}

Result<> write_all(const std::string& path, int fd, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return trouble("write", path);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  if (::fsync(fd) != 0) return trouble("write", path);
  return {};
}

// A file whose name is not on the disk is gone with the power.
Result<> sync_folder(const std::string& folder) {
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return trouble("write", folder);
  return {};
}

Result<Fd> open_log(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd) return trouble("open", path);
  return fd;
}

// Beside the old file, and in its place once it is whole.
Result<Fd> write_anew(const std::string& folder, const std::string& path, const Fleet& fleet,
                      Time now) {
  const auto beside = path + ".new";
  std::string text;
  for (const auto& record : shortened(fleet, now)) text += line_of(record);
  {
    const Fd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!fd) return trouble("open", beside);
    SOUK_TRY(write_all(beside, fd.get(), text));
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) return trouble("replace", path);
  SOUK_TRY(sync_folder(folder));
  return open_log(path);
}

std::string log_path(const std::string& folder) { return folder + "/intents.log"; }

}  // namespace

Result<std::unique_ptr<IntentFile>> IntentFile::open(const std::string& folder, Fleet& fleet,
                                                     Time now) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || ::chmod(folder.c_str(), 0700) != 0) return trouble("make", folder);
  const auto lock_path = folder + "/lock";
  Fd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return trouble("open", lock_path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return base::fail(Code::conflict, fmt::format("another process provides for {}", folder),
                      "end it, or use another --pool");
  const auto path = log_path(folder);
  SOUK_ASSIGN(auto file, open_log(path));
  SOUK_ASSIGN(const auto text, read_text(path, file.get()));
  SOUK_ASSIGN(auto content, read_content(path, text));
  if (content.good_bytes < text.size() &&
      (::ftruncate(file.get(), static_cast<off_t>(content.good_bytes)) != 0 ||
       ::fsync(file.get()) != 0))
    return trouble("write", path);
  fleet = std::move(content.fleet);
  SOUK_TRY(sync_folder(folder));
  if (content.records > kShortenAfter) {
    SOUK_ASSIGN(file, write_anew(folder, path, fleet, now));
    SOUK_ASSIGN(const auto again, read_text(path, file.get()));
    SOUK_ASSIGN(auto shorter, read_content(path, again));
    fleet = std::move(shorter.fleet);
  }
  return std::unique_ptr<IntentFile>(new IntentFile(std::move(lock), std::move(file), path));
}

Result<> IntentFile::append(const Record& record) {
  if (failed_)
    return base::fail(Code::unavailable, path_ + " failed before", "start the provider again");
  auto done = write_all(path_, file_.get(), line_of(record));
  failed_ = !done;
  return done;
}

Result<Fleet> read_intents(const std::string& folder) {
  const auto path = log_path(folder);
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return trouble("open", path);
  SOUK_ASSIGN(const auto text, read_text(path, file.get()));
  SOUK_ASSIGN(auto content, read_content(path, text));
  return std::move(content.fleet);
}

}  // namespace souk::provider
