#include "hub/run/snapshots.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <utility>

#include "base/kill_point.h"
#include "blob/files.h"
#include "blob/folder_writer.h"
#include "wire/json.h"

namespace souk::hub {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr auto kTryAgain = base::seconds(1);
// Of what this server wrote itself: only against a damaged disk.
constexpr std::uint64_t kMostHead = 1 << 30;
// A large model takes long to save. At most a tenth of the time goes into it.
constexpr std::int64_t kBetween = 9;

Result<> append(blob::FolderWriter& to, const train::Blocks& blocks) {
  for (const auto& block : blocks) {
    SOUK_TRY(
        to.append({reinterpret_cast<const char*>(block->data()), block->size() * sizeof(float)}));
    block->let_go();
  }
  return {};
}

base::Failure wrong_length() {
  return fail(Code::damaged, "the snapshot of a training has the wrong length");
}

// Bytes in pieces of any length, as blocks of so many runs of `size` floats.
class BlocksReader {
 public:
  BlocksReader(std::size_t size, std::size_t runs) : size_(size), runs_(runs) {}

  Result<> add(std::string_view bytes) {
    while (!bytes.empty()) {
      if (runs_.size() == run_) return wrong_length();
      if (!block_)
        block_ = std::make_shared<train::Block>(std::min(train::kBlock, size_ - floats_));
      const auto room = std::as_writable_bytes(block_->change()).subspan(filled_);
      const auto part = std::min(room.size(), bytes.size());
      std::memcpy(room.data(), bytes.data(), part);
      bytes.remove_prefix(part);
      filled_ += part;
      if (part == room.size()) end_block();
    }
    return {};
  }
  Result<std::vector<train::Blocks>> finish() {
    if (run_ != runs_.size()) return wrong_length();
    return std::move(runs_);
  }

 private:
  void end_block() {
    floats_ += block_->size();
    runs_[run_].push_back(std::exchange(block_, nullptr));
    filled_ = 0;
    if (floats_ < size_) return;
    floats_ = 0;
    ++run_;
  }

  const std::size_t size_;
  std::vector<train::Blocks> runs_;
  std::size_t run_ = 0, floats_ = 0;  // Where the next block belongs.
  std::shared_ptr<train::Block> block_;
  std::size_t filled_ = 0;  // Bytes of it.
};

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
  const auto size = out.head.layout.size();
  if (size == 0) return wrong_length();
  BlocksReader reader(size, static_cast<std::size_t>(out.head.planes) + 1);
  SOUK_TRY(blob::read_chunks(manifest, "parameters", blobs_,
                             [&](std::string_view bytes) { return reader.add(bytes); }));
  SOUK_ASSIGN(auto runs, reader.finish());
  out.parameters.version = out.head.version;
  out.parameters.values = std::move(runs.front());
  runs.erase(runs.begin());
  out.parameters.planes = std::move(runs);
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
         (now >= rested_ && mark.next_wage - last_->next_wage >= options_.accepted);
}

Result<> Snapshots::save(const SaveMark& mark, const SnapshotHead& head,
                         const SavedParameters& parameters) {
  const auto before = clock_.now();
  const auto written = write(head, parameters);
  const auto now = clock_.now();
  const std::lock_guard lock(mutex_);
  if (!written) {
    not_before_ = now + kTryAgain;
    return written;
  }
  last_ = mark;
  rested_ = now + base::Duration((now - before).us * kBetween);
  next_ = std::max(now + options_.every, rested_);
  return {};
}

Result<> Snapshots::write(const SnapshotHead& head, const SavedParameters& parameters) {
  blob::FolderWriter folder(blobs_);
  SOUK_TRY(folder.begin("parameters"));
  SOUK_TRY(append(folder, parameters.values));
  for (const auto& plane : parameters.planes) SOUK_TRY(append(folder, plane));
  SOUK_TRY(folder.add("state.json", wire::to_json(head)));
  SOUK_ASSIGN(auto packed, folder.finish());
  SOUK_TRY(blob::replace_file(options_.pointer, to_string(packed.root) + "\n"));
  base::kill_point("training-saved");
  const std::lock_guard lock(mutex_);
  std::swap(pin_, packed.pin);  // The one before is let go after the lock.
  return {};
}

}  // namespace souk::hub
