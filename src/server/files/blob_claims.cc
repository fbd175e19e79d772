#include "server/files/blob_claims.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "blob/files.h"

// The file: records of 48 bytes, one for each claim, in the order in which they were made: the
// chunk's name (32), the account (8, little-endian) and the size of the encoded chunk (8). What a
// crash cut off at its end is ignored. Claims that ended stay in it until it is written anew, when
// the server starts.

namespace souk::server {
namespace {

constexpr std::size_t kRecord = 48;
constexpr std::size_t kStale = 10'000;  // Records, beside as many as there are good ones.
constexpr int kMostLooks = 10'000;      // At chunks in use, before a new one is refused.

std::string record_of(base::AccountId account, const blob::Digest& name, std::uint64_t bytes) {
  std::string out(reinterpret_cast<const char*>(name.bytes.data()), name.bytes.size());
  for (const std::uint64_t number : {std::uint64_t{account.value}, bytes})
    for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(number >> shift);
  return out;
}

std::uint64_t number_at(std::string_view bytes) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < 8; ++i)
    out |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return out;
}

}  // namespace

BlobClaims::BlobClaims(std::string path, blob::Store& store, Budgets& budgets,
                       const base::Clock& clock)
    : path_(std::move(path)), store_(store), budgets_(budgets), clock_(clock) {
  store_.on_dropped([this](const blob::Digest& name) { on_dropped(name); });
}

BlobClaims::~BlobClaims() { store_.on_dropped({}); }

void BlobClaims::recall() {
  const auto text = base::read_file(path_, "").value_or("");
  for (std::string_view left = text; left.size() >= kRecord; left.remove_prefix(kRecord)) {
    blob::Digest name;
    std::memcpy(name.bytes.data(), left.data(), name.bytes.size());
    const base::AccountId account(number_at(left.substr(32)));
    const auto bytes = number_at(left.substr(40));
    if (bytes > blob::kMostEncodedBytes || !store_.knows(name) || claimed(account, {&name, 1}))
      continue;
    // Limits that were lowered since: what is over them is nobody's, and goes with time.
    if (!take(account, bytes)) continue;
    // As if used just now: a restart must not make room of what was sent a minute ago.
    add(account, name, bytes, clock_.now());
  }
  const std::lock_guard lock(file_mutex_);
  rewrite();
}

// On a full disk the file stays as it is, and what it says too much is found out again next time.
void BlobClaims::rewrite() {
  std::string bytes;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [account, claims] : by_account_)
      for (const auto& claim : claims) bytes += record_of(account, claim.name, claim.bytes);
  }
  records_ = bytes.size() / kRecord;
  if (const auto done = blob::replace_file(path_, bytes); !done)
    spdlog::warn("claims of files: {}", done.error().message);
  file_ = base::Fd(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
}

void BlobClaims::write_down(base::AccountId account, const blob::Digest& name,
                            std::uint64_t bytes) {
  const std::lock_guard lock(file_mutex_);
  // What cannot be written is nobody's after a restart.
  if (file_) (void)blob::write_all(file_.get(), record_of(account, name, bytes), path_);
  if (++records_ > 2 * count() + kStale) rewrite();
}

base::Result<> BlobClaims::take(base::AccountId account, std::uint64_t bytes) {
  const auto who = party(account);
  SOUK_TRY(budgets_.blob_bytes.take(who, bytes));
  auto counted = budgets_.blob_chunks.take(who, 1);
  if (!counted) budgets_.blob_bytes.give_back(who, bytes);
  return counted;
}

void BlobClaims::give_back(const Claimant& claimant) {
  const auto who = party(claimant.account);
  budgets_.blob_bytes.give_back(who, claimant.at->bytes);
  budgets_.blob_chunks.give_back(who, 1);
  const auto claims = by_account_.find(claimant.account);
  claims->second.erase(claimant.at);
  if (claims->second.empty()) by_account_.erase(claims);
}

const BlobClaims::Claimant* BlobClaims::find(base::AccountId account,
                                             const blob::Digest& name) const {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return nullptr;
  const auto at = std::ranges::find(it->second, account, &Claimant::account);
  return at == it->second.end() ? nullptr : &*at;
}

bool BlobClaims::add(base::AccountId account, const blob::Digest& name, std::uint64_t bytes,
                     base::Time used) {
  const std::lock_guard lock(mutex_);
  if (find(account, name) != nullptr) return false;
  auto& claims = by_account_[account];
  claims.push_back({name, bytes, used});
  by_name_[name].push_back({account, std::prev(claims.end())});
  return true;
}

void BlobClaims::remove(base::AccountId account, const blob::Digest& name) {
  const std::lock_guard lock(mutex_);
  const auto* claimant = find(account, name);
  if (claimant == nullptr) return;
  give_back(*claimant);
  const auto it = by_name_.find(name);
  std::erase_if(it->second, [&](const Claimant& c) { return c.account == account; });
  if (it->second.empty()) by_name_.erase(it);
}

void BlobClaims::on_dropped(const blob::Digest& name) {
  const std::lock_guard lock(mutex_);
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return;
  for (const auto& claimant : it->second) give_back(claimant);
  by_name_.erase(it);
}

bool BlobClaims::has(base::AccountId account, const blob::Digest& name) {
  {
    const std::lock_guard lock(mutex_);
    const auto* claimant = find(account, name);
    if (claimant == nullptr) return false;
    claimant->at->used = clock_.now();
    auto& claims = by_account_[account];
    claims.splice(claims.end(), claims, claimant->at);
  }
  return store_.has(name);  // If it is gone, the claim goes with it.
}

bool BlobClaims::claimed(base::AccountId account, std::span<const blob::Digest> names) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(names,
                             [&](const auto& name) { return find(account, name) != nullptr; });
}

base::Result<> BlobClaims::make_room(base::AccountId account, std::uint64_t bytes) {
  const auto who = party(account);
  for (int looks = 0;; ++looks) {
    auto fits = budgets_.blob_bytes.would_take(who, bytes);
    if (fits) fits = budgets_.blob_chunks.would_take(who, 1);
    if (fits || looks == kMostLooks) return fits;
    blob::Digest oldest;
    bool shared = false;
    {
      const std::lock_guard lock(mutex_);
      const auto it = by_account_.find(account);
      if (it == by_account_.end() || it->second.front().used + kYoung > clock_.now()) return fits;
      auto& claims = it->second;
      oldest = claims.front().name;
      shared = by_name_[oldest].size() > 1;
      claims.front().used = clock_.now();  // If it must stay, then because it is in use.
      claims.splice(claims.end(), claims, claims.begin());
    }
    if (shared) {
      remove(account, oldest);  // Others have brought it too: it stays for them.
    } else {
      SOUK_TRY(store_.drop(oldest));
    }
  }
}

base::Result<> BlobClaims::put(base::AccountId account, const blob::Digest& name,
                               std::string_view encoded) {
  // What is no chunk of that name never counts.
  SOUK_TRY(blob::decode(encoded, name));
  if (has(account, name)) return {};
  SOUK_TRY(make_room(account, encoded.size()));
  SOUK_TRY(take(account, encoded.size()));
  // Before the chunk is there: it may be dropped as soon as it is, and the claim with it.
  const bool fresh = add(account, name, encoded.size(), clock_.now());
  if (!fresh) {  // Sent twice at the same time.
    budgets_.blob_bytes.give_back(party(account), encoded.size());
    budgets_.blob_chunks.give_back(party(account), 1);
  }
  if (auto kept = store_.put(name, encoded); !kept) {
    if (fresh) remove(account, name);
    return std::unexpected(std::move(kept).error());
  }
  if (fresh) write_down(account, name, encoded.size());
  return {};
}

base::Result<> BlobClaims::claim(base::AccountId account, const std::vector<blob::Digest>& names) {
  for (const auto& name : names) {
    const auto bytes = store_.size_of(name);
    if (!bytes || has(account, name)) continue;
    SOUK_TRY(make_room(account, *bytes));
    SOUK_TRY(take(account, *bytes));
    if (!add(account, name, *bytes, clock_.now())) {
      budgets_.blob_bytes.give_back(party(account), *bytes);
      budgets_.blob_chunks.give_back(party(account), 1);
      continue;
    }
    if (store_.has(name))
      write_down(account, name, *bytes);
    else
      remove(account, name);  // Dropped meanwhile.
  }
  return {};
}

void BlobClaims::hand_over(base::AccountId from, base::AccountId to,
                           const std::vector<blob::Digest>& names) {
  if (from == to) return;
  for (const auto& name : names) {
    // Only what the lender brought itself: a name alone gives nobody a right.
    if (!claimed(from, {&name, 1})) continue;
    if (!claim(to, {name})) return;
    const std::lock_guard lock(mutex_);
    if (const auto* claimant = find(from, name)) {
      auto& claims = by_account_[from];
      claimant->at->used = base::Time();
      claims.splice(claims.begin(), claims, claimant->at);
    }
  }
}

std::size_t BlobClaims::count() const {
  const std::lock_guard lock(mutex_);
  std::size_t out = 0;
  for (const auto& [account, claims] : by_account_) out += claims.size();
  return out;
}

}  // namespace souk::server
