#include "journal/records/records.h"

#include <fmt/format.h>

#include <chrono>

#include "journal/records/sqlite_records.h"

namespace souk::journal {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

}  // namespace

base::Result<std::unique_ptr<Records>> open_records(const std::string& where) {
  if (where.starts_with(kSqlite)) return SqliteRecords::open(where.substr(kSqlite.size()));
  return base::fail(base::Code::invalid, fmt::format("no records are kept in '{}'", where),
                    "sqlite:PATH");
}

std::int64_t day_of(base::Time time) {
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(
      std::chrono::sys_time(std::chrono::duration<std::int64_t, std::micro>(time.us))));
  return int{date.year()} * 10'000 + unsigned{date.month()} * 100 + unsigned{date.day()};
}

}  // namespace souk::journal
