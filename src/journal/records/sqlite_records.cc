#include "journal/records/sqlite_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>

namespace souk::journal {
namespace {

constexpr std::int64_t kLastDay = std::numeric_limits<std::int64_t>::max();

// The day that a table's name ends with; 0 without.
std::int64_t day_in(std::string_view table) {
  const auto mark = table.rfind('_');
  if (mark == table.npos) return 0;
  std::int64_t day = 0;
  const auto text = table.substr(mark + 1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), day);
  return error == std::errc{} && end == text.data() + text.size() ? day : 0;
}

}  // namespace

base::Result<std::unique_ptr<Records>> SqliteRecords::open(const std::string& path) {
  SOUK_ASSIGN(auto db, Database::open(path, Database::Mode::create));
  // Before the first table: what is dropped leaves the file, when told to.
  SOUK_TRY(db.exec("PRAGMA auto_vacuum = INCREMENTAL"));
  SOUK_TRY(db.exec("PRAGMA journal_mode = WAL"));
  // Without a wait for the disk: it may be lost.
  SOUK_TRY(db.exec("PRAGMA synchronous = NORMAL"));
  std::unique_ptr<SqliteRecords> out(new SqliteRecords(std::move(db)));
  SOUK_TRY(out->load_tables());
  return out;
}

base::Result<> SqliteRecords::load_tables() {
  SOUK_ASSIGN(auto names, db_.prepare("SELECT name FROM sqlite_master WHERE type = 'table'"));
  while (true) {
    SOUK_ASSIGN(const bool more, names.step());
    if (!more) return {};
    const std::string name(names.bytes(0));
    tables_.emplace(name, day_in(name));
  }
}

base::Result<std::string> SqliteRecords::table_for(const RecordKind& kind, base::Time at) {
  const auto day = kind.dated ? day_of(at) : 0;
  auto name = kind.dated ? fmt::format("{}_{}", kind.name, day) : std::string(kind.name);
  if (tables_.contains(name)) return name;
  SOUK_TRY(
      db_.exec(fmt::format("CREATE TABLE IF NOT EXISTS {} (id INTEGER NOT NULL, at INTEGER NOT "
                           "NULL, bytes BLOB NOT NULL, PRIMARY KEY (id, at)) WITHOUT ROWID",
                           name)
                   .c_str()));
  return name;
}

base::Result<> SqliteRecords::write(const RecordKind& kind, std::span<const Record> records) {
  std::map<std::string, Statement> inserts;
  for (const auto& record : records) {
    SOUK_ASSIGN(const auto table, table_for(kind, record.at));
    auto it = inserts.find(table);
    if (it == inserts.end()) {
      SOUK_ASSIGN(auto insert,
                  db_.prepare(fmt::format("INSERT OR REPLACE INTO {} VALUES (?1, ?2, ?3)", table)));
      it = inserts.emplace(table, std::move(insert)).first;
    }
    it->second.bind(1, static_cast<std::int64_t>(record.id))
        .bind(2, kind.dated ? record.at.us : 0)
        .bind(3, record.bytes);
    SOUK_TRY(it->second.run());
  }
  for (const auto& [table, insert] : inserts) tables_.emplace(table, day_in(table));
  return {};
}

base::Result<> SqliteRecords::put(const RecordKind& kind, std::span<const Record> records) {
  const std::lock_guard lock(mutex_);
  SOUK_TRY(db_.exec("BEGIN IMMEDIATE"));
  auto written = write(kind, records);
  if (written) written = db_.exec("COMMIT");
  if (!written) (void)db_.exec("ROLLBACK");
  return written;
}

std::vector<std::string> SqliteRecords::tables_of(const RecordKind& kind, std::int64_t from,
                                                  std::int64_t to) const {
  std::vector<std::string> out;
  if (!kind.dated) {
    if (const std::string name(kind.name); tables_.contains(name)) out.push_back(name);
    return out;
  }
  const auto start = fmt::format("{}_", kind.name);
  for (auto it = tables_.lower_bound(start); it != tables_.end() && it->first.starts_with(start);
       ++it)
    if (it->second >= std::max<std::int64_t>(from, 1) && it->second <= to) out.push_back(it->first);
  return out;
}

base::Result<std::vector<Record>> SqliteRecords::of(const RecordKind& kind, std::uint64_t id,
                                                    base::Time from, base::Time to) {
  const std::lock_guard lock(mutex_);
  std::vector<Record> out;
  for (const auto& table : tables_of(kind, day_of(from), day_of(to))) {
    SOUK_ASSIGN(auto rows, db_.prepare(fmt::format("SELECT at, bytes FROM {} WHERE id = ?1 AND at "
                                                   "BETWEEN ?2 AND ?3 ORDER BY at",
                                                   table)));
    rows.bind(1, static_cast<std::int64_t>(id)).bind(2, kind.dated ? from.us : 0).bind(3, to.us);
    while (true) {
      SOUK_ASSIGN(const bool more, rows.step());
      if (!more) break;
      out.push_back({id, base::Time(rows.integer(0)), std::string(rows.bytes(1))});
    }
  }
  return out;
}

base::Result<std::vector<Record>> SqliteRecords::latest(const RecordKind& kind, std::size_t most) {
  const std::lock_guard lock(mutex_);
  std::vector<Record> out;
  auto tables = tables_of(kind, 0, kLastDay);
  std::ranges::reverse(tables);
  for (const auto& table : tables) {
    if (out.size() >= most) break;
    SOUK_ASSIGN(auto rows,
                db_.prepare(fmt::format(
                    "SELECT id, at, bytes FROM {} ORDER BY at DESC, id DESC LIMIT ?1", table)));
    rows.bind(1, static_cast<std::int64_t>(most - out.size()));
    while (true) {
      SOUK_ASSIGN(const bool more, rows.step());
      if (!more) break;
      out.push_back({static_cast<std::uint64_t>(rows.integer(0)), base::Time(rows.integer(1)),
                     std::string(rows.bytes(2))});
    }
  }
  return out;
}

base::Result<> SqliteRecords::remove(const RecordKind& kind, std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  for (const auto& table : tables_of(kind, 0, kLastDay)) {
    SOUK_ASSIGN(auto gone, db_.prepare(fmt::format("DELETE FROM {} WHERE id = ?1", table)));
    SOUK_TRY(gone.bind(1, static_cast<std::int64_t>(id)).run());
  }
  return {};
}

base::Result<std::size_t> SqliteRecords::drop_before(base::Time time) {
  const std::lock_guard lock(mutex_);
  std::size_t dropped = 0;
  for (auto it = tables_.begin(); it != tables_.end();) {
    if (it->second == 0 || it->second >= day_of(time)) {
      ++it;
      continue;
    }
    SOUK_TRY(db_.exec(("DROP TABLE IF EXISTS " + it->first).c_str()));
    it = tables_.erase(it);
    ++dropped;
  }
  if (dropped > 0) SOUK_TRY(db_.exec("PRAGMA incremental_vacuum"));
  return dropped;
}

base::Result<std::uint64_t> SqliteRecords::bytes() {
  const std::lock_guard lock(mutex_);
  SOUK_ASSIGN(const auto pages, db_.integer("PRAGMA page_count"));
  SOUK_ASSIGN(const auto size, db_.integer("PRAGMA page_size"));
  return static_cast<std::uint64_t>(pages * size);
}

}  // namespace souk::journal
