#include "hub/stores/stores.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/hash.h"

namespace souk::hub {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kMostJobName = 64;

std::string_view as_bytes(std::span<const float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// Names become parts of keys.
Result<> check_job(std::string_view job) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (!job.empty() && job.size() <= kMostJobName && std::ranges::all_of(job, plain)) return {};
  return fail(Code::invalid, "the name of a job's store is not one",
              fmt::format("1 to {} letters, digits, '-', '_' and '.'", kMostJobName), "job");
}

// The one list of stores: whole URLs, and schemes.
struct StoreRow {
  std::string_view url;
  Result<std::unique_ptr<ParameterStore>> (*make)(std::string_view url, std::string_view job);
};
constexpr std::array kStores{
    StoreRow{"memory",
             [](std::string_view, std::string_view) -> Result<std::unique_ptr<ParameterStore>> {
               return make_memory_store();
             }},
    StoreRow{"redis://", make_redis_store},
    StoreRow{"postgresql://", make_postgres_store},
    StoreRow{"postgres://", make_postgres_store},
};

}  // namespace

Result<std::unique_ptr<ParameterStore>> make_store(std::string_view url, std::string_view job) {
  SOUK_TRY(check_job(job));
  for (const auto& row : kStores)
    if (row.url.ends_with("://") ? url.starts_with(row.url) : url == row.url)
      return row.make(url, job);
  // What follows a scheme may be a password.
  return fail(Code::invalid,
              fmt::format("there is no store '{}'",
                          url.substr(0, std::min<std::size_t>(url.find("://"), 40))),
              "memory, redis://HOST:PORT/DB?mode=strict|eventual or postgresql://USER@HOST/DB",
              "store");
}

void Mirror::prepare(const StoreHead& head) {
  if (head.generation != head_.generation || head.size != head_.size ||
      head.planes != head_.planes || head.version < parameters_.version()) {
    parameters_ = train::Parameters(head.size, head.planes);
    versions_.assign(head.blocks(), -1);
  }
  head_ = head;
}

Result<> Mirror::set(std::size_t i, std::string_view bytes, std::int64_t version) {
  const auto each = parameters_.block(i).size_bytes();
  if (bytes.size() != each * (parameters_.planes() + 1))
    return fail(Code::damaged, fmt::format("block {} has {} bytes in the store; {} are expected", i,
                                           bytes.size(), each * (parameters_.planes() + 1)));
  std::memcpy(parameters_.change(i).data(), bytes.data(), each);
  for (std::size_t p = 0; p < parameters_.planes(); ++p)
    std::memcpy(parameters_.change_plane(p, i).data(), bytes.data() + (p + 1) * each, each);
  versions_[i] = version;
  return {};
}

void Mirror::adopt(const StoreHead& head, const SavedParameters& loaded) {
  parameters_ = train::Parameters(head.size, head.planes);
  parameters_.load(loaded.values, loaded.planes, loaded.version);
  versions_.assign(head.blocks(), loaded.version);
  head_ = head;
}

void Mirror::distrust(std::span<const std::size_t> blocks) {
  for (const auto i : blocks) versions_[i] = -1;
}

void Mirror::arrive(std::int64_t version) {
  CHECK(std::ranges::find(versions_, -1) == versions_.end());
  if (version > parameters_.version() + 1'000) {  // A newcomer: copying is cheaper than counting.
    const auto all = saved();
    parameters_.load(all.values, all.planes, version);
  }
  while (parameters_.version() < version) parameters_.advance();
}

std::vector<std::size_t> Mirror::fold(const train::Aggregator& rule,
                                      std::span<const train::Update> updates) {
  const auto before = parameters_.version();
  rule.fold(parameters_, updates);
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < parameters_.count(); ++i) {
    if (parameters_.version(i) <= before) continue;
    changed.push_back(i);
    versions_[i] = -1;
  }
  return changed;
}

void Mirror::commit(std::span<const std::size_t> changed) {
  for (const auto i : changed) versions_[i] = parameters_.version(i);
  head_.version = parameters_.version();
}

std::vector<std::string_view> Mirror::bytes(std::size_t i) const {
  std::vector<std::string_view> out{as_bytes(parameters_.block(i))};
  for (std::size_t p = 0; p < parameters_.planes(); ++p)
    out.push_back(as_bytes(parameters_.plane(p, i)));
  return out;
}

train::ParameterSnapshot Mirror::taken() const {
  return {.blocks = parameters_.blocks(), .versions = versions_, .version = parameters_.version()};
}

SavedParameters Mirror::saved() const {
  SavedParameters out{.values = parameters_.blocks(), .version = parameters_.version()};
  for (std::size_t p = 0; p < parameters_.planes(); ++p)
    out.planes.push_back(parameters_.plane_blocks(p));
  return out;
}

Batch::Batch(std::span<Contribution> from) : from_(from) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (std::ranges::find(ids_, from[i].id) != ids_.end()) continue;  // Twice at once.
    at_.push_back(i);
    ids_.push_back(from[i].id);
    updates_.push_back(std::move(from[i].update));
  }
}

Batch::~Batch() {
  if (finished_) return;
  for (std::size_t i = 0; i < at_.size(); ++i) from_[at_[i]].update = std::move(updates_[i]);
}

void Batch::leave_out(const std::vector<bool>& folded) {
  CHECK(folded.size() == ids_.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (folded[i]) continue;
    if (kept != i) {
      at_[kept] = at_[i];
      ids_[kept] = ids_[i];
      updates_[kept] = std::move(updates_[i]);
    }
    ++kept;
  }
  at_.resize(kept);
  ids_.resize(kept);
  updates_.erase(updates_.begin() + static_cast<std::ptrdiff_t>(kept), updates_.end());
}

Result<> Batch::check(const train::Aggregator& rule, const StoreHead& head) const {
  if (rule.needs().planes != head.planes)
    return fail(Code::conflict, fmt::format("the rule {} keeps {} planes; the parameters have {}",
                                            rule.name(), rule.needs().planes, head.planes));
  for (const auto at : at_) SOUK_TRY(check_generation(from_[at], head.generation));
  for (const auto& u : updates_)
    if (u.size() != head.size)
      return fail(Code::conflict, fmt::format("an update has {} numbers; the parameters have {}",
                                              u.size(), head.size));
  return {};
}

void Batch::stamp(const train::Aggregator& rule, std::int64_t version) {
  // With arity 1 each is a fold of its own.
  const bool each = rule.needs().arity == 1;
  for (std::size_t i = 0; i < updates_.size(); ++i)
    updates_[i].staleness =
        version + (each ? static_cast<std::int64_t>(i) : 0) - from_[at_[i]].base;
}

std::string fresh_name() {
  std::array<char, 8> bytes{};
  CHECK(getrandom(bytes.data(), bytes.size(), 0) == std::ssize(bytes));
  return base::to_hex({bytes.data(), bytes.size()});
}

std::vector<std::string_view> pieces_of(const SavedParameters& saved, std::size_t i) {
  CHECK(saved.values[i]->size() == train::kBlock || i + 1 == saved.values.size());
  std::vector<std::string_view> out{as_bytes(*saved.values[i])};
  for (const auto& plane : saved.planes) out.push_back(as_bytes(*plane[i]));
  return out;
}

StoreHead head_of(const SavedParameters& saved) {
  return {.generation = saved.generation.empty() ? fresh_name() : saved.generation,
          .version = saved.version,
          .size = size_of(saved),
          .planes = saved.planes.size()};
}

std::size_t size_of(const SavedParameters& saved) {
  std::size_t size = 0;
  for (const auto& block : saved.values) size += block->size();
  return size;
}

Result<> check_generation(const Contribution& contribution, std::string_view generation) {
  if (contribution.generation.empty() || contribution.generation == generation) return {};
  return fail(Code::conflict, "the parameters have begun anew meanwhile",
              "the update belongs to those before");
}

base::Failure no_parameters(std::string_view job, std::string_view store) {
  return fail(Code::not_found, fmt::format("job {} has no parameters in {}", job, store),
              "load them first");
}

}  // namespace souk::hub
