#include "journal/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/text.h"
#include "journal/archive.h"
#include "journal/files.h"
#include "journal/memory.h"
#include "journal/sqlite.h"

namespace souk::journal {
namespace {

using base::Code;

base::Result<Opened> open_sqlite(const std::string& path, const OpenOptions& options) {
  if (path.empty())
    return base::fail(Code::invalid, "'sqlite:' names no file", "give its path: sqlite:PATH");
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

base::Result<OpenedHistory> no_archives(const std::string&, const std::string& folder) {
  return base::fail(Code::invalid,
                    fmt::format("a journal in memory has no archives in {}", folder));
}

struct Backend {
  std::string_view scheme;
  std::string_view usage;
  bool survives;  // The end of the process.
  base::Result<Opened> (*open)(const std::string& rest, const OpenOptions& options);
  base::Result<OpenedHistory> (*open_archived)(const std::string& rest, const std::string& folder);
};

constexpr Backend kBackends[] = {
    {"sqlite", "sqlite:PATH", true, open_sqlite, ArchivedJournal::open},
    {"memory", "memory:", false, open_memory, no_archives},
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
  return address.backend->open_archived(address.rest, archive);
}

base::Result<bool> survives(const std::string& where) {
  SOUK_ASSIGN(const auto address, resolve(where));
  return address.backend->survives;
}

std::uint64_t bytes_on_disk(const std::string& where) {
  const auto address = resolve(where);
  if (!address || !address->backend->survives) return 0;
  const std::filesystem::path path(address->rest);
  std::uint64_t out = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(path), error)) {
    if (!entry.path().filename().string().starts_with(path.filename().string())) continue;
    const auto size = entry.file_size(error);
    if (!error) out += size;
  }
  return out;
}

std::string url_in(const std::string& folder) { return "sqlite:" + folder + "/journal.db"; }

}  // namespace souk::journal
