#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "agent/testing/fake_market.h"
#include "train/codecs/codec.h"
#include "train/pull.h"
#include "train/update.h"
#include "wire/json.h"

namespace souk::agent::testing {

// What train::unpack_changed reads: all `values`, at `version`.
inline std::string parameters(std::int64_t version, const std::vector<float>& values) {
  const auto block = std::make_shared<const train::Block>(values);
  return train::pack_changed({.blocks = {block}, .versions = {version}, .version = version}, -1);
}

// The same in pieces (train::read_piece): the one from block `from` on.
inline std::string piece_of(std::int64_t version, const std::vector<float>& values,
                            std::size_t from) {
  auto blocks = train::blocks_of(values);
  std::vector<std::int64_t> versions(blocks.size(), version);
  return train::pack_piece({std::move(blocks), std::move(versions), version}, -1, from,
                           train::kMostPiece);
}

// A market with one training job j1 and its lease l1: it hands out the units that the test queued,
// then says that there are no more. Its parameters have `size` floats, all zero, at version 1.
class TrainingMarket : public FakeMarket {
 public:
  explicit TrainingMarket(std::size_t size) : size_(size) {
    usually("POST /v1/leases/l1/units", [this](const net::Request& r) { return units(r); });
    usually("PUT /v1/leases/l1/units", [this](const net::Request& r) { return piece(r); });
    usually("GET /v1/leases/l1/parameters", [this](const net::Request& r) {
      const std::vector<float> zeros(size_);
      const auto from = r.param("from");
      return net::Response{.body = from ? piece_of(1, zeros, std::stoul(std::string(*from)))
                                        : parameters(1, zeros)};
    });
  }

  // `kind` as in wire::Unit. Units are numbered from 1; the shard, where it needs one, is a file
  // with the text "shard".
  wire::Unit add_unit(base::UnitKind kind, wire::Unit more = {}) {
    if (more.shard.empty() && (kind == base::UnitKind::train || kind == base::UnitKind::evaluate))
      more.shard = add_folder({{"data", "shard"}});
    more.kind = kind;
    more.steps = more.steps == 0 ? 10 : more.steps;
    const std::lock_guard lock(mutex_);
    more.id = ++last_;
    queue_.push_back(more);
    return more;
  }

  static std::string report_of(std::int64_t unit) {
    return fmt::format("POST /v1/leases/l1/units/{}", unit);
  }
  // The update of a unit, as the market would decode it.
  [[nodiscard]] std::vector<float> update(std::int64_t unit, const std::string& codec = "fp32") {
    const std::lock_guard lock(mutex_);
    const auto it = updates_.find(unit);
    if (it == updates_.end()) return {};
    const auto made = *train::make_codec(codec);
    const auto update = train::Update::read(it->second, *made, size_);
    if (!update) return {};
    std::vector<float> scratch(train::kBlock), out;
    for (std::size_t i = 0; i < update->count(); ++i) {
      const auto block = update->block(i, scratch);
      out.insert(out.end(), block.begin(), block.end());
    }
    return out;
  }

 private:
  net::Response units(const net::Request& r) {
    const std::lock_guard lock(mutex_);
    if (!r.path.ends_with("/units")) return {.body = R"({"accepted":true,"reason":""})"};
    wire::Unit next;
    next.kind = base::UnitKind::finish;
    if (!queue_.empty()) {
      next = queue_.front();
      queue_.pop_front();
    }
    return {.body = wire::to_json(next)};
  }

  net::Response piece(const net::Request& r) {
    const std::lock_guard lock(mutex_);
    auto& bytes = updates_[std::stol(r.path.substr(r.path.rfind('/') + 1))];
    bytes.resize(std::stoul(std::string(*r.param("offset"))));
    bytes += r.body;
    return {.body = wire::to_json(wire::LogSize{std::ssize(bytes)})};
  }

  const std::size_t size_;
  std::mutex mutex_;  // Guards what follows.
  std::deque<wire::Unit> queue_;
  std::int64_t last_ = 0;
  std::map<std::int64_t, std::string> updates_;
};

}  // namespace souk::agent::testing
