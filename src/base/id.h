#pragma once

#include <charconv>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace souk::base {

// A number that names one thing of one kind. People see it with the kind's letter: `j17`.
// Ids are given out in order, from 1; 0 names nothing.
template <class Tag>
struct Id {
  std::uint64_t value = 0;

  constexpr Id() = default;
  constexpr explicit Id(std::uint64_t v) : value(v) {}
  constexpr explicit operator bool() const { return value != 0; }
  constexpr auto operator<=>(const Id&) const = default;
};

template <class Tag>
std::string to_string(Id<Tag> id) {
  return Tag::prefix + std::to_string(id.value);
}

template <class I>
struct IdTraits;
template <class Tag>
struct IdTraits<Id<Tag>> {
  // Accepts exactly what to_string writes.
  static std::optional<Id<Tag>> parse(std::string_view text) {
    if (text.size() < 2 || text[0] != Tag::prefix || text[1] == '0') return std::nullopt;
    std::uint64_t v = 0;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), v);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return Id<Tag>(v);
  }
  static constexpr std::string_view noun = Tag::noun;
};

#define SOUK_ID(Name, letter, word)                \
  struct Name##Tag {                               \
    static constexpr char prefix = letter;         \
    static constexpr std::string_view noun = word; \
  };                                               \
  using Name = Id<Name##Tag>;

SOUK_ID(AccountId, 'a', "account")
SOUK_ID(TokenId, 't', "token")
SOUK_ID(MachineId, 'm', "machine")
SOUK_ID(OfferId, 'o', "offer")
SOUK_ID(JobId, 'j', "job")
SOUK_ID(LeaseId, 'l', "lease")
SOUK_ID(HoldId, 'h', "hold")
SOUK_ID(FeedbackId, 'f', "feedback")
#undef SOUK_ID

}  // namespace souk::base

template <class Tag>
struct std::hash<souk::base::Id<Tag>> {
  std::size_t operator()(souk::base::Id<Tag> id) const noexcept {
    return std::hash<std::uint64_t>{}(id.value);
  }
};
