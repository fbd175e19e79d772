#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "base/check.h"
#include "journal/archive.h"
#include "journal/rules.h"
#include "journal/snapshot.h"
#include "journal/sqlite.h"
#include "journal/sqlite_format.h"

// How a SQLite journal loses its beginning: base files, archives, the cut and the rows before it.

namespace souk::journal {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Digest;

// What one trim() removes: some milliseconds of work.
constexpr std::int64_t kCutBytes = 1 << 20;
constexpr int kCutRows = 1'000;

constexpr std::string_view kBase = ".base-";

std::string base_path(const std::string& journal, std::uint64_t events) {
  return fmt::format("{}{}{}", journal, kBase, events);
}

// Removes the bases of other cuts, which a crash or a cut left. Nobody misses one that stays.
void remove_other_bases(const std::string& journal, std::uint64_t events) {
  const auto keep = fs::path(base_path(journal, events)).filename();
  const auto prefix = fs::path(journal).filename().string() + std::string(kBase);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_of(journal), ignored)) {
    const auto name = entry.path().filename();
    if (name.string().starts_with(prefix) && name != keep) fs::remove(entry.path(), ignored);
  }
}

base::Result<std::string> load_base(const std::string& journal, std::uint64_t events,
                                    const Digest& digest) {
  const auto path = base_path(journal, events);
  const auto unusable = [&](std::string_view why) {
    return base::fail(
        Code::damaged,
        fmt::format("{} begins with event {}, and the state before it cannot be read: {}", journal,
                    events + 1, why),
        fmt::format("bring {} back from a backup: without it the events that are left lead nowhere",
                    path));
  };
  auto loaded = load_snapshot(path);
  if (!loaded.snapshot) return unusable(loaded.note);
  if (loaded.snapshot->seq != events)
    return unusable(fmt::format("{} is the state after event {}", path, loaded.snapshot->seq));
  if (base::blake2b(loaded.snapshot->bytes) != digest)
    return unusable(fmt::format("{} is not the one whose hash the journal holds", path));
  return std::move(loaded.snapshot->bytes);
}

constexpr auto kNoBatch = [](const Batch&) { return base::Result<>(); };

}  // namespace

// Where the journal begins, as the file says now.
base::Result<> SqliteJournal::read_start() {
  SOUK_ASSIGN(const auto format, db_.integer("SELECT format FROM meta WHERE id=1"));
  start_ = {1, root()};
  if (format == kWholeFormat) return {};
  SOUK_ASSIGN(auto row, db_.prepare("SELECT first, chain, base FROM cut WHERE id=1"));
  SOUK_ASSIGN(const bool found, row.step());
  if (!found || row.integer(0) <= 1)
    return base::fail(Code::damaged,
                      fmt::format("{}: the record of where it begins is missing", path_));
  start_ = {static_cast<std::uint64_t>(row.integer(0)), to_digest(row.bytes(1))};
  base_ = to_digest(row.bytes(2));
  return {};
}

// A wrong record would make good rows look dropped, so the first row must agree with it.
base::Result<> SqliteJournal::settle_start() {
  SOUK_TRY(db_.exec("BEGIN"));
  if (auto read = read_start(); !read) return unreadable(read.error());
  if (start_.next > 1) {
    SOUK_ASSIGN(auto meta, db_.prepare("SELECT next, chain FROM meta WHERE id=1"));
    const auto found = meta.step();
    if (!found) return unreadable(found.error());
    const bool empty = static_cast<std::uint64_t>(meta.integer(0)) == start_.next;
    const bool joined = to_digest(meta.bytes(1)) == start_.key;
    meta.reset();
    auto at = start_;
    const auto agrees = empty ? base::Result<>() : scan(at, start_.next + 1, kNoBatch);
    if (!agrees || (empty && !joined)) {
      std::ignore = db_.exec("ROLLBACK");
      if (!agrees && agrees.error().code != Code::damaged) return agrees;
      return damaged(start_.next, "the journal should begin there, and no row agrees with that");
    }
  }
  return db_.exec("COMMIT");
}

base::Result<std::string> SqliteJournal::base() {
  // A writer that cuts meanwhile takes the old base away, so what is missing is looked up again.
  for (int left = 3;; --left) {
    if (beside_writer_) SOUK_TRY(read_start());
    if (start_.next == 1) return std::string();
    auto bytes = load_base(path_, start_.next - 1, base_);
    if (bytes || !beside_writer_ || left == 0) return unless_writer_came(std::move(bytes));
  }
}

base::Result<> SqliteJournal::save_base(std::uint64_t first, std::string_view bytes) {
  SOUK_TRY(save_snapshot(base_path(path_, first - 1), first - 1, bytes));
  SOUK_TRY(load_base(path_, first - 1, base::blake2b(bytes)));  // Read back: it is the only one.
  return {};
}

base::Result<Digest> SqliteJournal::chain_before(std::uint64_t event) {
  if (event == start_.next) return start_.key;
  if (event == next_) return chain_;
  SOUK_ASSIGN(const auto at, seek(event));
  if (at.next != event)
    return base::fail(Code::not_found,
                      fmt::format("{}: no row begins with event {}", path_, event));
  return at.key;
}

base::Result<> SqliteJournal::cut(std::uint64_t first, const Digest& base) {
  SOUK_TRY(check_writable());
  CHECK(first > start_.next && first <= next_);
  CHECK(fs::exists(base_path(path_, first - 1)));
  const auto chain = chain_before(first);
  if (!chain && chain.error().code == Code::not_found) return no_batch_begins(first);
  if (!chain) return std::unexpected(chain.error());
  const Cursor start{first, *chain};
  if (first < next_) {
    auto at = start;
    SOUK_TRY(scan(at, first + 1, kNoBatch));
  }
  broken_ = true;
  SOUK_TRY(write_start(start, base));
  broken_ = false;
  start_ = start;
  base_ = base;
  remove_other_bases(path_, first - 1);
  return {};
}

base::Result<> SqliteJournal::write_start(const Cursor& start, const Digest& base) {
  SOUK_TRY(begin_.run());
  SOUK_TRY(put_start(start, base));
  return commit_.run();
}

// In a transaction that the caller began.
base::Result<> SqliteJournal::put_start(const Cursor& start, const Digest& base) {
  SOUK_TRY(db_.exec(kMakeCut));
  SOUK_ASSIGN(auto row, db_.prepare("INSERT OR REPLACE INTO cut VALUES(1, ?, ?, ?)"));
  row.bind(1, static_cast<std::int64_t>(start.next)).bind(2, view(start.key));
  SOUK_TRY(row.bind(3, view(base)).run());
  SOUK_ASSIGN(auto meta, db_.prepare("UPDATE meta SET format=? WHERE id=1"));
  return meta.bind(1, kCutFormat).run();
}

base::Result<bool> SqliteJournal::trim() {
  SOUK_TRY(check_writable());
  SOUK_ASSIGN(auto rows, db_.prepare("SELECT first, length(bytes) FROM batch WHERE first < ? "
                                     "ORDER BY first LIMIT ?"));
  rows.bind(1, static_cast<std::int64_t>(start_.next)).bind(2, std::int64_t{kCutRows});
  std::int64_t last = 0, bytes = 0;
  while (bytes < kCutBytes) {
    SOUK_ASSIGN(const bool more, rows.step());
    if (!more) break;
    last = rows.integer(0);
    bytes += rows.integer(1);
  }
  rows.reset();
  if (last == 0) {
    remove_other_bases(path_, start_.next - 1);
    return false;
  }
  SOUK_ASSIGN(auto remove, db_.prepare("DELETE FROM batch WHERE first <= ?"));
  broken_ = true;
  SOUK_TRY(remove.bind(1, last).run());
  broken_ = false;
  return true;
}

base::Result<> SqliteJournal::archive(const std::string& folder, std::uint64_t until,
                                      const Visit& also) {
  SOUK_ASSIGN(const auto end, chain_before(until));
  return write_archive(
      folder, {.start = start_, .base = base_, .end = {until, end}},
      [&](const Visit& visit) { return read(start_.next, until, visit); }, also);
}

base::Result<> SqliteJournal::begin_at(const Cursor& start, std::string_view base) {
  SOUK_TRY(check_writable());
  CHECK(next_ == 1 && start_.next == 1 && start.next > 1);
  SOUK_TRY(save_base(start.next, base));
  const auto digest = base::blake2b(base);
  broken_ = true;
  SOUK_TRY(begin_.run());
  SOUK_TRY(advance_.bind(1, static_cast<std::int64_t>(start.next)).bind(2, view(start.key)).run());
  SOUK_TRY(put_start(start, digest));
  SOUK_TRY(commit_.run());
  broken_ = false;
  start_ = start;
  base_ = digest;
  next_ = start.next;
  chain_ = start.key;
  return {};
}

}  // namespace souk::journal
