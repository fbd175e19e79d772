#include "server/lab/lab_store.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "blob/files.h"
#include "wire/json.h"

namespace souk::server {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;
using wire::LabRunId;

constexpr std::string_view kRun = ".json";
constexpr std::string_view kResult = ".result.json";
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

std::string LabStore::path(LabRunId id, std::string_view end) const {
  return fmt::format("{}/{}{}", folder_, to_string(id), end);
}

std::vector<LabRunId> LabStore::ids() const {
  std::set<LabRunId> out;
  std::error_code none;
  if (folder_.empty()) return {};
  for (const auto& file : fs::directory_iterator(folder_, none)) {
    const auto name = file.path().filename().string();
    if (const auto id = base::IdTraits<LabRunId>::parse(name.substr(0, name.find('.'))))
      out.insert(*id);
  }
  return {out.begin(), out.end()};
}

std::uint64_t LabStore::last_id() const {
  const auto all = ids();
  return all.empty() ? 0 : all.back().value;
}

std::vector<LabStore::Record> LabStore::load() const {
  std::vector<Record> out;
  for (const auto id : ids()) {
    const auto file = path(id, kRun);
    const auto text = base::read_file(file, "");
    auto record = text ? wire::from_json<Record>(*text) : std::unexpected(text.error());
    if (record && record->run.id == id)
      out.push_back(*std::move(record));
    else
      spdlog::warn("lab: {} is not a run that this program can read: {}", file,
                   record ? "it holds another run" : record.error().message);
  }
  return out;
}

Result<> LabStore::write(const std::string& file, std::string_view bytes) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    return fail(Code::unavailable, fmt::format("cannot make {}: {}", folder_, error.message()),
                "look at the disk and at who may write there");
  return blob::replace_file(file, bytes);
}

Result<> LabStore::save(const Record& record) const {
  if (folder_.empty()) return {};
  return write(path(record.run.id, kRun), wire::to_json(record));
}

Result<> LabStore::save_result(LabRunId id, const LabResult& r) const {
  if (folder_.empty()) return {};
  const StoredResult stored{r.summary, r.comparisons, r.report, r.trades, r.replay};
  return write(path(id, kResult), wire::to_json(stored));
}

Result<LabResult> LabStore::result(LabRunId id) const {
  SOUK_ASSIGN(const auto text, base::read_file(path(id, kResult), std::string(kHint)));
  auto stored = wire::from_json<StoredResult>(text);
  if (!stored)
    return fail(Code::internal,
                fmt::format("the result of run {} cannot be read: {}", to_string(id),
                            stored.error().message),
                std::string(kHint));
  return LabResult{std::move(stored->summary), std::move(stored->comparisons),
                   std::move(stored->report), std::move(stored->trades), std::move(stored->replay)};
}

std::size_t LabStore::result_bytes(LabRunId id) const {
  std::error_code none;
  const auto size = fs::file_size(path(id, kResult), none);
  return none ? 0 : size;
}

void LabStore::remove(LabRunId id) const {
  if (folder_.empty()) return;
  for (const auto end : {kRun, kResult}) {
    std::error_code error;
    fs::remove(path(id, end), error);
    if (error) spdlog::warn("lab: cannot remove {}: {}", path(id, end), error.message());
  }
}

}  // namespace souk::server
