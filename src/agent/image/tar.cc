#include "agent/image/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace souk::agent {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kBlock = 512;
constexpr std::int64_t kLongestNote = 1 << 20;  // Of names and attributes of one entry.
constexpr std::int64_t kMostNotes = 4 << 20;
constexpr std::int64_t kLargestEntry = std::int64_t{1} << 44;

base::Failure damaged_tar(std::string what) {
  return fail(Code::invalid, "a layer is no tar: " + std::move(what));
}

// A field up to its first zero.
std::string_view text_at(std::string_view block, std::size_t at, std::size_t length) {
  const auto field = block.substr(at, length);
  return field.substr(0, field.find('\0'));
}

// Octal digits, or, with the first bit set, a number of base 256. -1: neither.
std::int64_t number_at(std::string_view block, std::size_t at, std::size_t length) {
  const auto field = block.substr(at, length);
  std::int64_t out = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80) != 0) {
    for (std::size_t i = 0; i < field.size(); ++i) {
      const int byte = static_cast<unsigned char>(field[i]) & (i == 0 ? 0x7F : 0xFF);
      if (out > kLargestEntry) return -1;
      out = out * 256 + byte;
    }
    return out;
  }
  bool any = false;
  for (const char c : field) {
    if (c == ' ' || c == '\0') {
      if (any) break;
      continue;
    }
    if (c < '0' || c > '7' || out > kLargestEntry) return -1;
    out = out * 8 + (c - '0');
    any = true;
  }
  return out;
}

bool sum_fits(std::string_view block) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i)
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(block[i]);
  return sum == number_at(block, 148, 8);
}

std::optional<TarKind> kind_of(char type, std::string_view path) {
  switch (type) {
    case '\0':
    case '0':
    case '7':  // Tars from before 1988 have folders that way.
      return path.ends_with('/') ? TarKind::folder : TarKind::file;
    case '1':
      return TarKind::hard_link;
    case '2':
      return TarKind::link;
    case '5':
      return TarKind::folder;
    case '3':
    case '4':
    case '6':
      return TarKind::special;
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<> TarReader::add(std::string_view piece) {
  while (!piece.empty() && !ended_) {
    if (content_ > 0) {
      const auto part = piece.substr(
          0, static_cast<std::size_t>(std::min<std::int64_t>(content_, std::ssize(piece))));
      content_ -= std::ssize(part);
      piece.remove_prefix(part.size());
      if (collecting_ != 0)
        collected_ += part;
      else
        SOUK_TRY(on_data_(part));
      if (content_ == 0 && collecting_ != 0) SOUK_TRY(finish_name());
    } else if (padding_ > 0) {
      const auto skip = std::min<std::int64_t>(padding_, std::ssize(piece));
      padding_ -= skip;
      piece.remove_prefix(static_cast<std::size_t>(skip));
    } else {
      const auto part = piece.substr(0, kBlock - block_.size());
      block_ += part;
      piece.remove_prefix(part.size());
      if (block_.size() < kBlock) break;
      const auto block = std::exchange(block_, {});
      SOUK_TRY(header(block));
    }
  }
  return {};
}

Result<> TarReader::end() const {
  if (content_ > 0 || padding_ > 0 || !block_.empty()) return damaged_tar("it ends too early");
  return {};
}

Result<> TarReader::header(std::string_view block) {
  if (block.find_first_not_of('\0') == block.npos) {
    ended_ = true;  // What follows the end is nobody's.
    return {};
  }
  if (!sum_fits(block)) return damaged_tar("a header's sum is wrong");
  TarEntry entry;
  entry.path = text_at(block, 0, 100);
  entry.target = text_at(block, 157, 100);
  entry.executable = (number_at(block, 100, 8) & 0111) != 0;
  entry.size = number_at(block, 124, 12);
  if (block.substr(257, 6) == std::string_view("ustar\0", 6))
    if (const auto prefix = text_at(block, 345, 155); !prefix.empty())
      entry.path = fmt::format("{}/{}", prefix, entry.path);
  if (entry.size < 0 || entry.size > kLargestEntry) return damaged_tar("a size is no number");
  return begin(std::move(entry), block[156]);
}

// What is no file has no content, whatever size it claims.
Result<> TarReader::begin(TarEntry entry, char type) {
  collecting_ = 0;
  if (type == 'L' || type == 'K' || type == 'x' || type == 'g') {
    if (entry.size > kLongestNote) return damaged_tar("a name is longer than 1 MiB");
    notes_ += static_cast<std::int64_t>(kBlock) + entry.size;
    if (notes_ > kMostNotes) return damaged_tar("more than 4 MiB is said about one entry");
    expect(entry.size);
    collecting_ = type;
    collected_.clear();
    return entry.size == 0 ? finish_name() : Result<>();
  }
  if (const auto size = std::exchange(long_size_, -1); size >= 0) entry.size = size;
  if (!long_path_.empty()) entry.path = std::exchange(long_path_, {});
  if (!long_target_.empty()) entry.target = std::exchange(long_target_, {});
  const auto kind = kind_of(type, entry.path);
  if (!kind) return damaged_tar(fmt::format("an entry of type {}", static_cast<int>(type)));
  entry.kind = *kind;
  if (entry.kind != TarKind::file) entry.size = 0;
  entry.notes = std::exchange(notes_, 0);
  expect(entry.size);
  return on_entry_(entry);
}

void TarReader::expect(std::int64_t bytes) {
  constexpr auto block = static_cast<std::int64_t>(kBlock);
  content_ = bytes;
  padding_ = (block - bytes % block) % block;
}

// Names of GNU end with a zero.
Result<> TarReader::finish_name() {
  const auto about = std::exchange(collecting_, 0);
  if (about == 'x') return read_pax();
  const auto name = collected_.substr(0, collected_.find('\0'));
  if (about == 'L') long_path_ = name;
  if (about == 'K') long_target_ = name;
  return {};
}

// "27 path=a/b/c\n", again and again; the number is the length of it all.
Result<> TarReader::read_pax() {
  std::string_view rest = collected_;
  while (!rest.empty()) {
    std::size_t length = 0;
    const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const auto digits = static_cast<std::size_t>(parsed.ptr - rest.data());
    if (parsed.ec != std::errc{} || length < digits + 3 || length > rest.size() ||
        rest[digits] != ' ' || rest[length - 1] != '\n')
      return damaged_tar("an attribute has no length");
    const auto record = rest.substr(digits + 1, length - digits - 2);
    rest.remove_prefix(length);
    const auto equals = record.find('=');
    if (equals == record.npos) return damaged_tar("an attribute has no value");
    const auto key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key == "path") long_path_ = value;
    if (key == "linkpath") long_target_ = value;
    if (key.starts_with("GNU.sparse.")) return damaged_tar("sparse files are not supported");
    if (key != "size") continue;
    const auto size = std::from_chars(value.data(), value.data() + value.size(), long_size_);
    if (size.ec != std::errc{} || size.ptr != value.data() + value.size() || long_size_ < 0 ||
        long_size_ > kLargestEntry)
      return damaged_tar("a size is no number");
  }
  return {};
}

}  // namespace souk::agent
