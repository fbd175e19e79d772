#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/id_map.h"
#include "base/time.h"
#include "codec/first_fields.h"
#include "market/table.h"

// Values to bytes and back, from their field lists.
//
//   unsigned, Id         LEB128: seven bits a byte, low first, high bit set on all but the last
//   signed, Credits,
//   Time, Duration       zigzag, then LEB128
//   bool, enum           one byte
//   string               length, then its bytes;  Digest: its 32 bytes
//   optional             0, or 1 and the value
//   vector, deque, map,
//   IdMap, Listed        count, then the items (a map's key before its value)
//   Table                next id, count, then the items in order of id
//   struct               its fields in the order of its list; see below for what goes before them
//
// Where the bytes of a struct end before its fields do, the missing fields keep their defaults:
// that is how what was written before a field was appended is read. So it matters what tells the
// end.
//
//   sized   A struct inside another has the length of its fields before them. Fields that this
//           program does not know yet are skipped.
//   flat    Only the outermost struct has an end. For what is written and read by one program.
//   first   As flat, with the fields that each struct had when journals were written so
//           (first_fields.h). Only read.

namespace souk::codec {

enum class Layout { flat, sized, first };

// What is kept in a form of its own and written as a list of its items (market::PairPrices).
template <class T>
concept Listed = requires(T& v, const std::vector<typename T::Item>& items) {
  { v.list() } -> std::same_as<std::vector<typename T::Item>>;
  { v.assign(items) } -> std::same_as<bool>;
};

class Writer {
 public:
  explicit Writer(base::Bytes& out, Layout layout = Layout::flat) : out_(out), layout_(layout) {}

  void raw(std::string_view bytes) { out_.append(bytes); }
  void byte(unsigned char b) { out_.push_back(static_cast<char>(b)); }
  void number(std::uint64_t v) {
    if (v < 0x80) return byte(static_cast<unsigned char>(v));
    char digits[10];  // Of 7 bits each.
    std::size_t count = 0;
    for (; v >= 0x80; v >>= 7) digits[count++] = static_cast<char>(v | 0x80);
    digits[count++] = static_cast<char>(v);
    out_.append(digits, count);
  }
  void signed_number(std::int64_t v) {
    number((static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63));
  }

  void put(bool v) { byte(v ? 1 : 0); }
  template <std::unsigned_integral T>
  void put(T v) {
    number(v);
  }
  template <std::signed_integral T>
  void put(T v) {
    signed_number(v);
  }
  template <base::NamedEnum E>
  void put(E v) {
    byte(static_cast<unsigned char>(v));
  }
  template <class Tag>
  void put(base::Id<Tag> v) {
    number(v.value);
  }
  void put(base::Credits v) { signed_number(v.micro); }
  void put(base::Time v) { signed_number(v.us); }
  void put(base::Duration v) { signed_number(v.us); }
  void put(const base::Digest& v) {
    raw({reinterpret_cast<const char*>(v.bytes.data()), v.bytes.size()});
  }
  void put(const std::string& v) {
    number(v.size());
    raw(v);
  }
  template <class T>
  void put(const std::optional<T>& v) {
    put(v.has_value());
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
    number(v.size());
    for (const auto& [key, value] : v) {
      put(key);
      put(value);
    }
  }
  template <class I, class T>
  void put(const base::IdMap<I, T>& v) {
    number(v.size());
    for (const auto& [id, value] : v.sorted()) {
      put(id);
      put(value);
    }
  }
  template <class I, class T>
  void put(const market::Table<I, T>& v) {
    put(v.next());
    number(v.size());
    v.for_each([&](const T& item) { put(item); });
  }
  template <Listed T>
  void put(const T& v) {
    items(v.list());
  }
  template <base::Described T>
  void put(const T& v) {
    if (layout_ != Layout::sized) return fields(v);
    const auto start = out_.size();
    byte(0);  // The length: one byte, until it turns out to need more.
    fields(v);
    set_length(start);
  }
  // The fields alone, for an outermost struct, whose end is known otherwise.
  template <base::Described T>
  void fields(const T& v) {
    base::for_each_field(v, [&](std::string_view, const auto& field) { put(field); });
  }

 private:
  // Of what was written after the byte at `start`.
  void set_length(std::size_t start) {
    auto size = out_.size() - start - 1;
    if (size >= 0x80) [[unlikely]] {
      std::size_t more = 0;
      for (auto v = size >> 7; v > 0; v >>= 7) ++more;
      out_.insert(start, more, '\0');
    }
    for (; size >= 0x80; size >>= 7) out_[start++] = static_cast<char>(size | 0x80);
    out_[start] = static_cast<char>(size);
  }

  template <class Sequence>
  void items(const Sequence& v) {
    number(v.size());
    for (const auto& item : v) put(item);
  }

  base::Bytes& out_;
  Layout layout_;
};

// Reads what a Writer wrote. Never reads outside its bytes; after the first thing that makes no
// sense, ok() is false and everything reads as nothing.
class Reader {
 public:
  // With `whole`, bytes that end before the fields do are an error.
  explicit Reader(std::string_view bytes, bool whole = false, Layout layout = Layout::flat)
      : at_(bytes.data()),
        end_(bytes.data() + bytes.size()),
        gaps_left_(65'536 + 64 * bytes.size()),
        whole_(whole),
        layout_(layout) {}

  [[nodiscard]] Layout layout() const { return layout_; }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  std::string_view raw(std::size_t size) {
    if (size > left()) return fail(), std::string_view();
    const std::string_view out(at_, size);
    at_ += size;
    return out;
  }
  unsigned char byte() {
    if (at_ == end_) return fail(), 0;
    return static_cast<unsigned char>(*at_++);
  }
  std::uint64_t number() {
    std::uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto b = byte();
      v |= static_cast<std::uint64_t>(b & 0x7f) << shift;
      if (b < 0x80) return v;
    }
    return fail(), 0;
  }
  std::int64_t signed_number() {
    const auto v = number();
    return static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1);
  }

  void get(bool& v) {
    const auto b = byte();
    if (b > 1) fail();
    v = b == 1;
  }
  template <std::unsigned_integral T>
  void get(T& v) {
    narrow(number(), v);
  }
  template <std::signed_integral T>
  void get(T& v) {
    narrow(signed_number(), v);
  }
  template <base::NamedEnum E>
  void get(E& v) {
    const auto b = byte();
    if (b >= names_of(E{}).size()) return fail();
    v = static_cast<E>(b);
  }
  template <class Tag>
  void get(base::Id<Tag>& v) {
    v = base::Id<Tag>(number());
  }
  void get(base::Credits& v) { v = base::Credits(signed_number()); }
  void get(base::Time& v) { v = base::Time(signed_number()); }
  void get(base::Duration& v) { v = base::Duration(signed_number()); }
  void get(base::Digest& v) {
    const auto bytes = raw(v.bytes.size());
    if (ok_) std::memcpy(v.bytes.data(), bytes.data(), bytes.size());
  }
  void get(std::string& v) { v = raw(number()); }
  template <class T>
  void get(std::optional<T>& v) {
    bool present = false;
    get(present);
    if (present && ok_) {
      get(v.emplace());
    } else {
      v.reset();
    }
  }
  template <class T>
  void get(std::vector<T>& v) {
    items(v);
  }
  template <class T>
  void get(std::deque<T>& v) {
    items(v);
  }
  template <class K, class V>
  void get(std::map<K, V>& v) {
    v.clear();
    for (auto n = number(); n > 0 && ok_; --n) {
      K key{};
      get(key);
      get(v[std::move(key)]);
    }
  }
  template <class I, class T>
  void get(base::IdMap<I, T>& v) {
    v = {};
    for (auto n = number(); n > 0 && ok_; --n) {
      I id;
      get(id);
      if (!id) return fail();
      get(v[id]);
    }
  }
  template <class I, class T>
  void get(market::Table<I, T>& v) {
    I next;
    get(next);
    v = {};
    for (auto n = number(); n > 0 && ok_; --n) {
      T item{};
      get(item);
      if (!ok_ || item.id < v.next() || item.id >= next) return fail();
      const auto id = item.id;
      if (v.size() > 0 && !skip(id.value - v.next().value)) return;
      v.restore(id, std::move(item));
    }
    if (!ok_ || next < v.next() || (v.size() > 0 && !skip(next.value - v.next().value)))
      return fail();
    v.finish(next);
  }
  template <Listed T>
  void get(T& v) {
    std::vector<typename T::Item> list;
    items(list);
    if (ok_ && !v.assign(list)) fail();
  }
  template <base::Described T>
  void get(T& v) {
    if (layout_ != Layout::sized) return fields(v);
    const auto size = number();
    if (size > left()) return fail();
    const auto* after = at_ + size;
    const auto* end = std::exchange(end_, after);
    fields(v);
    end_ = end;
    at_ = ok_ ? after : end;
  }
  // What Writer::fields wrote.
  template <base::Described T>
  void fields(T& v) {
    if (layout_ == Layout::first) return first_fields(v);
    base::for_each_field(v, [&](std::string_view, auto& field) {
      if (at_ != end_ || whole_) get(field);
    });
  }

 private:
  void fail() {
    ok_ = false;
    at_ = end_;
  }

  template <class T>
  void first_fields(T& v) {
    std::size_t n = 0;
    base::for_each_field(v, [&](std::string_view, auto& field) {
      if (at_ != end_ && n++ < kFirstFields<T>) get(field);
    });
  }

  template <class From, class To>
  void narrow(From from, To& to) {
    if (!std::in_range<To>(from)) return fail();
    to = static_cast<To>(from);
  }

  // Forgotten ids take memory in a table but no bytes here, so their number is bounded apart.
  bool skip(std::uint64_t ids) {
    if (ids > gaps_left_) return fail(), false;
    gaps_left_ -= ids;
    return true;
  }

  template <class Sequence>
  void items(Sequence& v) {
    v.clear();
    const auto n = number();
    if (n > left()) return fail();  // Every item takes at least a byte: no huge allocations.
    for (std::uint64_t i = 0; i < n && ok_; ++i) get(v.emplace_back());
  }

  const char* at_;
  const char* end_;
  std::uint64_t gaps_left_;
  bool whole_;
  Layout layout_;
  bool ok_ = true;
};

}  // namespace souk::codec
