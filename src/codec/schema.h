#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/id_map.h"
#include "base/time.h"
#include "market/table.h"

namespace souk::codec {

// Says in a text what bytes a value of a type becomes in the flat layout: its fields' names, and
// their types down to numbers. Two programs that say the same of a type read each other's bytes.
class Schema {
 public:
  template <class T>
  [[nodiscard]] static std::string of() {
    Schema schema;
    schema.add(static_cast<const T*>(nullptr));
    return std::move(schema.text_);
  }

 private:
  template <class T>
  void add(const T*) {
    if constexpr (std::is_arithmetic_v<T>) {
      text_ += (std::is_signed_v<T> ? 'i' : 'u') + std::to_string(sizeof(T));
    } else if constexpr (base::NamedEnum<T>) {
      text_ += "enum(";
      for (const auto name : names_of(T{})) text_.append(name) += ' ';
      text_ += ')';
    } else if constexpr (requires { typename T::Item; }) {
      wrap<typename T::Item>("list");
    } else {
      static_assert(base::Described<T>);
      text_ += '{';
      const T value{};
      base::for_each_field(value, [&](std::string_view name, const auto& field) {
        text_.append(name) += ' ';
        add(&field);
        text_ += ';';
      });
      text_ += '}';
    }
  }
  template <class Tag>
  void add(const base::Id<Tag>*) {
    text_ += "id";
  }
  void add(const base::Credits*) { text_ += "credits"; }
  void add(const base::Time*) { text_ += "time"; }
  void add(const base::Duration*) { text_ += "duration"; }
  void add(const base::Digest*) { text_ += "digest"; }
  void add(const std::string*) { text_ += "text"; }
  template <class T>
  void add(const std::optional<T>*) {
    wrap<T>("optional");
  }
  template <class T>
  void add(const std::vector<T>*) {
    wrap<T>("list");
  }
  template <class T>
  void add(const std::deque<T>*) {
    wrap<T>("list");
  }
  template <class K, class V>
  void add(const std::map<K, V>*) {
    wrap<K>("key");
    wrap<V>("value");
  }
  template <class K, class V>
  void add(const base::IdMap<K, V>*) {
    wrap<K>("key");
    wrap<V>("value");
  }
  template <class I, class T>
  void add(const market::Table<I, T>*) {
    wrap<T>("table");
  }

  template <class T>
  void wrap(const char* what) {
    text_.append(what) += '(';
    add(static_cast<const T*>(nullptr));
    text_ += ')';
  }

  std::string text_;
};

}  // namespace souk::codec
