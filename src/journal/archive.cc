#include "journal/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "journal/rules.h"
#include "journal/sqlite.h"

namespace souk::journal {
namespace {

namespace fs = std::filesystem;
using base::Code;

constexpr std::string_view kPrefix = "journal-", kSuffix = ".db";

// The number in the name of an archive; nothing if the file is something else.
std::optional<std::uint64_t> first_of(const std::string& name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const auto* begin = name.data() + kPrefix.size();
  const auto* end = name.data() + name.size() - kSuffix.size();
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

}  // namespace

std::string archive_path(const std::string& folder, std::uint64_t first) {
  return fmt::format("{}/{}{:020}{}", folder, kPrefix, first, kSuffix);
}

base::Result<OpenedHistory> ArchivedJournal::open(const std::string& path,
                                                  const std::string& folder) {
  SOUK_ASSIGN(auto opened, SqliteJournal::open(path, {.read_only = true}));
  auto& journal = static_cast<SqliteJournal&>(*opened.journal);
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
