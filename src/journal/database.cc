#include "journal/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/check.h"

namespace souk::journal {
namespace {

// How long a statement waits for another connection: only a reader that is just opening or closing
// can hold a writer up, and for microseconds.
constexpr int kBusyTimeoutMs = 5'000;

base::Failure failure(sqlite3* db, int code) {
  const auto primary = code & 0xff;
  auto kind = base::Code::unavailable;
  // SQLITE_ERROR can only mean a table or column is not there: our statements are constants.
  if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_ERROR ||
      primary == SQLITE_FORMAT)
    kind = base::Code::damaged;
  if (code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ || code == SQLITE_IOERR_DATA ||
      code == SQLITE_IOERR_CORRUPTFS)
    kind = base::Code::damaged;
  if (primary == SQLITE_FULL) kind = base::Code::exhausted;
  const char* name = db != nullptr ? sqlite3_db_filename(db, "main") : nullptr;
  return base::fail(
      kind, fmt::format("{}: {} (SQLite code {})", name != nullptr && *name != 0 ? name : "journal",
                        db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code), code));
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }

Statement& Statement::bind(int index, std::int64_t value) {
  CHECK(sqlite3_bind_int64(statement_.get(), index, value) == SQLITE_OK);
  return *this;
}

Statement& Statement::bind(int index, std::string_view bytes) {
  // A null pointer would bind NULL rather than an empty BLOB.
  const char* data = bytes.data() != nullptr ? bytes.data() : "";
  CHECK(sqlite3_bind_blob64(statement_.get(), index, data, bytes.size(), SQLITE_STATIC) ==
        SQLITE_OK);
  return *this;
}

base::Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  auto* db = sqlite3_db_handle(statement_.get());
  return failure(db, sqlite3_extended_errcode(db));
}

base::Result<> Statement::run() {
  const auto stepped = step();
  reset();
  if (!stepped) return std::unexpected(stepped.error());
  CHECK(!*stepped);
  return {};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return data != nullptr ? std::string_view(data, size) : std::string_view();
}

void Database::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

base::Result<Database> Database::open(const std::string& path, Mode mode, const std::string& vfs) {
  int flags = SQLITE_OPEN_NOMUTEX;  // One thread at a time is the journal's contract.
  if (mode == Mode::read_only) flags |= SQLITE_OPEN_READONLY;
  if (mode == Mode::read_write) flags |= SQLITE_OPEN_READWRITE;
  if (mode == Mode::create) flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, vfs.empty() ? nullptr : vfs.c_str());
  Database db;
  db.db_.reset(raw);
  if (code != SQLITE_OK) return failure(raw, code);
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  return db;
}

base::Result<> Database::exec(const char* sql) {
  const int code = sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(db_.get(), sqlite3_extended_errcode(db_.get()));
  return {};
}

base::Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  Statement statement;
  statement.statement_.reset(raw);
  if (code != SQLITE_OK) return failure(db_.get(), sqlite3_extended_errcode(db_.get()));
  return statement;
}

base::Result<std::int64_t> Database::integer(std::string_view sql) {
  SOUK_ASSIGN(auto statement, prepare(sql));
  SOUK_ASSIGN(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

base::Result<std::string> Database::text(std::string_view sql) {
  SOUK_ASSIGN(auto statement, prepare(sql));
  SOUK_ASSIGN(const bool row, statement.step());
  return row ? std::string(statement.bytes(0)) : std::string();
}

bool Database::writable() const { return sqlite3_db_readonly(db_.get(), "main") == 0; }

void Database::checkpoint_on_close(bool yes) {
  sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, yes ? 0 : 1, nullptr);
}

}  // namespace souk::journal
