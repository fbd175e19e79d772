#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/binary.h"
#include "codec/first_fields.h"
#include "market/state.h"

// The format as it was when the golden journals were written: events in the first layout, and the
// state of format 3. Kept so that what a golden journal is read as can be compared with what was
// written: a struct is written with the fields that it had then, so that a field appended since
// changes nothing.

namespace souk::codec {

template <>
inline constexpr std::size_t kFirstFields<ledger::Balance> = 3;
template <>
inline constexpr std::size_t kFirstFields<ledger::Hold> = 4;
template <>
inline constexpr std::size_t kFirstFields<ledger::Ledger> = 3;
template <>
inline constexpr std::size_t kFirstFields<market::HourBucket> = 6;
template <>
inline constexpr std::size_t kFirstFields<market::PriceHistory> = 4;
template <>
inline constexpr std::size_t kFirstFields<market::Profile> = 2;
template <>
inline constexpr std::size_t kFirstFields<market::State> = 19;
template <>
inline constexpr std::size_t kFirstFields<market::StatementLine> = 6;
template <>
inline constexpr std::size_t kFirstFields<market::Tallies> = 2;
template <>
inline constexpr std::size_t kFirstFields<market::Tally> = 20;

}  // namespace souk::codec

namespace souk::codec::testing {

class FirstVersion {
 public:
  // Flat, as it was; or sized, as a program of today writes whose structs have no other fields.
  explicit FirstVersion(base::Bytes& out, Layout layout = Layout::flat)
      : out_(out), layout_(layout) {}

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
  void put(const base::IdMap<I, T>& v) {
    out_.number(v.size());
    for (const auto& [id, value] : v.sorted()) {
      put(id);
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
    if (layout_ == Layout::flat) return fields(v);
    base::Bytes inside;
    FirstVersion(inside, layout_).fields(v);
    out_.number(inside.size());
    out_.raw(inside);
  }
  template <base::Described T>
  void fields(const T& v) {
    std::size_t n = 0;
    base::for_each_field(v, [&](std::string_view, const auto& field) {
      if (n++ < kFirstFields<T>) put(field);
    });
  }

 private:
  template <class Sequence>
  void items(const Sequence& v) {
    out_.number(v.size());
    for (const auto& item : v) put(item);
  }

  Writer out_;
  Layout layout_;
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
