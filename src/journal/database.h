#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace souk::journal {

// One prepared statement. Must not outlive its Database. Text and bytes bound to it must stay alive
// until reset(); what a column returns is good until the next step() or reset().
class Statement {
 public:
  Statement() = default;

  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, std::string_view bytes);  // As a BLOB.

  // true: there is a row to read; false: done.
  [[nodiscard]] base::Result<bool> step();
  // Runs a statement that yields no rows, and makes it ready to be bound again.
  [[nodiscard]] base::Result<> run();
  void reset();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string_view bytes(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* s) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// A SQLite connection for one thread. The only place that turns SQLite's codes into errors:
//   damaged      the file is not what was written (CORRUPT, NOTADB, a failed read)
//   exhausted    no space
//   unavailable  anything else about the file or the disk
class Database {
 public:
  // Opens an existing file, or makes one with `create`. An empty `vfs` means SQLite's own.
  enum class Mode { read_only, read_write, create };
  [[nodiscard]] static base::Result<Database> open(const std::string& path, Mode mode,
                                                   const std::string& vfs = {});

  [[nodiscard]] base::Result<> exec(const char* sql);
  [[nodiscard]] base::Result<Statement> prepare(std::string_view sql);
  // The first column of the first row of `sql`, for PRAGMAs; 0 or "" without a row.
  [[nodiscard]] base::Result<std::int64_t> integer(std::string_view sql);
  [[nodiscard]] base::Result<std::string> text(std::string_view sql);

  // Can it be written to? SQLite opens read-only, without an error, what it must not write.
  [[nodiscard]] bool writable() const;

  // Whether closing moves the log into the database (SQLite's default). Not after a failed write,
  // nor when nothing may change.
  void checkpoint_on_close(bool yes);

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  std::unique_ptr<sqlite3, Close> db_;
};

}  // namespace souk::journal
