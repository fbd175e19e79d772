#include "journal/sqlite.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <vector>

#include "base/check.h"
#include "journal/readonly_vfs.h"
#include "journal/rules.h"
#include "journal/sqlite_format.h"
#include "journal/wal_check.h"

// The file
// ========
// A SQLite database in WAL mode, synchronous=FULL, with two tables:
//
//   batch(first INTEGER PRIMARY KEY, count INTEGER, bytes BLOB, chain BLOB)
//     One row per append. A row holds the events first .. first+count-1, and the next row begins
//     where it ends; the first begins at 1, or where the cut is. chain is BLAKE2b-256 over
//     (first: u64 little-endian, count: u32 little-endian, bytes), keyed with the chain of the row
//     before; row 1 is keyed with the digest of "souk journal 1". So a row cannot change, move,
//     vanish or appear without the row after it telling.
//   meta(id INTEGER PRIMARY KEY = 1, format INTEGER, next INTEGER, chain BLOB)
//     The format's number, and where the last row ends with its chain, written in the same
//     transaction as that row. Without it the last rows could vanish unseen: one bit in the row
//     count of the last page would do.
//   cut(id INTEGER PRIMARY KEY = 1, first INTEGER, chain BLOB, base BLOB)
//     Only in format 2, which a journal has from its first cut on; format 1 is the same without it.
//     The first event kept, the chain of the row before it, which keys the first kept row, and the
//     BLAKE2b-256 of the bytes of the state before it. Those are in the file PATH.base-N beside the
//     journal, N being the number of events in it (snapshot.h has the file's format). Rows before
//     `first` are on their way out, and nobody looks at them.
//
// A new file is made under another name and renamed when it is whole, so that an empty or headless
// file always means damage and never a journal that was just being made.
//
// Which damage is cut and which halts
// ===================================
// Only what the last writes could have left half done is cut: rows at the end that do not match
// their chain, with no later row that does. A row whose successor is good was once durable and
// acknowledged, so the server must not start without it. Bad pages in the log are judged before
// SQLite sees them (wal_check.h). What SQLite itself cannot read always halts: a torn page in the
// database is repaired from the log, so an unreadable one was damaged later.

namespace souk::journal {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Digest;

constexpr std::int64_t kApplicationId = 0x536f756b;  // "Souk", for file(1) and for us.
// A damaged page holds up to about this many of the smallest rows. More bad rows than this are no
// tail, whatever follows them.
constexpr std::size_t kMostRowsCut = 128;
// Enough small rows to fill more than a page, so that a rehearsal also takes a new one.
constexpr std::size_t kRehearsedRows = 100;
constexpr std::string_view kRestoreFolder =
    "nothing was changed; restore the folder from a backup, or keep the events before the damage "
    "with a read-only export";

// Makes the file aside and renames it when it is whole, so that `path` is never seen half made.
base::Result<> create(const std::string& path, const std::string& vfs) {
  const auto aside = path + ".new";
  for (const auto* suffix : {"", "-journal", "-wal", "-shm"}) ::unlink((aside + suffix).c_str());
  {
    SOUK_ASSIGN(auto db, Database::open(aside, Database::Mode::create, vfs));
    SOUK_TRY(db.exec("PRAGMA synchronous=FULL"));
    SOUK_TRY(db.exec("BEGIN"));
    SOUK_TRY(make_tables(db));
    SOUK_TRY(db.exec("COMMIT"));
  }
  if (::rename(aside.c_str(), path.c_str()) != 0) return system_failure("rename", aside);
  return sync_folder(folder_of(path));
}

base::Result<> set_up(Database& db, const SqliteOptions& options) {
  SOUK_ASSIGN(const auto mode, db.text("PRAGMA journal_mode=WAL"));
  if (mode != "wal")
    return base::fail(Code::unavailable,
                      fmt::format("SQLite uses journal mode '{}' where 'wal' was asked for", mode),
                      "use a local disk: WAL needs shared memory between processes");
  SOUK_TRY(db.exec("PRAGMA synchronous=FULL"));
  SOUK_TRY(db.exec("PRAGMA trusted_schema=OFF"));
  SOUK_TRY(db.exec(fmt::format("PRAGMA wal_autocheckpoint={}", options.checkpoint_pages).c_str()));
  // What was dropped is not wiped from the disk where that would cost a write.
  SOUK_TRY(db.exec("PRAGMA secure_delete=FAST"));
  // A reader that stays long keeps the log from being reused; when it leaves, give the space back.
  return db.exec(
      fmt::format("PRAGMA journal_size_limit={}", std::int64_t{options.checkpoint_pages} * 4096)
          .c_str());
}

// The number after the last event that can be read in spite of the damage; 1 if none can.
std::uint64_t readable_until(const std::string& path) {
  auto db = Database::open(path, Database::Mode::read_only, readonly_vfs());
  if (!db) return 1;
  db->checkpoint_on_close(false);
  const auto next = db->integer("SELECT next FROM meta WHERE id=1");
  return next && *next > 0 ? static_cast<std::uint64_t>(*next) : 1;
}

// Judges the files before SQLite may touch them: it would drop what it does not understand.
base::Result<WalReport> check_files(const std::string& path) {
  std::error_code ignored;
  const bool exists = fs::exists(path, ignored);
  if (exists && fs::file_size(path, ignored) == 0)
    return base::fail(Code::damaged, fmt::format("{} is empty: no event can be read", path),
                      std::string(kRestoreFolder));
  const auto log_path = path + "-wal";
  SOUK_ASSIGN(auto log, check_wal(log_path));
  if (!exists && log.state != WalState::nothing)
    return base::fail(
        Code::damaged,
        fmt::format("{} is missing, but {} is there: no event can be read", path, log_path),
        std::string(kRestoreFolder));
  if (log.state == WalState::damaged) {
    const auto next = readable_until(path);
    return base::fail(Code::damaged,
                      fmt::format("{}: {}; damaged from event {} on, the last good event is {}",
                                  log_path, log.what, next, next - 1),
                      std::string(kRestoreFolder));
  }
  return log;
}

std::string log_note(const std::string& path, const WalReport& log, std::uint64_t next,
                     bool read_only) {
  if (log.state != WalState::unfinished && log.state != WalState::flipped) return {};
  return fmt::format("{}-wal: {}; {} from event {} on", path, log.what,
                     read_only ? "a writer would cut" : "cut", next);
}

std::string join_notes(std::string a, const std::string& b) {
  if (!a.empty() && !b.empty()) a += "; ";
  return a + b;
}

// An unfinished commit at the end was never acknowledged: that is what a kill leaves, not damage.
bool tells_of_damage(const WalReport& log, const std::string& tail_note) {
  if (log.state == WalState::unfinished) return tail_note.find("digest") != std::string::npos;
  return log.state == WalState::flipped || !tail_note.empty();
}

}  // namespace

base::Result<> make_tables(Database& db) {
  SOUK_TRY(db.exec(fmt::format("PRAGMA application_id={}", kApplicationId).c_str()));
  SOUK_TRY(
      db.exec("CREATE TABLE batch(first INTEGER PRIMARY KEY, count INTEGER NOT NULL, "
              "bytes BLOB NOT NULL, chain BLOB NOT NULL)"));
  SOUK_TRY(
      db.exec("CREATE TABLE meta(id INTEGER PRIMARY KEY, format INTEGER NOT NULL, "
              "next INTEGER NOT NULL, chain BLOB NOT NULL)"));
  SOUK_ASSIGN(auto meta, db.prepare("INSERT INTO meta VALUES(1, ?, 1, ?)"));
  return meta.bind(1, kWholeFormat).bind(2, view(root())).run();
}

// What the end of the journal looks like.
struct SqliteJournal::Tail {
  struct TailBatch {
    std::uint64_t first;
    std::uint32_t count;
    std::string bytes;
    Digest chain;
    [[nodiscard]] Batch batch() const { return {first, count, bytes}; }
  };
  Cursor good;                 // After the last row that matches its chain.
  std::vector<TailBatch> bad;  // The rows after it, oldest first.
  Cursor recorded;             // What meta says.
  [[nodiscard]] bool sound() const {
    return bad.empty() && recorded.next == good.next && recorded.key == good.key;
  }
};

SqliteJournal::SqliteJournal(std::string path, Database db, FileLock lock)
    : path_(std::move(path)),
      lock_(std::move(lock)),
      db_(std::move(db)),
      start_{1, root()},
      chain_(root()) {}

SqliteJournal::~SqliteJournal() {
  if (broken_ || read_only_) db_.checkpoint_on_close(false);
}

base::Result<Opened> SqliteJournal::open(const std::string& path, const SqliteOptions& options) {
  return options.read_only ? open_reader(path) : open_writer(path, options);
}

base::Result<Opened> SqliteJournal::open_writer(const std::string& path,
                                                const SqliteOptions& options) {
  SOUK_ASSIGN(auto lock, FileLock::take(path + ".lock"));
  SOUK_ASSIGN(const auto log, check_files(path));
  if (!fs::exists(path)) SOUK_TRY(create(path, options.vfs));
  SOUK_ASSIGN(auto db, Database::open(path, Database::Mode::read_write, options.vfs));
  std::unique_ptr<SqliteJournal> journal(new SqliteJournal(path, std::move(db), std::move(lock)));
  // Until everything is in order, closing must not write either.
  journal->db_.checkpoint_on_close(false);
  SOUK_TRY(journal->check_format());
  if (!journal->db_.writable())
    return base::fail(Code::unavailable, fmt::format("{} can only be read", path),
                      "give this user the right to write it; if it has that, the file is damaged");
  SOUK_TRY(set_up(journal->db_, options));
  SOUK_TRY(journal->settle_start());
  SOUK_ASSIGN(auto note, journal->settle_tail());
  SOUK_TRY(journal->prepare_append());
  SOUK_TRY(journal->rehearse());
  journal->db_.checkpoint_on_close(true);
  const bool damage = tells_of_damage(log, note);
  note = join_notes(log_note(path, log, journal->next_, false), note);
  return Opened{std::move(journal), std::move(note), damage, path};
}

base::Result<Opened> SqliteJournal::open_reader(const std::string& path) {
  const bool beside_writer = FileLock::held(path + ".lock");
  if (!fs::exists(path))
    return base::fail(Code::not_found, fmt::format("there is no journal at {}", path));
  WalReport log;
  // A running writer's log changes under our eyes; there SQLite's shared index says what counts.
  if (!beside_writer) {
    SOUK_ASSIGN(log, check_files(path));
  }
  SOUK_ASSIGN(auto db,
              Database::open(path, Database::Mode::read_only, beside_writer ? "" : readonly_vfs()));
  std::unique_ptr<SqliteJournal> journal(new SqliteJournal(path, std::move(db), {}));
  journal->read_only_ = true;
  journal->beside_writer_ = beside_writer;
  SOUK_TRY(journal->unless_writer_came(journal->check_format()));
  SOUK_TRY(journal->unless_writer_came(journal->settle_start()));
  SOUK_ASSIGN(auto note, journal->unless_writer_came(journal->settle_tail()));
  const bool damage = tells_of_damage(log, note);
  note = join_notes(log_note(path, log, journal->next_, true), note);
  return Opened{std::move(journal), std::move(note), damage, path};
}

// A reader that found no writer has no lock either, so a writer may start under it and move pages:
// what then looks like damage is none.
template <class T>
base::Result<T> SqliteJournal::unless_writer_came(base::Result<T> result) const {
  if (result || !read_only_ || beside_writer_ || !FileLock::held(path_ + ".lock")) return result;
  return base::fail(Code::unavailable,
                    fmt::format("a writer opened {} while it was being read", path_),
                    "read it again");
}

// Used in sqlite_cut.cc too.
template base::Result<std::string> SqliteJournal::unless_writer_came(
    base::Result<std::string> result) const;

base::Result<> SqliteJournal::check_format() {
  SOUK_TRY(db_.exec("PRAGMA cell_size_check=ON"));  // Before any page is read.
  const auto id = db_.integer("PRAGMA application_id");
  if (!id) return unreadable(id.error());
  if (*id != kApplicationId)
    return base::fail(
        Code::invalid, fmt::format("{} is not a journal", path_),
        fmt::format("its application id is {}, a journal's is {}", *id, kApplicationId));
  const auto format = db_.integer("SELECT format FROM meta WHERE id=1");
  if (!format) return unreadable(format.error());
  if (*format != kWholeFormat && *format != kCutFormat)
    return base::fail(
        Code::invalid,
        fmt::format("{} has journal format {}, which is unknown here", path_, *format),
        fmt::format("this program reads formats {} and {}; use the one that wrote the file",
                    kWholeFormat, kCutFormat));
  return {};
}

// Establishes next_ and chain_; a writer cuts a bad tail. Returns the note.
base::Result<std::string> SqliteJournal::settle_tail() {
  auto tail = read_tail();
  if (!tail) return unreadable(tail.error());
  if (!tail->sound()) SOUK_TRY(judge_tail(*tail));
  next_ = tail->good.next;
  chain_ = tail->good.key;
  if (tail->sound()) return {};
  std::string note;
  if (tail->bad.empty())
    note = fmt::format("{}: the record of the last event ({}) was wrong{}", path_, next_ - 1,
                       read_only_ ? "; a writer would rewrite it" : " and was rewritten");
  else
    note = fmt::format("{}: {} events from event {} on do not match their digest; {}", path_,
                       std::max(tail->recorded.next, tail->bad.back().batch().end()) - next_, next_,
                       read_only_ ? "a writer would cut them" : "cut");
  if (!read_only_) SOUK_TRY(cut_tail(tail->good));
  return note;
}

base::Result<SqliteJournal::Tail> SqliteJournal::read_tail() {
  SOUK_TRY(db_.exec("BEGIN"));  // The tables as of one moment, even beside a writer.
  SOUK_TRY(read_start());
  Tail tail{.good = start_};
  SOUK_ASSIGN(auto meta, db_.prepare("SELECT next, chain FROM meta WHERE id=1"));
  SOUK_ASSIGN(const bool found, meta.step());
  if (!found) return base::fail(Code::damaged, fmt::format("{}: its meta row is missing", path_));
  tail.recorded = {static_cast<std::uint64_t>(meta.integer(0)), to_digest(meta.bytes(1))};
  SOUK_ASSIGN(auto rows, db_.prepare("SELECT first, count, bytes, chain FROM batch "
                                     "WHERE first >= ? ORDER BY first DESC"));
  rows.bind(1, static_cast<std::int64_t>(start_.next));
  // Backwards until a row matches its chain under the row before it.
  while (true) {
    SOUK_ASSIGN(const bool more, rows.step());
    Cursor before = start_;
    Tail::TailBatch row{};
    if (more) {
      const auto batch = batch_of(rows);
      row = {batch.first, batch.count, std::string(batch.bytes), to_digest(rows.bytes(3))};
      before = {batch.end(), row.chain};
    }
    if (tail.bad.empty() && !more) break;  // No rows at all.
    if (!tail.bad.empty()) {
      const auto& last = tail.bad.back();
      if (last.first == before.next && last.count > 0 &&
          last.chain == link_(last.batch(), before.key)) {
        tail.good = {last.batch().end(), last.chain};
        tail.bad.pop_back();
        break;
      }
      if (!more) break;  // Not even the first row is good.
    }
    if (tail.bad.size() > kMostRowsCut) break;
    tail.bad.push_back(std::move(row));
  }
  std::ranges::reverse(tail.bad);
  meta.reset();
  rows.reset();
  SOUK_TRY(db_.exec("COMMIT"));
  return tail;
}

// Is this a tail that may be cut, or damage that must halt?
base::Result<> SqliteJournal::judge_tail(const Tail& tail) {
  const auto halt = [&](std::string why) { return unreadable({Code::damaged, std::move(why)}); };
  if (tail.bad.size() > kMostRowsCut)
    return halt(
        fmt::format("more than {} rows at its end do not match their digests", kMostRowsCut));
  if (tail.bad.empty()) {
    // The rows are good; then one wrong half of the record is the record's own damage.
    if (tail.recorded.next == tail.good.next || tail.recorded.key == tail.good.key) return {};
    return halt(fmt::format("its rows end before event {}, its record says before event {}",
                            tail.good.next, tail.recorded.next));
  }
  auto at = tail.good;
  for (const auto& row : tail.bad) {
    // Rows that a crash left half done still follow each other.
    if (row.first != at.next)
      return halt(fmt::format("where event {} should be there is event {}", at.next, row.first));
    // A row whose own digest was hit makes its successor look bad as well. Under the digest that it
    // should have, the successor is good: then this is the middle.
    const auto expected = link_(row.batch(), at.key);
    if (row.chain == expected) return halt("a row does not match its digest, and a later one does");
    at = {row.batch().end(), expected};
  }
  return {};
}

base::Result<> SqliteJournal::cut_tail(const Cursor& end) {
  SOUK_TRY(db_.exec("BEGIN IMMEDIATE"));
  SOUK_ASSIGN(auto remove, db_.prepare("DELETE FROM batch WHERE first >= ?"));
  SOUK_TRY(remove.bind(1, static_cast<std::int64_t>(end.next)).run());
  SOUK_ASSIGN(auto meta, db_.prepare("UPDATE meta SET next=?, chain=? WHERE id=1"));
  SOUK_TRY(meta.bind(1, static_cast<std::int64_t>(end.next)).bind(2, view(end.key)).run());
  // A row whose number was hit may have escaped; then nothing is cut at all.
  SOUK_ASSIGN(const auto left, db_.integer("SELECT first + count FROM batch ORDER BY first DESC"));
  if (std::max(left, static_cast<std::int64_t>(start_.next)) !=
      static_cast<std::int64_t>(end.next)) {
    SOUK_TRY(db_.exec("ROLLBACK"));
    return damaged(end.next, "the rows from there on cannot be cut");
  }
  return db_.exec("COMMIT");
}

// A page whose list of free space is damaged reads well, and destroys rows when it is written to.
// So write to the last pages, look at the rows on them, and take it back. All of it in memory.
base::Result<> SqliteJournal::rehearse() {
  SOUK_TRY(begin_.run());
  const std::string filler(64, '\0');
  for (std::size_t i = 0; i < kRehearsedRows; ++i) {
    insert_.bind(1, static_cast<std::int64_t>(next_ + i)).bind(2, std::int64_t{1});
    if (auto done = insert_.bind(3, filler).bind(4, filler).run(); !done)
      return unreadable(done.error());
  }
  SOUK_ASSIGN(auto start, db_.prepare("SELECT first FROM batch WHERE first < ? "
                                      "ORDER BY first DESC LIMIT 1 OFFSET ?"));
  start.bind(1, static_cast<std::int64_t>(next_)).bind(2, std::int64_t{kMostRowsCut});
  SOUK_ASSIGN(const bool many, start.step());
  SOUK_ASSIGN(auto at, seek(many ? static_cast<std::uint64_t>(start.integer(0)) : start_.next));
  start.reset();
  SOUK_TRY(scan(at, next_, [](const Batch&) { return base::Result<>(); }));
  return db_.exec("ROLLBACK");
}

base::Result<> SqliteJournal::prepare_append() {
  SOUK_ASSIGN(begin_, db_.prepare("BEGIN IMMEDIATE"));
  SOUK_ASSIGN(insert_, db_.prepare("INSERT INTO batch VALUES(?, ?, ?, ?)"));
  SOUK_ASSIGN(advance_, db_.prepare("UPDATE meta SET next=?, chain=? WHERE id=1"));
  SOUK_ASSIGN(commit_, db_.prepare("COMMIT"));
  return {};
}

base::Result<> SqliteJournal::check_writable() const {
  CHECK(!read_only_);
  if (!broken_) return {};
  return base::fail(Code::unavailable,
                    fmt::format("{}: an earlier append failed, so none may follow", path_),
                    "end the process and start it again");
}

base::Result<> SqliteJournal::append(const Batch& batch) {
  SOUK_TRY(check_writable());
  SOUK_TRY(check_appendable(batch, next_));
  const auto chain = link_(batch, chain_);
  if (auto written = write(batch, chain); !written) {
    broken_ = true;
    auto error = std::move(written).error();
    error.message = fmt::format("cannot append event {}: {}", batch.first, error.message);
    return std::unexpected(std::move(error));
  }
  next_ = batch.end();
  chain_ = chain;
  return {};
}

base::Result<> SqliteJournal::write(const Batch& batch, const Digest& chain) {
  SOUK_TRY(begin_.run());
  insert_.bind(1, static_cast<std::int64_t>(batch.first)).bind(2, std::int64_t{batch.count});
  SOUK_TRY(insert_.bind(3, batch.bytes).bind(4, view(chain)).run());
  SOUK_TRY(advance_.bind(1, static_cast<std::int64_t>(batch.end())).bind(2, view(chain)).run());
  return commit_.run();
}

base::Result<> SqliteJournal::append_all(std::span<const Batch> batches) {
  SOUK_TRY(check_writable());
  broken_ = true;
  SOUK_ASSIGN(const auto end, write_all(batches));
  broken_ = false;
  next_ = end.next;
  chain_ = end.key;
  return {};
}

base::Result<Cursor> SqliteJournal::write_all(std::span<const Batch> batches) {
  SOUK_TRY(begin_.run());
  Cursor at{next_, chain_};
  for (const auto& batch : batches) {
    SOUK_TRY(check_appendable(batch, at.next));
    at = {batch.end(), link_(batch, at.key)};
    insert_.bind(1, static_cast<std::int64_t>(batch.first)).bind(2, std::int64_t{batch.count});
    SOUK_TRY(insert_.bind(3, batch.bytes).bind(4, view(at.key)).run());
  }
  SOUK_TRY(advance_.bind(1, static_cast<std::int64_t>(at.next)).bind(2, view(at.key)).run());
  SOUK_TRY(commit_.run());
  return at;
}

base::Result<> SqliteJournal::replay(std::uint64_t from, const Visit& visit) {
  return read(from, next_, visit);
}

// As replay(), up to event `until`, where a row begins.
base::Result<> SqliteJournal::read(std::uint64_t from, std::uint64_t until, const Visit& visit) {
  if (from >= until) return {};
  if (!beside_writer_) return unless_writer_came(read_now(from, until, visit));
  SOUK_TRY(db_.exec("BEGIN"));  // Rows that the writer drops meanwhile stay here until the end.
  auto done = read_start();
  if (done) done = read_now(from, until, visit);
  std::ignore = db_.exec("ROLLBACK");
  return done;
}

base::Result<> SqliteJournal::read_now(std::uint64_t from, std::uint64_t until,
                                       const Visit& visit) {
  SOUK_TRY(check_kept(from, first(), path_));
  SOUK_ASSIGN(auto at, seek(from));
  return scan(at, until, [&](const Batch& batch) -> base::Result<> {
    return batch.end() > from ? visit(batch) : base::Result<>();
  });
}

// Just before the batch that holds `from`.
base::Result<Cursor> SqliteJournal::seek(std::uint64_t from) {
  auto at = start_;
  if (from <= start_.next) return at;
  SOUK_ASSIGN(auto rows,
              db_.prepare("SELECT first, count, chain FROM batch "
                          "WHERE first <= ? AND first >= ? ORDER BY first DESC LIMIT 2"));
  rows.bind(1, static_cast<std::int64_t>(from)).bind(2, static_cast<std::int64_t>(start_.next));
  for (int i = 0; i < 2; ++i) {
    const auto more = rows.step();
    if (!more) return unreadable(more.error());
    if (!*more) return start_;
    at = {static_cast<std::uint64_t>(rows.integer(0) + rows.integer(1)), to_digest(rows.bytes(2))};
  }
  return at;
}

// Visits the rows from `at` up to event `until`, checking each; `at` ends after the last good one.
base::Result<> SqliteJournal::scan(Cursor& at, std::uint64_t until, const Visit& visit) {
  SOUK_ASSIGN(auto rows, db_.prepare("SELECT first, count, bytes, chain FROM batch "
                                     "WHERE first >= ? ORDER BY first"));
  rows.bind(1, static_cast<std::int64_t>(at.next));
  while (at.next < until) {
    const auto more = rows.step();
    if (!more && more.error().code != Code::damaged) return std::unexpected(more.error());
    if (!more) return damaged(at.next, more.error().message);
    if (!*more)
      return damaged(at.next, fmt::format("it ends there, and should end before event {}", until));
    const auto batch = batch_of(rows);
    if (batch.first != at.next)
      return damaged(at.next, fmt::format("the next row begins at event {}", batch.first));
    const auto chain = link_(batch, at.key);
    if (batch.count == 0 || rows.bytes(3) != view(chain))
      return damaged(at.next, "its row does not match its digest");
    SOUK_TRY(visit(batch));
    at = {batch.end(), chain};
  }
  return {};
}

base::Failure SqliteJournal::damaged(std::uint64_t event, std::string_view what) const {
  return base::fail(Code::damaged,
                    fmt::format("{} is damaged at event {}: {}; the last good event is {}", path_,
                                event, what, event - 1),
                    std::string(kRestoreFolder));
}

// The end of the file is damaged: says how far the rows are good.
base::Failure SqliteJournal::unreadable(const base::Error& why) {
  if (why.code != Code::damaged) return base::Failure(why);
  std::ignore = db_.exec("ROLLBACK");  // The caller may have left a transaction open.
  auto at = start_;
  std::ignore = scan(at, std::numeric_limits<std::int64_t>::max(),
                     [](const Batch&) { return base::Result<>(); });
  return damaged(at.next, why.message);
}

}  // namespace souk::journal
