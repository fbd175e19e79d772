#include "server/files/logs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/disk.h"
#include "base/fd.h"
#include "server/core/budgets.h"

namespace souk::server {
namespace {

using base::Code;
using base::fail;

base::Failure cannot(std::string_view what, const std::string& path) {
  return fail(Code::unavailable, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)),
              "look at the server's disk");
}

}  // namespace

std::string Logs::path(base::JobId job, base::LeaseId lease) const {
  return fmt::format("{}/{}/{}", folder_, to_string(job), to_string(lease));
}

void Logs::recall(const std::function<std::optional<LogOwner>(base::JobId)>& owner_of) {
  std::error_code error;
  std::vector<std::filesystem::path> unknown;  // Or over a budget that was lowered.
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const auto job = base::IdTraits<base::JobId>::parse(entry.path().filename().string());
    const auto owner = job ? owner_of(*job) : std::nullopt;
    if (!owner) {
      unknown.push_back(entry.path());
      continue;
    }
    std::uint64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(entry.path(), error))
      bytes += file.file_size(error);
    if (!take(*job, *owner, bytes) && owner->ended) unknown.push_back(entry.path());
  }
  for (const auto& path : unknown) std::filesystem::remove_all(path, error);
}

std::optional<base::JobId> Logs::oldest_ended(std::optional<base::AccountId> account) const {
  const std::lock_guard lock(mutex_);
  std::optional<base::JobId> out;
  for (const auto& [who, jobs] : ended_)
    if ((!account || who == *account) && (!out || *jobs.begin() < *out)) out = *jobs.begin();
  return out;
}

bool Logs::take(base::JobId job, const LogOwner& owner, std::uint64_t bytes) {
  const auto who = party(owner.account);
  const auto limit = budget_.limit();
  while (!budget_.take(who, bytes)) {
    const bool own = bytes > limit.each || budget_.used(who) > limit.each - bytes;
    const auto oldest = oldest_ended(own ? std::optional(owner.account) : std::nullopt);
    if (!oldest || *oldest == job) return false;
    forget(*oldest);
  }
  const std::lock_guard lock(mutex_);
  auto& log = jobs_[job];
  log.owner = owner;
  log.bytes += bytes;
  if (owner.ended) ended_[owner.account].insert(job);
  return true;
}

void Logs::ended(base::JobId job) {
  const std::lock_guard lock(mutex_);
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return;
  it->second.owner.ended = true;
  ended_[it->second.owner.account].insert(job);
}

base::Result<std::int64_t> Logs::append(base::JobId job, base::LeaseId lease, const LogOwner& owner,
                                        std::int64_t offset, std::string_view text) {
  SOUK_TRY(base::check_reserve(folder_, text.size(), reserve_, "logs"));
  const auto name = path(job, lease);
  std::error_code ignored;  // Opening says it better.
  std::filesystem::create_directories(std::filesystem::path(name).parent_path(), ignored);
  const base::Fd file(::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) return cannot("open the log", name);
  if (offset < 0 || offset > status.st_size)
    return fail(Code::conflict, fmt::format("the log has {} bytes, not {}", status.st_size, offset),
                "go on from there", "offset");
  text = text.substr(0, static_cast<std::size_t>(std::max<std::int64_t>(0, kMost - offset)));
  const auto growth = std::max<std::int64_t>(0, offset + std::ssize(text) - status.st_size);
  if (growth > 0 && !take(job, owner, static_cast<std::uint64_t>(growth))) return status.st_size;
  for (std::size_t done = 0; done < text.size();) {
    const auto n = ::pwrite(file.get(), text.data() + done, text.size() - done,
                            offset + static_cast<std::int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot("write the log", name);
    done += static_cast<std::size_t>(n);
  }
  return std::max<std::int64_t>(status.st_size, offset + std::ssize(text));
}

base::Result<std::string> Logs::read(base::JobId job, base::LeaseId lease,
                                     std::int64_t from) const {
  const auto name = path(job, lease);
  const base::Fd file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::string();
  if (!file) return cannot("open the log", name);
  // The system refuses to read where no file reaches.
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return cannot("read the log", name);
  if (from >= facts.st_size) return std::string();
  std::string out(kMostRead, '\0');
  const auto n = ::pread(file.get(), out.data(), out.size(), std::max<std::int64_t>(0, from));
  if (n < 0) return cannot("read the log", name);
  out.resize(static_cast<std::size_t>(n));
  return out;
}

void Logs::forget(base::JobId job) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto node = jobs_.extract(job)) {
      const auto& [owner, bytes] = node.mapped();
      budget_.give_back(party(owner.account), bytes);
      if (const auto it = ended_.find(owner.account); it != ended_.end()) {
        it->second.erase(job);
        if (it->second.empty()) ended_.erase(it);
      }
    }
  }
  std::error_code ignored;  // What stays is bounded by the disk's owner, and harmless.
  std::filesystem::remove_all(fmt::format("{}/{}", folder_, to_string(job)), ignored);
}

}  // namespace souk::server
