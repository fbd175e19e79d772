#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "wire/json.h"

namespace souk::wire {

std::string_view words_for(Shape shape) {
  switch (shape) {
    case Shape::boolean:
      return "true or false";
    case Shape::integer:
      return "a whole number";
    case Shape::real:
      return "a number";
    case Shape::text:
      return "a text";
    case Shape::id:
      return "an id";
    case Shape::credits:
      return "an amount of credits";
    case Shape::time:
      return "a point in time";
    case Shape::duration:
      return "a length of time";
    case Shape::any:
      return "any value";
    case Shape::enumeration:
      return "a known name";
    case Shape::optional:
      return "a value";
    case Shape::list:
      return "a list";
    case Shape::map:
      return "a table of names and values";
    case Shape::object:
      return "an object";
  }
  return "a value";
}

std::string words_for_id(std::string_view noun) {
  const bool vowel = std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return fmt::format("{} {} id", vowel ? "an" : "a", noun);
}

std::string printable_key(std::string_view key) {
  constexpr std::size_t longest = 64;
  std::string out(key.substr(0, longest));
  if (key.size() > longest) {
    while (!out.empty() && !valid_utf8(out)) out.pop_back();
    out += "...";
  }
  for (auto& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

std::string to_string(const Path& path) {
  std::string out = path.parent ? to_string(*path.parent) : std::string();
  if (path.index != Path::kNotAnItem) return fmt::format("{}[{}]", out, path.index);
  if (path.key.empty()) return out;
  if (!out.empty()) out += '.';
  return out += printable_key(path.key);
}

std::string one_line(const base::Error& error) {
  return error.hint.empty() ? error.message : fmt::format("{} ({})", error.message, error.hint);
}

namespace detail {
namespace {

using base::Code;

std::string_view view(const boost::json::string& s) { return {s.data(), s.size()}; }

// The value as a person would recognise it, however large it is.
std::string preview(const Value& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  constexpr std::size_t longest = 60;
  std::string out;
  const auto* text = value.if_string();
  if (!text || text->size() <= longest) {
    write_value(out, value);
    return out;
  }
  auto cut = longest;
  while (cut > 0 && (static_cast<unsigned char>((*text)[cut]) & 0xc0) == 0x80) --cut;
  write_text(out, view(*text).substr(0, cut));
  return out + "...";
}

// The path as the subject of a sentence.
std::string subject(const std::string& field) { return field.empty() ? "the document" : field; }

bool fail_at(std::string field, std::string complaint, std::string hint, Error& error) {
  error = Error{.code = Code::invalid,
                .message = fmt::format("{}: {}", subject(field), complaint),
                .hint = std::move(hint),
                .field = std::move(field)};
  return false;
}

bool out_of_range(const Value& value, const Path& at, std::string hint, Error& error) {
  return fail_at(to_string(at), preview(value) + " is out of range", std::move(hint), error);
}

// A number that JSON writes with a point or an exponent may still be whole: 3.0, 1e3. Beyond 2^53
// a double no longer says which whole number was meant.
std::optional<std::int64_t> whole(double d) {
  constexpr double most = 9007199254740992.0;
  if (!(std::abs(d) <= most) || d != std::trunc(d)) return std::nullopt;
  return static_cast<std::int64_t>(d);
}

std::string integer_hint(auto least, auto most) {
  return fmt::format("write a whole number from {} to {}", least, most);
}

}  // namespace

bool refuse(const Value& value, const Path& at, Shape wanted, std::string hint, Error& error) {
  return fail_at(to_string(at), fmt::format("{} is not {}", preview(value), words_for(wanted)),
                 std::move(hint), error);
}

bool refuse_id(const Value& value, const Path& at, char prefix, std::string_view noun,
               Error& error) {
  return fail_at(to_string(at), fmt::format("{} is not {}", preview(value), words_for_id(noun)),
                 fmt::format("write it as \"{}17\"", prefix), error);
}

bool refuse_unknown(const boost::json::object& object, const Path& at,
                    std::span<const std::string_view> names, Error& error) {
  for (const auto& member : object) {
    const std::string_view key(member.key().data(), member.key().size());
    if (std::ranges::find(names, key) != names.end()) continue;
    auto field = to_string(Path{&at, key});
    // Suggestions compare letter by letter, so a key as long as a body is not compared.
    auto hint = base::suggest(key.substr(0, 100), names);
    error = Error{.code = Code::invalid,
                  .message = fmt::format("unknown key '{}'", field),
                  .hint = std::move(hint),
                  .field = std::move(field)};
    return false;
  }
  return true;
}

bool refuse_missing(const Path& at, std::string_view name, Shape wanted, Error& error) {
  auto field = to_string(Path{&at, name});
  error = Error{.code = Code::invalid,
                .message = fmt::format("missing key '{}'", field),
                .hint = fmt::format("it takes {}", words_for(wanted)),
                .field = std::move(field)};
  return false;
}

bool read_boolean(const Value& value, const Path& at, bool& out, Error& error) {
  const auto* flag = value.if_bool();
  if (!flag) return refuse(value, at, Shape::boolean, "write true or false without quotes", error);
  out = *flag;
  return true;
}

bool read_signed(const Value& value, const Path& at, std::int64_t least, std::int64_t most,
                 std::int64_t& out, Error& error) {
  if (const auto* i = value.if_int64()) {
    out = *i;
  } else if (value.is_uint64()) {  // Boost uses it only above the largest int64.
    return out_of_range(value, at, integer_hint(least, most), error);
  } else if (const auto* d = value.if_double(); d && whole(*d)) {
    out = *whole(*d);
  } else {
    return refuse(value, at, Shape::integer, integer_hint(least, most), error);
  }
  if (out < least || out > most) return out_of_range(value, at, integer_hint(least, most), error);
  return true;
}

bool read_unsigned(const Value& value, const Path& at, std::uint64_t most, std::uint64_t& out,
                   Error& error) {
  const auto* u = value.if_uint64();
  if (u) {
    out = *u;
  } else {
    std::int64_t i = 0;
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    if (!read_signed(value, at, 0, kMost, i, error)) {
      error.hint = integer_hint(0, most);
      return false;
    }
    out = static_cast<std::uint64_t>(i);
  }
  if (out > most) return out_of_range(value, at, integer_hint(0, most), error);
  return true;
}

bool read_real(const Value& value, const Path& at, double& out, Error& error) {
  if (const auto* d = value.if_double())
    out = *d;
  else if (const auto* i = value.if_int64())
    out = static_cast<double>(*i);
  else if (const auto* u = value.if_uint64())
    out = static_cast<double>(*u);
  else
    return refuse(value, at, Shape::real, "write a number without quotes", error);
  return true;
}

bool read_text(const Value& value, const Path& at, std::string& out, Error& error) {
  const auto* text = value.if_string();
  if (!text) {
    const bool scalar = value.is_number() || value.is_bool();
    return refuse(
        value, at, Shape::text,
        scalar ? fmt::format("put it in quotes: \"{}\"", preview(value)) : "write a text in quotes",
        error);
  }
  out.assign(text->data(), text->size());
  return true;
}

// Every accepted amount has at most 15 significant digits, and such decimals survive the way
// through a correctly rounded double: its shortest spelling is the one that was sent.
bool read_credits(const Value& value, const Path& at, base::Credits& out, Error& error) {
  char buffer[64];
  std::string_view text;
  constexpr double most = in_credits(base::kMostCredits);
  if (const auto* s = value.if_string()) {
    text = view(*s);
  } else if (const auto* d = value.if_double(); d && std::abs(*d) <= most) {
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, *d, std::chars_format::fixed);
    if (end.ec == std::errc{}) text = {buffer, end.ptr};
  } else if (const auto* i = value.if_int64()) {
    text = {buffer, std::to_chars(buffer, buffer + sizeof buffer, *i).ptr};
  }
  auto parsed = base::parse_credits(text);
  if (!parsed) {
    // 0.2 x 3 is 0.6000000000000001 in most languages; nobody means those last digits.
    const auto* d = value.if_double();
    const double micro = d && std::abs(*d) <= most ? *d * 1e6 : 0.5;
    if (std::abs(micro - std::round(micro)) > 1e-3)
      return refuse(value, at, Shape::credits, std::move(parsed.error().hint), error);
    parsed = base::Credits(std::llround(micro));
  }
  out = *parsed;
  return true;
}

bool read_time(const Value& value, const Path& at, base::Time& out, Error& error) {
  const auto* text = value.if_string();
  auto parsed = base::parse_time(text ? view(*text) : std::string_view());
  if (!parsed) return refuse(value, at, Shape::time, std::move(parsed.error().hint), error);
  out = *parsed;
  return true;
}

bool read_duration(const Value& value, const Path& at, base::Duration& out, Error& error) {
  const auto* text = value.if_string();
  auto parsed = base::parse_duration(text ? view(*text) : std::string_view());
  if (!parsed) return refuse(value, at, Shape::duration, std::move(parsed.error().hint), error);
  out = *parsed;
  return true;
}

bool read_name(const Value& value, const Path& at, std::span<const std::string_view> names,
               std::size_t& out, Error& error) {
  const auto* text = value.if_string();
  const auto found = text ? std::ranges::find(names, view(*text)) : names.end();
  if (found == names.end()) {
    const auto word = text ? view(*text).substr(0, 100) : std::string_view();
    return refuse(value, at, Shape::enumeration, base::suggest(word, names), error);
  }
  out = static_cast<std::size_t>(found - names.begin());
  return true;
}

}  // namespace detail
}  // namespace souk::wire
