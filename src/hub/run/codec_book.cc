#include "hub/run/codec_book.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace souk::hub {
namespace {

// The part of its time that a worker may spend on uploads, and below which a larger codec is tried.
constexpr double kMostShare = 0.1, kLeastShare = 0.05;
// Shorter uploads are mostly round trips and judging, and such small updates are cheap on any link:
// no codec would help.
constexpr double kShortSeconds = 0.1;
constexpr double kFewBytes = 64 * 1024;
// After a change the first reports may be about units that were given out before it; then so many
// are averaged.
constexpr int kInFlight = 2, kEnough = 2;
constexpr int kLeastPatience = 16, kMostPatience = 4096;
constexpr std::size_t kMostUnits = 8, kMostWorkers = 10'000;

CodecBook::Choice choice_of(std::string spec, double bytes) {
  auto codec = train::make_codec(spec);
  CHECK(codec);
  return {std::move(spec), *std::move(codec), bytes};
}

}  // namespace

CodecBook::CodecBook(const std::string& named, bool weights) {
  if (named != train::kAutoCodec) {
    choices_.push_back(choice_of(named, 4));
    return;
  }
  choices_.push_back(choice_of("fp32", 4));
  choices_.push_back(choice_of("fp16", 2));
  choices_.push_back(choice_of("int8", 1));
  if (!weights) choices_.push_back(choice_of("sparse2", 4.0 / 175));
}

const CodecBook::Choice& CodecBook::give(base::LeaseId worker, std::int64_t unit, bool comparable) {
  const std::lock_guard lock(mutex_);
  // Leases grow: the first has ended long ago.
  if (links_.size() >= kMostWorkers && !links_.contains(worker)) links_.erase(links_.begin());
  auto& link = links_[worker];
  auto choice = link.wanted;
  while (comparable && choice > 0 && choices_[choice].codec->keeps_residual()) --choice;
  link.given[unit] = choice;
  if (link.given.size() > kMostUnits) link.given.erase(link.given.begin());
  return choices_[choice];
}

const CodecBook::Choice& CodecBook::of(base::LeaseId worker, std::int64_t unit) const {
  const std::lock_guard lock(mutex_);
  const auto link = links_.find(worker);
  if (link == links_.end()) return choices_.front();
  const auto given = link->second.given.find(unit);
  return given == link->second.given.end() ? choices_.front() : choices_[given->second];
}

std::string_view CodecBook::latest(base::LeaseId worker) const {
  const std::lock_guard lock(mutex_);
  const auto link = links_.find(worker);
  if (link == links_.end() || link->second.given.empty()) return {};
  return choices_[std::prev(link->second.given.end())->second].spec;
}

// What suits the link better than `wanted`, or that.
std::size_t CodecBook::better(const Link& link, std::size_t floats) const {
  const auto too_long = [&](std::size_t choice, double upload, double share) {
    return upload > kShortSeconds &&
           static_cast<double>(floats) * choices_[choice].bytes > kFewBytes &&
           upload > share * (upload + link.rest);
  };
  auto choice = link.wanted;
  if (const auto now = choices_[choice].bytes; too_long(choice, link.upload * now, kMostShare)) {
    if (choice + 1 == choices_.size()) return choice;
    // At best, as much has travelled while the worker did something else.
    const auto at_best = [&](double bytes) {
      return (link.upload + link.rest / now) * bytes - link.rest;
    };
    do ++choice;
    while (choice + 1 < choices_.size() &&
           too_long(choice, at_best(choices_[choice].bytes), kMostShare));
    return choice;
  }
  if (choice == 0 || link.seen < link.patience) return choice;
  return too_long(choice - 1, link.upload * choices_[choice - 1].bytes, kLeastShare) ? choice
                                                                                     : choice - 1;
}

void CodecBook::measured(base::LeaseId worker, const wire::TimeSpent& spent, std::size_t floats) {
  const std::lock_guard lock(mutex_);
  const auto it = links_.find(worker);
  // A worker that trained nothing since has sent no update.
  if (choices_.size() == 1 || it == links_.end() || it->second.given.empty() ||
      spent.compute <= base::Duration())
    return;
  auto& link = it->second;
  if (link.seen < kMostPatience) ++link.seen;
  if (link.seen <= kInFlight) return;
  const auto bytes = choices_[std::prev(link.given.end())->second].bytes;
  const auto upload = std::max(0.0, spent.upload.seconds()) / bytes;
  const auto rest = std::max(0.0, (spent.compute + spent.prepare + spent.download).seconds());
  const bool first = link.seen == kInFlight + 1;
  link.upload = first ? upload : (link.upload + upload) / 2;
  link.rest = first ? rest : (link.rest + rest) / 2;
  if (link.seen < kInFlight + kEnough) return;
  const auto choice = better(link, floats);
  if (choice == link.wanted) return;
  if (choice > link.wanted)
    link.patience = std::clamp(2 * link.patience, kLeastPatience, kMostPatience);
  link.wanted = choice;
  link.seen = 0;
}

}  // namespace souk::hub
