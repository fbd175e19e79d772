#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/time.h"
#include "market/events.h"

namespace souk::codec::testing {

// Gives every field of a value, however deep, something other than its default, and neighbours
// something different from each other: a field that is read from the wrong place shows.
class Filler {
 public:
  void fill(bool& v) { v = !v; }
  template <std::integral T>
  void fill(T& v) {
    v = static_cast<T>(2 + count() % 120);
  }
  template <base::NamedEnum E>
  void fill(E& v) {
    const auto others = names_of(E{}).size() - 1;
    v = static_cast<E>((static_cast<std::size_t>(v) + 1 + count() % others) % (others + 1));
  }
  template <class Tag>
  void fill(base::Id<Tag>& v) {
    v = base::Id<Tag>(100 + 37 * count());
  }
  void fill(base::Credits& v) { v = base::Credits(-1'000'003 * number()); }
  void fill(base::Time& v) { v = base::Time(1'767'571'200'000'000 + 61'000'001 * number()); }
  void fill(base::Duration& v) { v = base::Duration(3'600'000'007 * number()); }
  void fill(base::Digest& v) { v = base::blake2b(std::to_string(count())); }
  void fill(std::string& v) {
    v = "text " + std::to_string(count());
    if (count() % 11 == 0) v.append(200, '\xe9');  // A length of two bytes.
  }
  template <class T>
  void fill(std::optional<T>& v) {
    fill(v.emplace());
  }
  template <class T>
  void fill(std::vector<T>& v) {
    v.clear();
    fill(v.emplace_back());
    fill(v.emplace_back());
  }
  template <class K, class V>
  void fill(std::map<K, V>& v) {
    for (int i = 0; i < 2; ++i) {
      K key{};
      fill(key);
      fill(v[std::move(key)]);
    }
  }
  template <base::Described T>
  void fill(T& v) {
    base::for_each_field(v, [&](std::string_view, auto& field) { fill(field); });
  }

 private:
  std::uint64_t count() { return ++count_; }
  std::int64_t number() { return static_cast<std::int64_t>(count()); }

  std::uint64_t count_ = 0;
};

// One event of each kind, in the order of market::Event, with all their fields filled. They tell no
// story: they can be written and read, not applied.
inline market::Events filled_events() {
  market::Events out;
  Filler filler;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (
        [&] {
          std::variant_alternative_t<I, market::AnyEvent> event;
          filler.fill(event);
          out.emplace_back(std::move(event));
        }(),
        ...);
  }(std::make_index_sequence<std::variant_size_v<market::AnyEvent>>());
  return out;
}

}  // namespace souk::codec::testing
