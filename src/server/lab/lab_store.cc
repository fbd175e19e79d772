#include "server/lab/lab_store.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "server/record/usage_log.h"
#include "wire/json.h"

namespace souk::server {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;
using wire::LabRunId;

constexpr std::size_t kMostRuns = 1'000'000;  // Only against nonsense.
constexpr std::string_view kHint = "forget the run, and run it again";

// LabResult, with the names that its file has.
struct StoredResult {
  std::optional<lab::Summary> summary = {};
  std::vector<lab::Comparison> comparisons = {};
  std::string report;
  std::string trades;
  std::optional<lab::Replayed> replay = {};
  SOUK_FIELDS(StoredResult, summary, comparisons, report, trades, replay)
};

}  // namespace

void LabStore::take_over(const std::string& folder) const {
  std::error_code none;
  if (records_ == nullptr || folder.empty() || !fs::is_directory(folder, none)) return;
  for (const auto& file : fs::directory_iterator(folder, none)) {
    const auto name = file.path().filename().string();
    const auto id = base::IdTraits<LabRunId>::parse(name.substr(0, name.find('.')));
    auto text = id ? base::read_file(file.path().string(), "") : fail(Code::invalid, "");
    if (!text) continue;
    const auto& kind = name.ends_with(".result.json") ? kLabResultRecords : kLabRunRecords;
    if (const auto kept = put(kind, *id, *std::move(text)); !kept)
      spdlog::warn("lab: {} stays where it is: {}", file.path().string(), kept.error().message);
    else
      fs::remove(file.path(), none);
  }
  fs::remove(folder, none);  // Unless there is something else in it.
}

std::uint64_t LabStore::last_id() const {
  if (records_ == nullptr) return 0;
  const auto newest = records_->latest(kLabRunRecords, 1);
  return newest && !newest->empty() ? newest->front().id : 0;
}

std::vector<LabStore::Record> LabStore::load() const {
  std::vector<Record> out;
  if (records_ == nullptr) return out;
  const auto rows = records_->latest(kLabRunRecords, kMostRuns);
  if (!rows) {
    spdlog::error("lab: earlier runs cannot be read: {}", rows.error().message);
    return out;
  }
  for (const auto& row : *rows) {
    auto record = wire::from_json<Record>(row.bytes);
    if (record && record->run.id == LabRunId(row.id))
      out.push_back(*std::move(record));
    else
      spdlog::warn("lab: {} is not a run that this program can read: {}",
                   to_string(LabRunId(row.id)),
                   record ? "it holds another run" : record.error().message);
  }
  std::ranges::reverse(out);
  return out;
}

Result<> LabStore::put(const journal::RecordKind& kind, LabRunId id, std::string bytes) const {
  if (records_ == nullptr) return {};
  return records_->put(kind, std::vector<journal::Record>{{id.value, {}, std::move(bytes)}});
}

Result<> LabStore::save(const Record& record) const {
  return put(kLabRunRecords, record.run.id, wire::to_json(record));
}

Result<> LabStore::save_result(LabRunId id, const LabResult& r) const {
  const StoredResult stored{r.summary, r.comparisons, r.report, r.trades, r.replay};
  return put(kLabResultRecords, id, wire::to_json(stored));
}

Result<LabResult> LabStore::result(LabRunId id) const {
  if (records_ == nullptr) return fail(Code::not_found, "nothing is kept here");
  SOUK_ASSIGN(const auto rows, records_->of(kLabResultRecords, id.value, {}, {}));
  if (rows.empty())
    return fail(Code::not_found, fmt::format("the result of run {} is gone", to_string(id)),
                std::string(kHint));
  auto stored = wire::from_json<StoredResult>(rows.front().bytes);
  if (!stored)
    return fail(Code::internal,
                fmt::format("the result of run {} cannot be read: {}", to_string(id),
                            stored.error().message),
                std::string(kHint));
  return LabResult{std::move(stored->summary), std::move(stored->comparisons),
                   std::move(stored->report), std::move(stored->trades), std::move(stored->replay)};
}

std::size_t LabStore::result_bytes(LabRunId id) const {
  if (records_ == nullptr) return 0;
  const auto rows = records_->of(kLabResultRecords, id.value, {}, {});
  return rows && !rows->empty() ? rows->front().bytes.size() : 0;
}

void LabStore::remove(LabRunId id) const {
  if (records_ == nullptr) return;
  for (const auto& kind : {kLabRunRecords, kLabResultRecords})
    if (const auto gone = records_->remove(kind, id.value); !gone)
      spdlog::warn("lab: cannot remove {}: {}", to_string(id), gone.error().message);
}

}  // namespace souk::server
