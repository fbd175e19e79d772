#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>

#include "wire/json.h"

namespace souk::wire {
namespace {

constexpr char kHex[] = "0123456789abcdef";

// Bytes that end a run which can be copied as it is.
constexpr auto kSpecial = [] {
  std::array<bool, 256> special{};
  for (int c = 0; c < 256; ++c) special[c] = c < 0x20 || c == '"' || c == '\\' || c >= 0x80;
  return special;
}();

// The length of the well-formed UTF-8 sequence at text[at], or 0: RFC 3629, so no surrogates, no
// longer spellings than needed, nothing above U+10FFFF.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)) return 0;
    return tail(1) && tail(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) return 0;
    return tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

void write_escape(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
  }
}

// Writes `value` as exactly `digits` digits.
char* put_digits(char* at, std::uint64_t value, int digits) {
  for (int i = digits - 1; i >= 0; --i, value /= 10) at[i] = static_cast<char>('0' + value % 10);
  return at + digits;
}

template <class... Format>
void write_number(std::string& out, auto value, Format... format) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format...);
  out.append(buffer, end.ptr);
}

}  // namespace

bool valid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto length = utf8_length(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

void write_text(std::string& out, std::string_view value) {
  out += '"';
  std::size_t run = 0, i = 0;
  while (i < value.size()) {
    const auto c = static_cast<unsigned char>(value[i]);
    if (!kSpecial[c]) {
      ++i;
      continue;
    }
    const auto length = c >= 0x80 ? utf8_length(value, i) : 0;
    if (length > 0) {
      i += length;
      continue;
    }
    out.append(value, run, i - run);
    if (c >= 0x80)
      out += "\xef\xbf\xbd";
    else
      write_escape(out, c);
    run = ++i;
  }
  out.append(value, run);
  out += '"';
}

void write_signed(std::string& out, std::int64_t value) { write_number(out, value); }
void write_unsigned(std::string& out, std::uint64_t value) { write_number(out, value); }

void write_real(std::string& out, double value) {
  if (!std::isfinite(value))
    out += "null";
  else if (value == 0 && std::signbit(value))
    out += "-0.0";  // "-0" is read as the integer 0.
  else
    write_number(out, value);
}

void write_credits(std::string& out, base::Credits value) {
  const bool negative = value.micro < 0;
  const auto bits = static_cast<std::uint64_t>(value.micro);
  const auto magnitude = negative ? 0 - bits : bits;
  if (negative) out += '-';
  write_unsigned(out, magnitude / 1'000'000);
  auto fraction = magnitude % 1'000'000;
  if (fraction == 0) return;
  int digits = 6;
  for (; fraction % 10 == 0; fraction /= 10) --digits;
  char buffer[8] = {'.'};
  out.append(buffer, put_digits(buffer + 1, fraction, digits));
}

void write_time(std::string& out, base::Time value) {
  using namespace std::chrono;
  constexpr base::Time year_0{-62'167'219'200'000'000}, year_10000{253'402'300'800'000'000};
  if (value < year_0 || value >= year_10000) {  // Not four digits; rare enough for the slow way.
    write_text(out, to_string(value));
    return;
  }
  const sys_time<microseconds> at{microseconds(value.us)};
  const auto day = floor<days>(at);
  const year_month_day date{day};
  const auto us = static_cast<std::uint64_t>((at - day).count());
  const auto second = us / 1'000'000;
  char buffer[40];
  char* end = buffer;
  const auto put = [&](std::uint64_t number, int digits, char after) {
    end = put_digits(end, number, digits);
    *end++ = after;
  };
  *end++ = '"';
  put(static_cast<std::uint64_t>(int(date.year())), 4, '-');
  put(unsigned(date.month()), 2, '-');
  put(unsigned(date.day()), 2, 'T');
  put(second / 3600, 2, ':');
  put(second / 60 % 60, 2, ':');
  const auto fraction = us % 1'000'000;
  put(second % 60, 2, fraction == 0 ? 'Z' : '.');
  if (fraction != 0) put(fraction, 6, 'Z');
  *end++ = '"';
  out.append(buffer, end);
}

void write_duration(std::string& out, base::Duration value) {
  // Whole minutes and seconds below a day are what prices and terms are made of.
  const auto second = value.us / 1'000'000;
  if (value.us <= 0 || value.us % 1'000'000 != 0 || second >= 86'400) {
    write_text(out, to_string(value));
    return;
  }
  out += '"';
  const auto part = [&](std::int64_t n, char unit) {
    if (n == 0) return;
    write_signed(out, n);
    out += unit;
  };
  part(second / 3600, 'h');
  part(second / 60 % 60, 'm');
  part(second % 60, 's');
  out += '"';
}

void write_value(std::string& out, const boost::json::value& value) {
  using boost::json::kind;
  char before = value.is_object() ? '{' : '[';
  switch (value.kind()) {
    case kind::null:
      out += "null";
      return;
    case kind::bool_:
      out += value.get_bool() ? "true" : "false";
      return;
    case kind::int64:
      write_signed(out, value.get_int64());
      return;
    case kind::uint64:
      write_unsigned(out, value.get_uint64());
      return;
    case kind::double_:
      write_real(out, value.get_double());
      return;
    case kind::string:
      write_text(out, {value.get_string().data(), value.get_string().size()});
      return;
    case kind::array:
      for (const auto& item : value.get_array()) {
        out += std::exchange(before, ',');
        write_value(out, item);
      }
      if (before == '[') out += '[';
      out += ']';
      return;
    case kind::object:
      for (const auto& member : value.get_object()) {
        out += std::exchange(before, ',');
        write_text(out, {member.key().data(), member.key().size()});
        out += ':';
        write_value(out, member.value());
      }
      if (before == '{') out += '{';
      out += '}';
      return;
  }
}

}  // namespace souk::wire
