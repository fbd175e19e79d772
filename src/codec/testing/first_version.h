#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/binary.h"
#include "market/state.h"

// The format as it was when the golden journals were written: events of version 1 without lengths
// of nested structs, and the state of format 3. Kept so that what a golden journal is read as can
// be compared with what was written: a struct is written with the fields that it had then, so that
// a field appended since changes nothing. The numbers are never changed; a renamed type is renamed
// here too, and a new type needs nothing.

namespace souk::codec::testing {

template <class T>
inline constexpr std::size_t kFieldsThen = 0;

#define SOUK_FIELDS_THEN(Type, count) \
  template <>                         \
  inline constexpr std::size_t kFieldsThen<Type> = count;
SOUK_FIELDS_THEN(ledger::Balance, 3)
SOUK_FIELDS_THEN(ledger::Hold, 4)
SOUK_FIELDS_THEN(ledger::Ledger, 3)
SOUK_FIELDS_THEN(market::Account, 6)
SOUK_FIELDS_THEN(market::AccountCreated, 2)
SOUK_FIELDS_THEN(market::AccountFrozen, 2)
SOUK_FIELDS_THEN(market::Answer, 6)
SOUK_FIELDS_THEN(market::Answered, 1)
SOUK_FIELDS_THEN(market::AuditEntry, 5)
SOUK_FIELDS_THEN(market::Audited, 1)
SOUK_FIELDS_THEN(market::Availability, 2)
SOUK_FIELDS_THEN(market::Avoided, 3)
SOUK_FIELDS_THEN(market::ClassSet, 1)
SOUK_FIELDS_THEN(market::Constraints, 8)
SOUK_FIELDS_THEN(market::CreditsGranted, 3)
SOUK_FIELDS_THEN(market::Feedback, 5)
SOUK_FIELDS_THEN(market::FeedbackGiven, 1)
SOUK_FIELDS_THEN(market::HourBucket, 6)
SOUK_FIELDS_THEN(market::Interval, 2)
SOUK_FIELDS_THEN(market::Job, 27)
SOUK_FIELDS_THEN(market::JobChanged, 2)
SOUK_FIELDS_THEN(market::JobEnded, 3)
SOUK_FIELDS_THEN(market::JobForgotten, 1)
SOUK_FIELDS_THEN(market::JobMoved, 4)
SOUK_FIELDS_THEN(market::JobPaused, 2)
SOUK_FIELDS_THEN(market::JobResized, 3)
SOUK_FIELDS_THEN(market::JobResult, 2)
SOUK_FIELDS_THEN(market::JobResumed, 1)
SOUK_FIELDS_THEN(market::JobSubmitted, 1)
SOUK_FIELDS_THEN(market::JobTerms, 6)
SOUK_FIELDS_THEN(market::JobWarned, 1)
SOUK_FIELDS_THEN(market::Lease, 24)
SOUK_FIELDS_THEN(market::LeaseCheckpointed, 2)
SOUK_FIELDS_THEN(market::LeaseClosed, 4)
SOUK_FIELDS_THEN(market::LeaseDraining, 3)
SOUK_FIELDS_THEN(market::LeaseForgotten, 1)
SOUK_FIELDS_THEN(market::LeaseGranted, 1)
SOUK_FIELDS_THEN(market::LeaseRenewed, 2)
SOUK_FIELDS_THEN(market::LeaseSettled, 4)
SOUK_FIELDS_THEN(market::LeaseStarted, 1)
SOUK_FIELDS_THEN(market::LeaseWorked, 2)
SOUK_FIELDS_THEN(market::Machine, 8)
SOUK_FIELDS_THEN(market::MachineAdded, 1)
SOUK_FIELDS_THEN(market::MachineChanged, 3)
SOUK_FIELDS_THEN(market::MachineJudged, 2)
SOUK_FIELDS_THEN(market::MachineOnline, 1)
SOUK_FIELDS_THEN(market::MachineRemoved, 1)
SOUK_FIELDS_THEN(market::MachineSpec, 12)
SOUK_FIELDS_THEN(market::Move, 4)
SOUK_FIELDS_THEN(market::Offer, 9)
SOUK_FIELDS_THEN(market::OfferChanged, 2)
SOUK_FIELDS_THEN(market::OfferDraining, 1)
SOUK_FIELDS_THEN(market::OfferPaused, 2)
SOUK_FIELDS_THEN(market::OfferPosted, 1)
SOUK_FIELDS_THEN(market::OfferRemoved, 1)
SOUK_FIELDS_THEN(market::OfferTerms, 4)
SOUK_FIELDS_THEN(market::Part, 5)
SOUK_FIELDS_THEN(market::PasswordChanged, 2)
SOUK_FIELDS_THEN(market::PriceHistory, 4)
SOUK_FIELDS_THEN(market::Profile, 2)
SOUK_FIELDS_THEN(market::ProfileLearnt, 2)
SOUK_FIELDS_THEN(market::Retry, 3)
SOUK_FIELDS_THEN(market::RoundCleared, 16)
SOUK_FIELDS_THEN(market::Settings, 12)
SOUK_FIELDS_THEN(market::SettingsChanged, 1)
SOUK_FIELDS_THEN(market::SlotClass, 11)
SOUK_FIELDS_THEN(market::Standing, 2)
SOUK_FIELDS_THEN(market::State, 19)
SOUK_FIELDS_THEN(market::StatementLine, 6)
SOUK_FIELDS_THEN(market::Tallies, 2)
SOUK_FIELDS_THEN(market::Tally, 20)
SOUK_FIELDS_THEN(market::Term, 5)
SOUK_FIELDS_THEN(market::Token, 8)
SOUK_FIELDS_THEN(market::TokenIssued, 1)
SOUK_FIELDS_THEN(market::TokenRevoked, 1)
SOUK_FIELDS_THEN(market::Trial, 3)
SOUK_FIELDS_THEN(market::WeeklyWindow, 4)
SOUK_FIELDS_THEN(market::Workers, 2)
#undef SOUK_FIELDS_THEN

class FirstVersion {
 public:
  explicit FirstVersion(base::Bytes& out) : out_(out) {}

  template <class T>
  void put(const T& v) {
    out_.put(v);  // A value without fields or items.
  }
  template <class T>
  void put(const std::optional<T>& v) {
    out_.put(v.has_value());
    if (v) put(*v);
  }
  template <class T>
  void put(const std::vector<T>& v) {
    items(v);
  }
  template <class T>
  void put(const std::deque<T>& v) {
    items(v);
  }
  template <class K, class V>
  void put(const std::map<K, V>& v) {
    out_.number(v.size());
    for (const auto& [key, value] : v) {
      put(key);
      put(value);
    }
  }
  template <class I, class T>
  void put(const market::Table<I, T>& v) {
    out_.put(v.next());
    out_.number(v.size());
    v.for_each([&](const T& item) { put(item); });
  }
  template <base::Described T>
  void put(const T& v) {
    std::size_t n = 0;
    base::for_each_field(v, [&](std::string_view, const auto& field) {
      if (n++ < kFieldsThen<T>) put(field);
    });
  }

 private:
  template <class Sequence>
  void items(const Sequence& v) {
    out_.number(v.size());
    for (const auto& item : v) put(item);
  }

  Writer out_;
};

// A batch of events as version 1 of the format wrote it.
inline base::Bytes first_version(const std::vector<std::pair<base::Time, market::Event>>& events) {
  base::Bytes out;
  base::Time last;
  for (const auto& [at, event] : events) {
    base::Bytes fields;
    std::visit([&](const auto& e) { FirstVersion(fields).put(e); }, event);
    Writer writer(out);
    writer.byte(static_cast<unsigned char>(event.index()));
    writer.byte(1);
    writer.signed_number(at.us - last.us);
    writer.number(fields.size());
    writer.raw(fields);
    last = at;
  }
  return out;
}

// The hash of a state as format 3 of the snapshot gave it.
inline base::Digest first_hash(const market::State& state) {
  base::Bytes out("souk state 3\n");
  FirstVersion(out).put(state);
  return base::blake2b(out);
}

}  // namespace souk::codec::testing
