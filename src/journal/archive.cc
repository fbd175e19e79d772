#include "journal/archive.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "journal/files.h"
#include "journal/rules.h"
#include "journal/sqlite.h"
#include "journal/sqlite_format.h"

namespace souk::journal {
namespace {

namespace fs = std::filesystem;
using base::Code;

constexpr std::string_view kArchivePrefix = "journal-", kArchiveSuffix = ".db";

// The number in the name of an archive; nothing if the file is something else.
std::optional<std::uint64_t> first_of(const std::string& name) {
  if (!name.starts_with(kArchivePrefix) || !name.ends_with(kArchiveSuffix)) return std::nullopt;
  const auto* begin = name.data() + kArchivePrefix.size();
  const auto* end = name.data() + name.size() - kArchiveSuffix.size();
  std::uint64_t first = 0;
  const auto [at, error] = std::from_chars(begin, end, first);
  if (error != std::errc() || at != end) return std::nullopt;
  return first;
}

base::Result<std::vector<std::uint64_t>> firsts_in(const std::string& folder) {
  std::vector<std::uint64_t> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (const auto first = first_of(entry.path().filename())) out.push_back(*first);
  if (error)
    return base::fail(Code::not_found,
                      fmt::format("cannot read the folder {}: {}", folder, error.message()),
                      "--archive is the folder that `souk serve --archive` fills");
  std::ranges::sort(out);
  return out;
}

base::Result<> write_file(const std::string& path, const ArchivedRows& rows, const ReadRows& read,
                          const History::Visit& also) {
  SOUK_ASSIGN(auto db, Database::open(path, Database::Mode::create));
  // It is worth nothing before it is whole, so nothing need be durable before the end.
  SOUK_TRY(db.exec("PRAGMA journal_mode=OFF"));
  SOUK_TRY(db.exec("PRAGMA synchronous=OFF"));
  SOUK_TRY(db.exec("BEGIN"));
  SOUK_TRY(make_tables(db));
  SOUK_ASSIGN(auto insert, db.prepare("INSERT INTO batch VALUES(?, ?, ?, ?)"));
  Link link;
  auto at = rows.start;
  SOUK_TRY(read([&](const Batch& batch) -> base::Result<> {
    at = {batch.end(), link(batch, at.key)};
    insert.bind(1, static_cast<std::int64_t>(batch.first)).bind(2, std::int64_t{batch.count});
    SOUK_TRY(insert.bind(3, batch.bytes).bind(4, view(at.key)).run());
    return also(batch);
  }));
  const bool whole = rows.start.next == 1;
  SOUK_ASSIGN(auto meta, db.prepare("UPDATE meta SET format=?, next=?, chain=? WHERE id=1"));
  meta.bind(1, whole ? kWholeFormat : kCutFormat);
  SOUK_TRY(meta.bind(2, static_cast<std::int64_t>(at.next)).bind(3, view(at.key)).run());
  if (!whole) {
    SOUK_TRY(db.exec(kMakeCut));
    SOUK_ASSIGN(auto row, db.prepare("INSERT INTO cut VALUES(1, ?, ?, ?)"));
    row.bind(1, static_cast<std::int64_t>(rows.start.next)).bind(2, view(rows.start.key));
    SOUK_TRY(row.bind(3, view(rows.base)).run());
  }
  return db.exec("COMMIT");
}

}  // namespace

base::Result<> write_archive(const std::string& folder, const ArchivedRows& rows,
                             const ReadRows& read, const History::Visit& also) {
  const auto path = archive_path(folder, rows.start.next);
  const auto aside = path + ".new";
  for (const auto* suffix : {"", "-journal", "-wal", "-shm"}) ::unlink((aside + suffix).c_str());
  SOUK_TRY(write_file(aside, rows, read, also));
  SOUK_TRY(sync_file(aside));
  {
    SOUK_ASSIGN(const auto copy, SqliteJournal::open(aside, {.read_only = true}));
    SOUK_TRY(copy.journal->replay(copy.journal->first(), also));
    auto& journal = static_cast<SqliteJournal&>(*copy.journal);
    const auto end = journal.chain_before(rows.end.next);
    if (journal.next() != rows.end.next || !end || *end != rows.end.key || !copy.note.empty())
      return base::fail(Code::damaged, fmt::format("{} is not what was written to it", aside),
                        "nothing was dropped; look at the disk of the archive");
  }
  if (::rename(aside.c_str(), path.c_str()) != 0) return system_failure("rename", aside);
  return sync_folder(folder);
}

std::string archive_path(const std::string& folder, std::uint64_t first) {
  return fmt::format("{}/{}{:020}{}", folder, kArchivePrefix, first, kArchiveSuffix);
}

base::Result<OpenedHistory> ArchivedJournal::open(Opened opened, const std::string& folder) {
  auto& journal = static_cast<ChainedJournal&>(*opened.journal);
  SOUK_ASSIGN(const auto firsts, firsts_in(folder));
  // From the newest back: each must hold what comes before the one after it, and end in its key.
  std::vector<Part> parts;
  auto until = journal.first();
  SOUK_ASSIGN(auto key, journal.chain_before(until));
  for (auto it = firsts.rbegin(); it != firsts.rend(); ++it) {
    if (*it >= until) continue;  // Written, but never cut: the journal has it all.
    Part part{archive_path(folder, *it), *it, until};
    SOUK_ASSIGN(const auto file, SqliteJournal::open(part.path, {.read_only = true}));
    auto& archive = static_cast<SqliteJournal&>(*file.journal);
    if (archive.first() != part.first || archive.next() < until)
      return base::fail(
          Code::damaged,
          fmt::format("{} holds events {} to {}: {} to {} are in no archive", part.path,
                      archive.first(), archive.next() - 1, archive.next(), until - 1),
          "bring the missing archive back, or look without --archive");
    const auto end = archive.chain_before(until);
    if (!end || *end != key)
      return base::fail(Code::damaged,
                        fmt::format("{} does not join what follows it at event {}: it is of "
                                    "another journal, or damaged",
                                    part.path, until),
                        "bring the right archive back, or look without --archive");
    until = part.first;
    SOUK_ASSIGN(key, archive.chain_before(until));
    parts.push_back(std::move(part));
  }
  std::ranges::reverse(parts);
  return OpenedHistory{
      std::unique_ptr<History>(new ArchivedJournal(std::move(opened.journal), std::move(parts))),
      std::move(opened.note), opened.damage, std::move(opened.name)};
}

std::uint64_t ArchivedJournal::first() const {
  return parts_.empty() ? journal_->first() : parts_.front().first;
}

base::Result<> ArchivedJournal::replay(std::uint64_t from, const Visit& visit) {
  SOUK_TRY(check_kept(from, first(), "the oldest archive"));
  for (const auto& part : parts_) {
    if (part.until <= from) continue;
    SOUK_ASSIGN(const auto opened, SqliteJournal::open(part.path, {.read_only = true}));
    SOUK_TRY(opened.journal->replay(std::max(from, part.first), [&](const Batch& batch) {
      return batch.first < part.until ? visit(batch) : base::Result<>();
    }));
  }
  return journal_->replay(std::max(from, parts_.empty() ? 1 : parts_.back().until), visit);
}

}  // namespace souk::journal
