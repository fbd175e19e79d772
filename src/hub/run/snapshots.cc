#include "hub/run/snapshots.h"

#include <fstream>
#include <map>
#include <span>
#include <utility>

#include "base/kill_point.h"
#include "blob/files.h"
#include "blob/folder.h"
#include "wire/api_json.h"

namespace souk::hub {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr auto kTryAgain = base::seconds(1);
// Of what this server wrote itself: only against a damaged disk.
constexpr std::uint64_t kMostHead = 1 << 30, kMostParameters = 64ull << 30;

std::span<const float> floats(std::string_view bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

void append(std::string& out, const train::Blocks& blocks) {
  for (const auto& block : blocks)
    out.append(reinterpret_cast<const char*>(block->data()), block->size() * sizeof(float));
}

}  // namespace

Snapshots::Snapshots(blob::Store& blobs, const base::Clock& clock, SnapshotOptions options)
    : blobs_(blobs),
      clock_(clock),
      options_(std::move(options)),
      next_(clock.now() + options_.every) {}

Result<std::optional<Snapshots::LastSnapshot>> Snapshots::read_last() const {
  std::ifstream in(options_.pointer);
  std::string name;
  if (!(in >> name)) return std::nullopt;
  LastSnapshot out;
  SOUK_ASSIGN(out.root, blob::parse_digest(name));
  SOUK_ASSIGN(out.manifest, blob::read_manifest(out.root, blobs_));
  SOUK_ASSIGN(const auto text, blob::read_file(out.manifest, "state.json", blobs_, kMostHead));
  SOUK_ASSIGN(out.head, wire::from_json<SnapshotHead>(text));
  return out;
}

Result<std::vector<Wage>> Snapshots::saved_wages() const {
  SOUK_ASSIGN(auto last, read_last());
  return last ? std::move(last->head.owed) : std::vector<Wage>{};
}

Result<std::optional<Snapshots::Snapshot>> Snapshots::recover() {
  SOUK_ASSIGN(auto last, read_last());
  if (!last) return std::nullopt;
  const auto& [root, manifest, head] = *last;
  Snapshot out{.head = head};
  SOUK_ASSIGN(const auto data, blob::read_file(manifest, "parameters", blobs_, kMostParameters));
  const auto size = out.head.layout.size();
  const auto planes = static_cast<std::size_t>(out.head.planes);
  if (data.size() != size * sizeof(float) * (planes + 1))
    return fail(Code::damaged, "the snapshot of a training has the wrong length");
  const auto values = floats(data);
  out.parameters = {.values = train::blocks_of(values.first(size)), .version = out.head.version};
  for (std::size_t p = 1; p <= planes; ++p)
    out.parameters.planes.push_back(train::blocks_of(values.subspan(p * size, size)));
  const std::lock_guard lock(mutex_);
  last_ = {out.head.training.initialised, out.head.training.finished, out.head.next_wage};
  pin_ = blobs_.pin(manifest.chunks());
  pin_.add(root);
  return out;
}

bool Snapshots::due(const SaveMark& mark) const {
  const auto now = clock_.now();
  const std::lock_guard lock(mutex_);
  if (!mark.initialised || mark == last_ || now < not_before_) return false;
  return !last_ || mark.finished || now >= next_ ||
         mark.next_wage - last_->next_wage >= options_.accepted;
}

Result<> Snapshots::save(const SaveMark& mark, const SnapshotHead& head,
                         const SavedParameters& parameters) {
  const auto written = write(head, parameters);
  const auto now = clock_.now();
  const std::lock_guard lock(mutex_);
  if (!written) {
    not_before_ = now + kTryAgain;
    return written;
  }
  last_ = mark;
  next_ = now + options_.every;
  return {};
}

Result<> Snapshots::write(const SnapshotHead& head, const SavedParameters& parameters) {
  std::string data;
  append(data, parameters.values);
  for (const auto& plane : parameters.planes) append(data, plane);
  std::map<std::string, std::string> files;
  files.emplace("parameters", std::move(data));
  files.emplace("state.json", wire::to_json(head));
  SOUK_ASSIGN(auto packed, blob::pack_files(files, blobs_));
  SOUK_TRY(blob::replace_file(options_.pointer, to_string(packed.root) + "\n"));
  base::kill_point("training-saved");
  const std::lock_guard lock(mutex_);
  std::swap(pin_, packed.pin);  // The one before is let go after the lock.
  return {};
}

}  // namespace souk::hub
