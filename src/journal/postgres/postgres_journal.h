#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/hash.h"
#include "base/time.h"
#include "journal/chain.h"
#include "journal/journal.h"
#include "journal/postgres/connection.h"

namespace souk::journal {

struct PostgresOptions {
  bool read_only = false;  // Look without touching; there must be a journal.
  // For how long append() waits for a database that is away, restarting or full.
  base::Duration patience = base::minutes(10);
};

// A journal in a PostgreSQL database (tables: postgres_journal.cc), with the same chain over its
// rows as SqliteJournal has. Owned by one thread at a time.
//
// Any number of processes may open it to write, and none is locked out: a row is appended at the
// number that its writer expects next, and the database takes one row for a number. A writer that
// was overtaken learns so from append(), as a conflict, and has changed nothing.
//
// Where no answer comes, append() connects again and asks again. The number is then free, or taken
// by its own row, which the chain tells from anybody else's: so it knows what happened.
//
// Nothing is ever cut from its end: a transaction is there or not. A row that does not match the
// chain is damage.
class PostgresJournal final : public ChainedJournal {
 public:
  // Opens the journal at `url`, or makes an empty one (a writer only; the database must exist).
  //   unavailable  the database does not answer
  //   not_found    read-only, and there is none
  //   damaged      its last row, or where it begins, does not match the chain
  //   invalid      a URL that cannot be right, or a format that this program does not know
  [[nodiscard]] static base::Result<Opened> open(const std::string& url,
                                                 const PostgresOptions& options = {});

  [[nodiscard]] std::uint64_t next() const override { return end_.next; }
  [[nodiscard]] std::uint64_t first() const override { return start_.next; }
  [[nodiscard]] base::Result<> append(const Batch& batch) override;
  [[nodiscard]] base::Result<> replay(std::uint64_t from, const Visit& visit) override;
  [[nodiscard]] base::Result<std::string> base() override;
  [[nodiscard]] base::Result<> save_base(std::uint64_t first, std::string_view bytes) override;
  [[nodiscard]] base::Result<> archive(const std::string& folder, std::uint64_t until,
                                       const Visit& also) override;
  [[nodiscard]] base::Result<> cut(std::uint64_t first, const base::Digest& base) override;
  [[nodiscard]] base::Result<bool> trim() override;
  [[nodiscard]] base::Result<base::Digest> chain_before(std::uint64_t event) override;
  [[nodiscard]] base::Result<> begin_at(const Cursor& start, std::string_view base) override;
  // In one round trip. Does not wait for a database that is away.
  [[nodiscard]] base::Result<> append_all(std::span<const Batch> batches) override;

  // Visits what others have appended since next(), checked like everything, and moves next() there.
  // After an error next() is after the last batch that was visited.
  [[nodiscard]] base::Result<> read_on(const Visit& visit);
  // Waits until somebody has appended, perhaps, or for so long.
  [[nodiscard]] base::Result<> await_append(base::Duration most);

  // What the tables take on the database's disk.
  [[nodiscard]] base::Result<std::uint64_t> bytes_on_disk();

 private:
  PostgresJournal(PgConnection db, const PostgresOptions& options)
      : options_(options), db_(std::move(db)) {}

  base::Result<> make_tables();
  base::Result<> settle();
  base::Result<> read_start();
  base::Result<std::string> durability();
  base::Result<> check_writable() const;
  template <class Work>
  auto insist(const Work& work) -> std::invoke_result_t<Work>;
  base::Result<> write(const Batch& batch, const base::Digest& chain);
  base::Result<bool> trim_some();
  base::Failure overtaken(std::uint64_t event) const;
  base::Result<std::string> load_base(std::uint64_t first, const base::Digest& digest);
  base::Result<Cursor> seek(std::uint64_t from);
  base::Result<> scan(Cursor& at, std::uint64_t until, const Visit& visit);
  base::Failure damaged(std::uint64_t event, std::string_view what) const;

  const PostgresOptions options_;
  PgConnection db_;
  bool broken_ = false;  // An append failed: nothing more is written.
  Cursor start_;         // Before the oldest row kept.
  base::Digest base_;    // Of the state there; without meaning when nothing was dropped.
  Cursor end_;           // After the last row known.
  Link link_;
};

}  // namespace souk::journal
