#include "journal/migrate.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace souk::journal {
namespace {

using base::Code;
using base::fail;
using base::Result;

// What is written at once.
constexpr std::size_t kMostRows = 500;
constexpr std::size_t kMostBytes = 8 << 20;

base::Failure another_history(std::uint64_t event) {
  return fail(
      Code::conflict,
      fmt::format("the target holds another history: the two differ before event {}", event),
      "name an empty one: a new file, or a database or schema without a market");
}

// The target may only hold the beginning of what is copied.
Result<> check_target(ChainedJournal& from, ChainedJournal& to) {
  const auto event = to.next();
  if (event > from.next())
    return fail(
        Code::conflict,
        fmt::format("the target holds {} events, the source {}", event - 1, from.next() - 1),
        "is it the other way round?");
  SOUK_ASSIGN(const auto there, to.chain_before(event));
  const auto here = from.chain_before(event);
  if (!here && here.error().code != Code::not_found) return std::unexpected(here.error());
  return here && *here == there ? Result<>() : another_history(event);
}

// Rows on their way, with the bytes they view.
class Luggage {
 public:
  void add(const Batch& batch) {
    bytes_.emplace_back(batch.bytes);
    batches_.push_back({batch.first, batch.count, {}});
    size_ += batch.bytes.size();
  }
  [[nodiscard]] bool full() const { return batches_.size() >= kMostRows || size_ >= kMostBytes; }
  Result<> unload(ChainedJournal& to) {
    if (batches_.empty()) return {};
    for (std::size_t i = 0; i < batches_.size(); ++i) batches_[i].bytes = bytes_[i];
    SOUK_TRY(to.append_all(batches_));
    batches_.clear();
    bytes_.clear();
    size_ = 0;
    return {};
  }

 private:
  std::vector<Batch> batches_;
  std::vector<std::string> bytes_;
  std::size_t size_ = 0;
};

}  // namespace

Result<Migrated> migrate(ChainedJournal& from, ChainedJournal& to,
                         const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  if (to.next() == 1 && from.first() > 1) {
    SOUK_ASSIGN(const auto base, from.base());
    SOUK_ASSIGN(const auto key, from.chain_before(from.first()));
    SOUK_TRY(to.begin_at({from.first(), key}, base));
  }
  SOUK_TRY(check_target(from, to));
  const auto began = to.next();
  Luggage luggage;
  SOUK_TRY(from.replay(began, [&](const Batch& batch) -> Result<> {
    luggage.add(batch);
    if (!luggage.full()) return {};
    SOUK_TRY(luggage.unload(to));
    if (progress) progress(to.next() - 1, from.next() - 1);
    return {};
  }));
  SOUK_TRY(luggage.unload(to));
  SOUK_TRY(check_target(from, to));
  return Migrated{.copied = to.next() - began, .events = to.next() - 1};
}

}  // namespace souk::journal
