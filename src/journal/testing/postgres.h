#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/check.h"
#include "base/testing/servers.h"
#include "journal/postgres/postgres_journal.h"

namespace souk::journal::testing {

// One server for all tests of a process: starting it takes a second. Nothing where PostgreSQL is
// not installed.
inline std::optional<base::testing::Database>& postgres() {
  static auto server = base::testing::start_postgres(false);
  return server;
}

// The URL of a schema of its own, in which there is nothing yet.
inline std::optional<std::string> fresh_schema() {
  static int made = 0;
  if (!base::testing::has_postgres()) return std::nullopt;
  CHECK(postgres().has_value());  // What is installed must start.
  const auto name = fmt::format("test_{}", ++made);
  auto db = PgConnection::make(postgres()->url);
  CHECK(db && db->run(("CREATE SCHEMA " + name).c_str()));
  return fmt::format("{}?options=-csearch_path%3D{}", postgres()->url, name);
}

inline std::unique_ptr<PostgresJournal> open_postgres(const std::string& url,
                                                      const PostgresOptions& options = {}) {
  auto opened = PostgresJournal::open(url, options);
  CHECK(opened);
  return std::unique_ptr<PostgresJournal>(static_cast<PostgresJournal*>(opened->journal.release()));
}

}  // namespace souk::journal::testing
