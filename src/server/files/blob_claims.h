#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/id.h"
#include "blob/store.h"
#include "server/core/budgets.h"

namespace souk::server {

// Who brought which chunks, so that each account pays for its own out of its budgets (blob-bytes,
// blob-chunks) and may read what it brought. The same content lies on the disk once; everybody who
// sent it has a claim on it, and is charged for it. A claim ends when its chunk makes room for
// others, and what it took is given back.
//
// When a budget is used up, what its account has not used for an hour and no live job needs makes
// room for what comes; only then is an upload refused.
//
// Kept in a file beside the store (docs/decisions/0029-blob-claims.md), which a crash may cut
// short: a chunk without a claim is nobody's, ages like all others, and is claimed by the next who
// sends it. Any thread; must not outlive the store.
class BlobClaims {
 public:
  static constexpr base::Duration kYoung = base::hours(1);

  // The file is at `path`.
  BlobClaims(std::string path, blob::Store& store, Budgets& budgets, const base::Clock& clock);
  ~BlobClaims();
  BlobClaims(const BlobClaims&) = delete;
  BlobClaims& operator=(const BlobClaims&) = delete;

  // Reads the file, and writes it anew without the chunks that are gone. Once, when the budgets
  // have their limits; without it nothing is written down.
  void recall();

  // Stores a chunk for `account`. Errors as Store::put(), and exhausted when a budget is used up.
  [[nodiscard]] base::Result<> put(base::AccountId account, const blob::Digest& name,
                                   std::string_view encoded);
  // Claims chunks that are in the store already, such as those this server packed for `account`.
  // An error: a budget is used up. What was claimed by then stays so.
  base::Result<> claim(base::AccountId account, const std::vector<blob::Digest>& names);
  // What a lender's machine brought of a borrower's results and checkpoints is the borrower's too
  // from then on, as far as it fits; the lender's own claim goes as soon as it needs room.
  void hand_over(base::AccountId from, base::AccountId to, const std::vector<blob::Digest>& names);
  // Has it been brought by `account`, and is it there? Counts as a use.
  [[nodiscard]] bool has(base::AccountId account, const blob::Digest& name);
  // Has all of that been brought by `account`? Asks no disk: for the core thread too, if it is
  // little.
  [[nodiscard]] bool claimed(base::AccountId account, std::span<const blob::Digest> names) const;
  [[nodiscard]] std::size_t count() const;

 private:
  struct Claim {
    blob::Digest name;
    std::uint64_t bytes;
    base::Time used;
  };
  using Claims = std::list<Claim>;  // Of one account, least recently used first.
  struct Claimant {
    base::AccountId account;
    Claims::iterator at;
  };

  // Appends a claim to the file, which is written anew when most of it is out of date.
  void write_down(base::AccountId account, const blob::Digest& name, std::uint64_t bytes);
  void rewrite();
  base::Result<> take(base::AccountId account, std::uint64_t bytes);
  // Drops what the account has not used lately, until `bytes` more fit. Takes no lock of its own
  // across calls of the store.
  base::Result<> make_room(base::AccountId account, std::uint64_t bytes);
  bool add(base::AccountId account, const blob::Digest& name, std::uint64_t bytes, base::Time used);
  void remove(base::AccountId account, const blob::Digest& name);
  void on_dropped(const blob::Digest& name);
  // These require mutex_.
  [[nodiscard]] const Claimant* find(base::AccountId account, const blob::Digest& name) const;
  void give_back(const Claimant& claimant);

  const std::string path_;
  blob::Store& store_;
  Budgets& budgets_;
  const base::Clock& clock_;
  std::mutex file_mutex_;  // Before mutex_.
  base::Fd file_;
  std::size_t records_ = 0;  // In the file.
  mutable std::mutex mutex_;
  std::map<base::AccountId, Claims> by_account_;
  std::unordered_map<blob::Digest, std::vector<Claimant>, blob::DigestHash> by_name_;
};

}  // namespace souk::server
