#include "journal/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/text.h"
#include "journal/archive.h"
#include "journal/files.h"
#include "journal/memory.h"
#include "journal/postgres/postgres_journal.h"
#include "journal/sqlite.h"

namespace souk::journal {
namespace {

using base::Code;

base::Result<Opened> open_sqlite(const std::string& path, const OpenOptions& options) {
  if (path.empty())
    return base::fail(Code::invalid, "'sqlite:' names no file", "give its path: sqlite:PATH");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return SqliteJournal::open(path + "/journal.db", {.read_only = options.read_only});
  return SqliteJournal::open(path, {.read_only = options.read_only});
}

base::Result<Opened> open_memory(const std::string& path, const OpenOptions& options) {
  if (!path.empty())
    return base::fail(Code::invalid, fmt::format("'memory:{}' names a file", path),
                      "a journal in memory has none: memory:");
  if (options.read_only)
    return base::fail(Code::not_found, "a journal in memory is seen by nobody else");
  return Opened{.journal = std::make_unique<MemoryJournal>(), .name = "memory:"};
}

base::Result<Opened> open_postgres(const std::string& rest, const OpenOptions& options) {
  return PostgresJournal::open("postgres:" + rest, {.read_only = options.read_only});
}

std::uint64_t bytes_in_files(const std::string& rest) {
  const std::filesystem::path path(rest);
  std::uint64_t out = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(path), error)) {
    if (!entry.path().filename().string().starts_with(path.filename().string())) continue;
    const auto size = entry.file_size(error);
    if (!error) out += size;
  }
  return out;
}

std::uint64_t bytes_in_database(const std::string& rest) {
  const auto opened = open_postgres(rest, {.read_only = true});
  if (!opened) return 0;
  return static_cast<PostgresJournal&>(*opened->journal).bytes_on_disk().value_or(0);
}

struct Backend {
  std::string_view scheme;
  std::string_view usage;
  Reach reach;
  base::Result<Opened> (*open)(const std::string& rest, const OpenOptions& options);
  std::uint64_t (*bytes_on_disk)(const std::string& rest);
};

constexpr Backend kBackends[] = {
    {"sqlite", "sqlite:PATH", Reach::computer, open_sqlite, bytes_in_files},
    {"postgres", "postgres://USER@HOST/DATABASE", Reach::servers, open_postgres, bytes_in_database},
    {"postgresql", "", Reach::servers, open_postgres, bytes_in_database},
    {"memory", "memory:", Reach::process, open_memory, [](const std::string&) { return 0ul; }},
};

struct Address {
  const Backend* backend;
  std::string rest;  // Of the URL, after the colon.
};

// "name:" at the beginning; empty for a path.
std::string_view scheme_of(std::string_view where) {
  const auto end = where.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-");
  return end != std::string_view::npos && end > 0 && where[end] == ':' ? where.substr(0, end) : "";
}

base::Failure unknown(std::string_view scheme) {
  std::vector<std::string_view> schemes;
  std::string usages;
  for (const auto& b : kBackends) {
    schemes.push_back(b.scheme);
    if (b.usage.empty()) continue;  // Another spelling.
    usages += fmt::format("{}{}", usages.empty() ? "" : ", ", b.usage);
  }
  const auto nearest = base::nearest(scheme, schemes);
  return base::fail(Code::invalid, fmt::format("no journal is kept in '{}:'", scheme.substr(0, 80)),
                    nearest.empty()
                        ? fmt::format("one of: {}", usages)
                        : fmt::format("did you mean '{}:'? One of: {}", nearest, usages));
}

base::Result<Address> resolve(const std::string& where) {
  const auto scheme = scheme_of(where);
  if (scheme.empty()) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(where, ignored)) return resolve("sqlite:" + where);
    return resolve(url_in(where));
  }
  const auto* it = std::ranges::find(kBackends, scheme, &Backend::scheme);
  if (it == std::end(kBackends)) return unknown(scheme);
  return Address{it, where.substr(scheme.size() + 1)};
}

}  // namespace

base::Result<Opened> open(const std::string& where, const OpenOptions& options) {
  SOUK_ASSIGN(const auto address, resolve(where));
  return address.backend->open(address.rest, options);
}

base::Result<OpenedHistory> open_archived(const std::string& where, const std::string& archive) {
  SOUK_ASSIGN(const auto address, resolve(where));
  if (address.backend->reach == Reach::process)
    return base::fail(Code::invalid,
                      fmt::format("a journal in memory has no archives in {}", archive));
  SOUK_ASSIGN(auto opened, address.backend->open(address.rest, {.read_only = true}));
  return ArchivedJournal::open(std::move(opened), archive);
}

base::Result<std::unique_ptr<ChainedJournal>> open_chained(const std::string& where,
                                                           const OpenOptions& options) {
  SOUK_ASSIGN(const auto address, resolve(where));
  if (address.backend->reach == Reach::process)
    return base::fail(Code::invalid, "a journal in memory is seen by nobody else",
                      "name one in a file or a database");
  SOUK_ASSIGN(auto opened, address.backend->open(address.rest, options));
  return std::unique_ptr<ChainedJournal>(static_cast<ChainedJournal*>(opened.journal.release()));
}

base::Result<Reach> reach_of(const std::string& where) {
  SOUK_ASSIGN(const auto address, resolve(where));
  return address.backend->reach;
}

std::uint64_t bytes_on_disk(const std::string& where) {
  const auto address = resolve(where);
  return address ? address->backend->bytes_on_disk(address->rest) : 0;
}

std::string url_in(const std::string& folder) { return "sqlite:" + folder + "/journal.db"; }

}  // namespace souk::journal
