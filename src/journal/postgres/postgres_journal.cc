#include "journal/postgres/postgres_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "journal/archive.h"
#include "journal/rules.h"

// The tables
// ==========
//   souk_batches(first bigint PRIMARY KEY, count bigint, bytes bytea, chain bytea)
//     One row per append, as in a SQLite journal: sqlite.cc tells what first, count and chain are.
//     The primary key is what keeps two writers apart: of two rows for one number one is refused,
//     and so is a row before the first event kept.
//   souk_journal(one boolean PRIMARY KEY, format bigint, first bigint, chain bytea, base bytea)
//     One row: the format's number, the first event kept, the chain of the row before it, and the
//     BLAKE2b-256 of the state there. first is 1 and the rest without meaning until a first cut.
//   souk_bases(first bigint, piece bigint, bytes bytea)
//     The bytes of states before event `first`, in pieces: of the one that counts, and of those
//     that are saved for a cut to come or left by an earlier one.
//
// They are made in the first schema of the search path: several markets share a database if each
// has a schema (?options=-csearch_path=NAME). Appends notify the channel souk_journal.

namespace souk::journal {
namespace {

using base::Code;
using base::Digest;
using base::fail;
using base::Result;

constexpr std::int64_t kFormat = 1;
constexpr std::size_t kPieceBytes = 16 << 20;
// What one trim() removes: some milliseconds of work.
constexpr std::int64_t kTrimBytes = 1 << 20;
constexpr std::int64_t kTrimRows = 1'000;
constexpr auto kFirstPause = std::chrono::milliseconds(20);
constexpr auto kLongestPause = std::chrono::milliseconds(500);
constexpr std::string_view kRestoreDatabase =
    "nothing was changed; restore the database from a backup";
constexpr std::string_view kUniqueViolation = "23505";

constexpr const char* kTables[] = {
    "CREATE TABLE IF NOT EXISTS souk_journal(one boolean PRIMARY KEY CHECK (one), format bigint "
    "NOT NULL, first bigint NOT NULL, chain bytea NOT NULL, base bytea NOT NULL)",
    "CREATE TABLE IF NOT EXISTS souk_bases(first bigint, piece bigint, bytes bytea NOT NULL, "
    "PRIMARY KEY(first, piece))",
    "ALTER TABLE souk_bases ALTER COLUMN bytes SET STORAGE EXTERNAL",
    "CREATE TABLE IF NOT EXISTS souk_batches(first bigint PRIMARY KEY, count bigint NOT NULL, "
    "bytes bytea NOT NULL, chain bytea NOT NULL)",
    // Compressing what is large costs a writer more than the room is worth.
    "ALTER TABLE souk_batches ALTER COLUMN bytes SET STORAGE EXTERNAL",
};

// A reader prepares nothing: it may be there before the tables are.
PgOptions session_of(const PostgresOptions& options) {
  PgOptions out{.application = options.read_only ? "souk: reads a journal" : "souk: a journal"};
  // An answer that leaves is on the disk of the database, and of its synchronous standbys.
  out.greetings = {"SET synchronous_commit = on"};
  if (!options.read_only) out.greetings.emplace_back("LISTEN souk_journal");
  return out;
}

Batch batch_of(const PgRows& row) {
  // A count that does not fit was not written by us; 0 is never right either.
  const auto count = row.number(0, 1);
  const bool fits = count > 0 && count <= std::numeric_limits<std::uint32_t>::max();
  return {static_cast<std::uint64_t>(row.number(0, 0)),
          fits ? static_cast<std::uint32_t>(count) : 0, row.bytes(0, 2)};
}

constexpr auto kNothing = [](const Batch&) { return Result<>(); };

// No row below the first event kept: the rows there are removed, so that the key refuses none. The
// lock lets a cut come before all of it or after.
constexpr const char* kAppend =
    "INSERT INTO souk_batches SELECT $1, $2, $3, $4 FROM souk_journal WHERE first <= $1 FOR SHARE "
    "RETURNING pg_notify('souk_journal', '')";

}  // namespace

Result<Opened> PostgresJournal::open(const std::string& url, const PostgresOptions& options) {
  SOUK_ASSIGN(auto db, PgConnection::make(url, session_of(options)));
  auto name = db.name();
  std::unique_ptr<PostgresJournal> journal(new PostgresJournal(std::move(db), options));
  std::string note;
  if (!options.read_only) {
    SOUK_TRY(journal->make_tables());
    SOUK_ASSIGN(note, journal->durability());
  }
  SOUK_TRY(journal->settle());
  return Opened{std::move(journal), std::move(note), false, std::move(name)};
}

// Processes that begin at the same moment must not both make them.
Result<> PostgresJournal::make_tables() {
  SOUK_ASSIGN(const auto known, db_.run("SELECT 1 WHERE to_regclass('souk_batches') IS NOT NULL"));
  if (known.count() == 1) return {};
  return db_.transaction([&]() -> Result<> {
    SOUK_TRY(db_.run("SELECT pg_advisory_xact_lock(hashtext('souk_journal'))"));
    for (const auto* sql : kTables) SOUK_TRY(db_.run(sql));
    SOUK_TRY(db_.run("INSERT INTO souk_journal VALUES(true, $1, 1, $2, '') ON CONFLICT DO NOTHING",
                     {kFormat, PgValue::blob(view(root()))}));
    return {};
  });
}

// What an operator should know of how the database is set up; empty: it keeps what it took.
Result<std::string> PostgresJournal::durability() {
  SOUK_ASSIGN(const auto off, db_.run("SELECT name FROM pg_settings WHERE name IN ('fsync', "
                                      "'full_page_writes') AND setting = 'off'"));
  if (off.count() == 0) return std::string();
  return fmt::format("{} runs with {}=off: what was acknowledged may be lost with the power",
                     db_.name(), off.bytes(0, 0));
}

// Where it begins, as the database says now.
Result<> PostgresJournal::read_start() {
  auto rows = db_.run("SELECT format, first, chain, base FROM souk_journal");
  if (!rows && rows.error().code == Code::not_found)
    return fail(Code::not_found, fmt::format("there is no journal in {}", db_.name()));
  if (!rows) return std::unexpected(std::move(rows).error());
  if (rows->count() != 1 || rows->number(0, 1) < 1)
    return fail(Code::damaged,
                fmt::format("{}: the record of where the journal begins is missing", db_.name()),
                std::string(kRestoreDatabase));
  if (rows->number(0, 0) != kFormat)
    return fail(Code::invalid,
                fmt::format("{} has journal format {}, which is unknown here", db_.name(),
                            rows->number(0, 0)),
                fmt::format("this program reads format {}; use the one that wrote it", kFormat));
  start_ = {static_cast<std::uint64_t>(rows->number(0, 1)), to_digest(rows->bytes(0, 2))};
  base_ = to_digest(rows->bytes(0, 3));
  return {};
}

// Establishes where it begins and ends; the last row must match its chain.
Result<> PostgresJournal::settle() {
  return db_.transaction(
      [&]() -> Result<> {
        SOUK_TRY(read_start());
        end_ = start_;
        SOUK_ASSIGN(const auto last, db_.run("SELECT first FROM souk_batches WHERE first >= $1 "
                                             "ORDER BY first DESC LIMIT 1",
                                             {start_.next}));
        if (last.count() == 0) return {};
        const auto first = static_cast<std::uint64_t>(last.number(0, 0));
        SOUK_ASSIGN(end_, seek(first));
        return scan(end_, first + 1, kNothing);
      },
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
}

Result<> PostgresJournal::check_writable() const {
  CHECK(!options_.read_only);
  if (!broken_) return {};
  return fail(Code::unavailable,
              fmt::format("{}: an earlier append failed, so none may follow", db_.name()),
              "end the process and start it again");
}

base::Failure PostgresJournal::overtaken(std::uint64_t event) const {
  return fail(Code::conflict,
              fmt::format("event {} of {} was written by another server", event, db_.name()),
              "this one was overtaken, and has written nothing since");
}

Result<> PostgresJournal::append(const Batch& batch) {
  SOUK_TRY(check_writable());
  SOUK_TRY(check_appendable(batch, end_.next));
  const auto chain = link_(batch, end_.key);
  if (auto written = write(batch, chain); !written) {
    broken_ = true;
    auto error = std::move(written).error();
    error.message = fmt::format("cannot append event {}: {}", batch.first, error.message);
    return std::unexpected(std::move(error));
  }
  end_ = {batch.end(), chain};
  return {};
}

// Does it again while the database is away, for as long as the options say.
template <class Work>
auto PostgresJournal::insist(const Work& work) -> std::invoke_result_t<Work> {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::microseconds(options_.patience.us);
  for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    auto done = work();
    if (done || !db_.may_pass() || Clock::now() >= deadline) return done;
    std::this_thread::sleep_for(pause);
  }
}

Result<> PostgresJournal::write(const Batch& batch, const Digest& chain) {
  SOUK_ASSIGN(
      const bool there, insist([&]() -> Result<bool> {
        auto done =
            db_.run_prepared(kAppend, {batch.first, std::int64_t{batch.count},
                                       PgValue::blob(batch.bytes), PgValue::blob(view(chain))});
        if (done) return done->count() == 1;
        if (db_.state() != kUniqueViolation) return std::unexpected(std::move(done).error());
        SOUK_ASSIGN(const auto rows,
                    db_.run("SELECT chain FROM souk_batches WHERE first = $1", {batch.first}));
        // Its own: an earlier try got through, and its answer did not.
        return rows.count() == 1 && to_digest(rows.bytes(0, 0)) == chain;
      }));
  return there ? Result<>() : overtaken(batch.first);
}

Result<> PostgresJournal::append_all(std::span<const Batch> batches) {
  SOUK_TRY(check_writable());
  std::vector<Digest> chains;
  chains.reserve(batches.size());
  auto at = end_;
  for (const auto& batch : batches) {
    SOUK_TRY(check_appendable(batch, at.next));
    at = {batch.end(), chains.emplace_back(link_(batch, at.key))};
  }
  std::vector<std::vector<PgValue>> rows;
  for (std::size_t i = 0; i < batches.size(); ++i)
    rows.push_back({batches[i].first, std::int64_t{batches[i].count},
                    PgValue::blob(batches[i].bytes), PgValue::blob(view(chains[i]))});
  broken_ = true;
  const auto done = db_.run_all(kAppend, rows);
  if (!done && db_.state() != kUniqueViolation) return std::unexpected(done.error());
  if (!done || *done != std::ssize(rows)) return overtaken(end_.next);
  broken_ = false;
  end_ = at;
  return {};
}

Result<> PostgresJournal::read_on(const Visit& visit) {
  return scan(end_, std::numeric_limits<std::int64_t>::max(), visit);
}

Result<> PostgresJournal::await_append(base::Duration most) {
  SOUK_TRY(db_.wait(most));
  return {};
}

Result<> PostgresJournal::replay(std::uint64_t from, const Visit& visit) {
  if (from >= end_.next) return {};
  // Rows that are dropped meanwhile stay here until the end.
  return db_.transaction(
      [&]() -> Result<> {
        SOUK_TRY(read_start());
        SOUK_TRY(check_kept(from, first(), db_.name()));
        SOUK_ASSIGN(auto at, seek(from));
        return scan(at, end_.next, [&](const Batch& batch) -> Result<> {
          return batch.end() > from ? visit(batch) : Result<>();
        });
      },
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
}

// Just before the batch that holds `from`.
Result<Cursor> PostgresJournal::seek(std::uint64_t from) {
  if (from <= start_.next) return start_;
  SOUK_ASSIGN(const auto rows,
              db_.run("SELECT first, count, chain FROM souk_batches WHERE first <= $1 AND first >= "
                      "$2 ORDER BY first DESC LIMIT 2",
                      {from, start_.next}));
  if (rows.count() < 2) return start_;
  return Cursor{static_cast<std::uint64_t>(rows.number(1, 0) + rows.number(1, 1)),
                to_digest(rows.bytes(1, 2))};
}

// Visits the rows from `at` up to event `until` or the end, checking each; `at` ends after the last
// good one.
Result<> PostgresJournal::scan(Cursor& at, std::uint64_t until, const Visit& visit) {
  SOUK_TRY(db_.stream(
      "SELECT first, count, bytes, chain FROM souk_batches WHERE first >= $1 AND "
      "first < $2 ORDER BY first",
      {at.next, until}, [&](const PgRows& row) -> Result<> {
        const auto batch = batch_of(row);
        if (batch.first != at.next)
          return damaged(at.next, fmt::format("the next row begins at event {}", batch.first));
        const auto chain = link_(batch, at.key);
        if (batch.count == 0 || row.bytes(0, 3) != view(chain))
          return damaged(at.next, "its row does not match its digest");
        SOUK_TRY(visit(batch));
        at = {batch.end(), chain};
        return {};
      }));
  constexpr auto open_end = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (until == open_end || at.next >= until) return {};
  return damaged(at.next, fmt::format("it ends there, and should end before event {}", until));
}

base::Failure PostgresJournal::damaged(std::uint64_t event, std::string_view what) const {
  return fail(Code::damaged,
              fmt::format("{} is damaged at event {}: {}; the last good event is {}", db_.name(),
                          event, what, event - 1),
              std::string(kRestoreDatabase));
}

Result<Digest> PostgresJournal::chain_before(std::uint64_t event) {
  if (event == start_.next) return start_.key;
  if (event == end_.next) return end_.key;
  SOUK_ASSIGN(const auto rows, db_.run("SELECT chain FROM souk_batches WHERE first < $1 AND first "
                                       ">= $2 AND first + count = $1 ORDER BY first DESC LIMIT 1",
                                       {event, start_.next}));
  if (rows.count() == 1) return to_digest(rows.bytes(0, 0));
  return fail(Code::not_found, fmt::format("{}: no row begins with event {}", db_.name(), event));
}

Result<std::string> PostgresJournal::load_base(std::uint64_t first, const Digest& digest) {
  std::string out;
  SOUK_TRY(db_.stream("SELECT bytes FROM souk_bases WHERE first = $1 ORDER BY piece", {first},
                      [&](const PgRows& row) -> Result<> {
                        out += row.bytes(0, 0);
                        return {};
                      }));
  if (base::blake2b(out) == digest) return out;
  return fail(Code::damaged,
              fmt::format("{} begins with event {}, and the state before it is {}", db_.name(),
                          first, out.empty() ? "missing" : "not the one whose hash it holds"),
              "bring the table souk_bases back from a backup: without it the events that are left "
              "lead nowhere");
}

Result<std::string> PostgresJournal::base() {
  std::string out;
  SOUK_TRY(db_.transaction(
      [&]() -> Result<> {
        SOUK_TRY(read_start());
        if (start_.next == 1) return {};
        SOUK_ASSIGN(out, load_base(start_.next, base_));
        return {};
      },
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  return out;
}

Result<> PostgresJournal::save_base(std::uint64_t first, std::string_view bytes) {
  SOUK_TRY(db_.transaction([&]() -> Result<> {
    SOUK_TRY(db_.run("DELETE FROM souk_bases WHERE first = $1", {first}));
    for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes)
      SOUK_TRY(db_.run(
          "INSERT INTO souk_bases VALUES($1, $2, $3)",
          {first, std::uint64_t{at / kPieceBytes}, PgValue::blob(bytes.substr(at, kPieceBytes))}));
    return {};
  }));
  SOUK_TRY(load_base(first, base::blake2b(bytes)));  // Read back: it is the only one.
  return {};
}

Result<> PostgresJournal::archive(const std::string& folder, std::uint64_t until,
                                  const Visit& also) {
  SOUK_ASSIGN(const auto end, chain_before(until));
  const ArchivedRows rows{.start = start_, .base = base_, .end = {until, end}};
  return write_archive(
      folder, rows,
      [&](const Visit& visit) {
        auto at = rows.start;
        return scan(at, until, visit);
      },
      also);
}

// A stale writer's cut must not undo a later one: it counts only if the beginning is still the one
// that this journal knows.
Result<> PostgresJournal::cut(std::uint64_t first, const Digest& base) {
  SOUK_TRY(check_writable());
  CHECK(first > start_.next && first <= end_.next);
  const auto chain = chain_before(first);
  if (!chain && chain.error().code == Code::not_found) return no_batch_begins(first);
  if (!chain) return std::unexpected(chain.error());
  const Cursor start{first, *chain};
  if (first < end_.next) {
    auto at = start;
    SOUK_TRY(scan(at, first + 1, kNothing));
  }
  broken_ = true;
  // An earlier try may have got through: then it is done once more.
  SOUK_ASSIGN(
      const auto done, insist([&] {
        return db_.run(
            "UPDATE souk_journal SET first = $1, chain = $2, base = $3 WHERE first IN ($1, "
            "$4) AND EXISTS (SELECT FROM souk_bases WHERE first = $1)",
            {first, PgValue::blob(view(start.key)), PgValue::blob(view(base)), start_.next});
      }));
  if (done.affected() != 1) return overtaken(start_.next);
  broken_ = false;
  start_ = start;
  base_ = base;
  return {};
}

Result<bool> PostgresJournal::trim() {
  SOUK_TRY(check_writable());
  return insist([&] { return trim_some(); });
}

Result<bool> PostgresJournal::trim_some() {
  SOUK_ASSIGN(const auto rows,
              db_.run("SELECT first, length(bytes) FROM souk_batches WHERE first < (SELECT first "
                      "FROM souk_journal) ORDER BY first LIMIT $1",
                      {kTrimRows}));
  std::int64_t last = 0, bytes = 0;
  for (int i = 0; i < rows.count() && bytes < kTrimBytes; ++i) {
    last = rows.number(i, 0);
    bytes += rows.number(i, 1);
  }
  if (last == 0) {
    SOUK_TRY(db_.run("DELETE FROM souk_bases WHERE first <> $1", {start_.next}));
    return false;
  }
  SOUK_TRY(
      db_.run("DELETE FROM souk_batches WHERE first <= $1 AND first < (SELECT first FROM "
              "souk_journal)",
              {last}));
  return true;
}

Result<> PostgresJournal::begin_at(const Cursor& start, std::string_view base) {
  SOUK_TRY(check_writable());
  CHECK(end_.next == 1 && start_.next == 1 && start.next > 1);
  SOUK_TRY(save_base(start.next, base));
  const auto digest = base::blake2b(base);
  SOUK_ASSIGN(const auto done,
              db_.run("UPDATE souk_journal SET first = $1, chain = $2, base = $3 WHERE first = 1 "
                      "AND NOT EXISTS (SELECT FROM souk_batches)",
                      {start.next, PgValue::blob(view(start.key)), PgValue::blob(view(digest))}));
  if (done.affected() != 1) return overtaken(1);
  start_ = end_ = start;
  base_ = digest;
  return {};
}

Result<std::uint64_t> PostgresJournal::bytes_on_disk() {
  SOUK_ASSIGN(const auto rows, db_.run("SELECT pg_total_relation_size('souk_batches') + "
                                       "pg_total_relation_size('souk_bases')"));
  return static_cast<std::uint64_t>(rows.number(0, 0));
}

}  // namespace souk::journal
