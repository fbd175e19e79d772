#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "journal/chain.h"
#include "journal/database.h"
#include "journal/files.h"
#include "journal/journal.h"

namespace souk::journal {

struct SqliteOptions {
  // Look without touching: nothing on disk changes, nothing is repaired, no lock keeps a writer
  // out. Works beside a running writer, whose journal is seen as of the moment of opening.
  bool read_only = false;
  // The write-ahead log is moved into the database when it has this many 4 KiB pages. SQLite's 1000
  // makes a commit wait for that about every 500 appends, which is what the 99.9th percentile then
  // measures; 16384 (64 MiB) makes it one in thousands, and reading such a log after a crash still
  // takes well under a second.
  int checkpoint_pages = 16'384;
  // SQLite VFS to write through; empty means the system's own. Tests inject faults here.
  std::string vfs = {};
};

// A journal in one SQLite file (format: sqlite.cc), with its -wal and .lock beside it. Owned by one
// thread at a time; one writer per file, enforced by the lock.
//
// What it promises about damage, which is found by a chain of digests over all rows:
// - A torn, short or bit-flipped tail is cut when a writer opens, and the note says so. A read-only
//   journal ends before it, and the note says what a writer would cut.
// - Damage anywhere else is Error{damaged} naming the event and the file. Nothing is changed then.
// Work is not done twice: open() checks the last rows (its cost does not grow with the journal) and
// replay() checks every row it passes, so replay(1) is a full verification, and replay(n) vouches
// for the batches from event n on.
// Not detectable from here: the file and its log replaced by an older copy, or the log deleted.
// A snapshot that is ahead of next() is a sign of it.
//
// What was dropped leaves room in the file, which later rows take: the file stops growing, and does
// not shrink.
class SqliteJournal final : public ChainedJournal {
 public:
  // Opens the journal at `path`, or makes an empty one (a writer only; the folder must exist).
  //   conflict   another process writes to it
  //   not_found  read-only, and there is none
  //   damaged    see above
  //   invalid    not a journal, or of a format this program does not know
  [[nodiscard]] static base::Result<Opened> open(const std::string& path,
                                                 const SqliteOptions& options = {});

  SqliteJournal(const SqliteJournal&) = delete;
  SqliteJournal& operator=(const SqliteJournal&) = delete;
  ~SqliteJournal() override;  // Checkpoints, unless an append failed.

  [[nodiscard]] std::uint64_t next() const override { return next_; }
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
  [[nodiscard]] base::Result<> append_all(std::span<const Batch> batches) override;

 private:
  struct Tail;

  SqliteJournal(std::string path, Database db, FileLock lock);
  static base::Result<Opened> open_writer(const std::string& path, const SqliteOptions& options);
  static base::Result<Opened> open_reader(const std::string& path);

  base::Result<> check_format();
  base::Result<> read_start();
  base::Result<> settle_start();
  base::Result<std::string> settle_tail();
  base::Result<Tail> read_tail();
  base::Result<> judge_tail(const Tail& tail);
  base::Result<> cut_tail(const Cursor& end);
  base::Result<> rehearse();
  base::Result<> prepare_append();
  base::Result<> check_writable() const;
  base::Result<> write(const Batch& batch, const base::Digest& chain);
  base::Result<Cursor> write_all(std::span<const Batch> batches);
  base::Result<> write_start(const Cursor& start, const base::Digest& base);
  base::Result<> put_start(const Cursor& start, const base::Digest& base);

  base::Result<> read(std::uint64_t from, std::uint64_t until, const Visit& visit);
  base::Result<> read_now(std::uint64_t from, std::uint64_t until, const Visit& visit);
  base::Result<Cursor> seek(std::uint64_t from);
  base::Result<> scan(Cursor& at, std::uint64_t until, const Visit& visit);
  base::Failure damaged(std::uint64_t event, std::string_view what) const;
  base::Failure unreadable(const base::Error& why);
  template <class T>
  base::Result<T> unless_writer_came(base::Result<T> result) const;

  std::string path_;
  FileLock lock_;  // Released after the database is closed, so declared before it.
  Database db_;
  bool read_only_ = false;
  bool beside_writer_ = false;  // Read-only, and a writer had the lock when this one opened.
  bool broken_ = false;         // An append failed: nothing more is written, not even a checkpoint.
  Cursor start_;                // Before the oldest row kept.
  base::Digest base_;           // Of the state there; without meaning when nothing was dropped.
  std::uint64_t next_ = 1;
  base::Digest chain_;  // Of the last row.
  Statement begin_, insert_, advance_, commit_;
  Link link_;
};

}  // namespace souk::journal
