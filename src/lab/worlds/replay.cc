#include "lab/worlds/replay.h"

#include <algorithm>

#include "base/check.h"
#include "codec/events.h"
#include "codec/snapshot.h"
#include "market/decide/decide.h"

namespace souk::lab {

Replay::Replay(std::vector<MechanismChoice> mechanisms, double shading, ReplayScope scope)
    : mechanisms_(std::move(mechanisms)), shading_(shading), scope_(scope) {
  CHECK(shading >= 0 && shading <= .9);
  rows_.push_back({.mechanism = "as it was"});
  for (const auto& m : mechanisms_) {
    rows_.push_back({.mechanism = m.label});
    programs_.push_back(program_of(m.name, m.params));
  }
}

void Replay::next(base::Time at, const market::Event& event) {
  if (const auto* round = std::get_if<market::RoundCleared>(&event)) {
    in_round_ = in_scope(at, *round);
    round_at_ = at;
    if (in_round_) {
      clear_again(at, *round);
      ++rows_[0].rounds;
      if (round->traded > 0) ++rows_[0].traded_in;
    }
  } else if (const auto* granted = std::get_if<market::LeaseGranted>(&event)) {
    // Leases are granted by rounds alone, right after them.
    if (in_round_ && at == round_at_) count(rows_[0], granted->lease);
  } else {
    in_round_ = false;
  }
  market::apply(state_, at, event);
}

bool Replay::in_scope(base::Time at, const market::RoundCleared& round) const {
  return at >= scope_.since && (!scope_.slot_class || *scope_.slot_class == round.slot_class);
}

// The core clears by the rule of the class, so the class gets another rule for a moment. Events
// that set it there and back change nothing else, and this state is nobody's but ours.
void Replay::clear_again(base::Time at, const market::RoundCleared& round) {
  const auto as_it_was = state_.slot_class(round.slot_class);
  for (std::size_t i = 0; i < mechanisms_.size(); ++i) {
    auto other = as_it_was;
    other.mechanism = mechanisms_[i].name;
    other.params = class_params(mechanisms_[i].name, mechanisms_[i].params);
    other.trial.reset();
    market::apply(state_, at, market::ClassSet{std::move(other)});
    const auto decision = market::decide(
        state_, {at, market::kSystem,
                 with_answer(programs_[i].get(), state_, at, {round.slot_class, round.seed})});
    ++rows_[i + 1].rounds;
    if (decision) count(rows_[i + 1], decision->events);
  }
  if (!mechanisms_.empty()) market::apply(state_, at, market::ClassSet{as_it_was});
}

void Replay::count(ReplayRow& row, std::span<const market::Event> events) {
  const auto before = row.slots;
  for (const auto& event : events)
    if (const auto* granted = std::get_if<market::LeaseGranted>(&event)) count(row, granted->lease);
  if (row.slots > before) ++row.traded_in;
}

void Replay::count(ReplayRow& row, const market::Lease& l) {
  const auto bid = in_credits(state_.jobs.at(l.job).terms.limit);
  const auto ask = in_credits(state_.offers.at(l.offer).terms.reserve.value_or(Credits()));
  row.slots += l.slots;
  row.paid += in_credits(l.term.pays) * l.slots;
  row.got += in_credits(l.term.gets) * l.slots;
  row.gain_low += (bid - ask) * l.slots;
  row.gain_high += (bid / (1 - shading_) - ask / (1 + shading_)) * l.slots;
}

std::vector<ReplayRow> Replay::rows() const {
  auto out = rows_;
  for (auto& row : out)
    if (row.slots > 0) row.price = row.paid / static_cast<double>(row.slots);
  return out;
}

Result<> read_history(journal::Journal& journal, Replay& replay,
                      const std::function<Result<>(std::uint64_t last)>& next) {
  SOUK_ASSIGN(const auto base, journal.base());
  SOUK_ASSIGN(auto state, codec::base_state(base));
  const auto from = state.events + 1;
  replay.begin(std::move(state));
  return journal.replay(from, [&](const journal::Batch& batch) -> Result<> {
    SOUK_TRY(codec::read_events(
        batch.bytes, batch.first,
        [&](base::Time at, const market::Event& event) { replay.next(at, event); }));
    return next(batch.end() - 1);
  });
}

}  // namespace souk::lab
