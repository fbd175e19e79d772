#include "blob/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/text.h"
#include "blob/cutter.h"

// The bytes of a manifest:
//
//   "soukdir"            seven bytes
//   version              one byte: 1, or 2 if a file in it is cut by content
//   count                number of entries
//   per entry, in the order of path_before():
//     shared             how many bytes its path shares with the path before it, as many as it can
//     length, bytes      the rest of its path, at least one byte
//     kind               one byte: 0 file, 1 executable file, 2 link, 3 empty folder
//     file               size; in version 2 the number of chunks of one that is cut by content, for
//                        others 0; then the digests of its chunks, 32 bytes each, those of one that
//                        is cut by content each followed by its length. Of others, how many there
//                        are follows from the size: ceil(size / 4 MiB), none for an empty file
//     link               length and bytes of its target
//
// Numbers are LEB128: seven bits a byte, low first, high bit set on all but the last. Every choice
// is fixed (order, shared bytes, shortest numbers), so one folder is one string of bytes; reading
// verifies that by writing what it read. Paths are front-coded because the chunk that holds a
// manifest is 4 MiB: about 80,000 files, or half a terabyte in large ones (a quarter of one where
// they are cut by content).

namespace souk::blob {
namespace {

constexpr std::string_view kMagic = "soukdir";
constexpr char kFixed = 1, kByContent = 2;  // The versions.
constexpr std::size_t kDigestBytes = 32;

base::Failure refuse(std::string message, std::string hint = {}) {
  return base::fail(base::Code::invalid, std::move(message), std::move(hint));
}

base::Failure malformed(std::string_view what) {
  return refuse(fmt::format("this is not the manifest of a folder: {}", what),
                "the name of a folder that was packed by souk");
}

// What a terminal can show of a name that a stranger chose.
std::string shown(std::string_view path) {
  std::string out;
  for (const unsigned char c : path.substr(0, 200))
    out +=
        c < 0x20 || c == 0x7f ? fmt::format("\\x{:02x}", c) : std::string(1, static_cast<char>(c));
  if (path.size() > 200) out += "...";
  return "'" + out + "'";
}

std::uint64_t chunks_for(std::uint64_t size) {
  return size / kChunkBytes + (size % kChunkBytes != 0);
}

bool is_file(Kind kind) { return kind == Kind::file || kind == Kind::executable; }

void put_number(Bytes& out, std::uint64_t v) {
  for (; v >= 0x80; v >>= 7) out.push_back(static_cast<char>(v | 0x80));
  out.push_back(static_cast<char>(v));
}

void put_digest(Bytes& out, const Digest& digest) {
  out.append(reinterpret_cast<const char*>(digest.bytes.data()), kDigestBytes);
}

void put_chunks(Bytes& out, char version, const Entry& entry) {
  put_number(out, entry.size);
  if (version == kByContent) put_number(out, entry.lengths.size());
  for (std::size_t i = 0; i < entry.chunks.size(); ++i) {
    put_digest(out, entry.chunks[i]);
    if (!entry.lengths.empty()) put_number(out, entry.lengths[i]);
  }
}

void put_entry(Bytes& out, char version, std::string_view before, const Entry& entry) {
  const auto shared =
      static_cast<std::size_t>(std::ranges::mismatch(before, entry.path).in1 - before.begin());
  put_number(out, shared);
  put_number(out, entry.path.size() - shared);
  out += std::string_view(entry.path).substr(shared);
  out.push_back(static_cast<char>(entry.kind));
  if (is_file(entry.kind)) {
    put_chunks(out, version, entry);
  } else if (entry.kind == Kind::link) {
    put_number(out, entry.target.size());
    out += entry.target;
  }
}

// Never reads outside its bytes; after the first thing that makes no sense ok() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t left() const { return left_.size(); }

  std::string_view raw(std::uint64_t size) {
    if (size > left_.size()) return fail(), std::string_view();
    const auto out = left_.substr(0, size);
    left_.remove_prefix(size);
    return out;
  }
  unsigned char byte() {
    const auto b = raw(1);
    return b.empty() ? 0 : static_cast<unsigned char>(b[0]);
  }
  std::uint64_t number() {
    std::uint64_t v = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      const auto b = byte();
      v |= static_cast<std::uint64_t>(b & 0x7f) << shift;
      if (b < 0x80) return v;
    }
    return fail(), 0;
  }
  void fail() {
    ok_ = false;
    left_ = {};
  }

 private:
  std::string_view left_;
  bool ok_ = true;
};

void read_chunks(Reader& in, char version, Entry& entry) {
  entry.size = in.number();
  const auto cuts = version == kByContent ? in.number() : 0;
  const auto count = cuts > 0 ? cuts : chunks_for(entry.size);
  if (count > in.left() / kDigestBytes) return in.fail();  // Before memory is taken for them.
  entry.chunks.resize(count);
  entry.lengths.reserve(cuts);
  for (auto& chunk : entry.chunks) {
    const auto digest = in.raw(kDigestBytes);
    if (!in.ok()) return;
    std::memcpy(chunk.bytes.data(), digest.data(), kDigestBytes);
    if (cuts == 0) continue;
    const auto length = in.number();
    if (length > kChunkBytes) return in.fail();
    entry.lengths.push_back(static_cast<std::uint32_t>(length));
  }
}

Entry read_entry(Reader& in, char version, std::string_view before) {
  Entry entry;
  const auto shared = in.number();
  const auto rest = in.raw(in.number());
  if (shared > before.size() || shared + rest.size() > kMostPathBytes) in.fail();
  const auto kind = in.byte();
  if (kind > static_cast<unsigned char>(Kind::empty_folder)) in.fail();
  if (!in.ok()) return entry;
  entry.path.reserve(shared + rest.size());
  entry.path.append(before.substr(0, shared)).append(rest);
  entry.kind = static_cast<Kind>(kind);
  if (is_file(entry.kind)) read_chunks(in, version, entry);
  if (entry.kind == Kind::link) entry.target = in.raw(in.number());
  return entry;
}

Bytes head_of(std::span<const Entry> entries) {
  const bool cut = std::ranges::any_of(entries, [](const auto& e) { return !e.lengths.empty(); });
  Bytes out(kMagic);
  out += cut ? kByContent : kFixed;
  return out;
}

Bytes write(const Manifest& manifest) {
  auto out = head_of(manifest.entries);
  const auto version = out.back();
  put_number(out, manifest.entries.size());
  std::string_view before;
  for (const auto& entry : manifest.entries) {
    put_entry(out, version, before, entry);
    before = entry.path;
  }
  return out;
}

// Do the lengths of its chunks, where it has any, make sense?
bool well_cut(const Entry& entry) {
  if (entry.lengths.empty()) return entry.chunks.size() == chunks_for(entry.size);
  std::uint64_t sum = 0;
  for (const auto length : entry.lengths) {
    if (length == 0 || length > kChunkBytes) return false;
    sum += length;
  }
  return entry.lengths.size() == entry.chunks.size() && sum == entry.size;
}

Result<> check_entry(const Entry& entry) {
  SOUK_TRY(check_path(entry.path));
  if (entry.kind > Kind::empty_folder) return malformed("an entry of an unknown kind");
  if (entry.kind == Kind::link) SOUK_TRY(check_target(entry.path, entry.target));
  if (entry.kind != Kind::link && !entry.target.empty())
    return refuse(fmt::format("{} is not a link but has a target", shown(entry.path)));
  const bool empty = entry.size == 0 && entry.chunks.empty() && entry.lengths.empty();
  if (is_file(entry.kind) ? !well_cut(entry) : !empty)
    return refuse(fmt::format("{} has {} chunks for {} bytes, with {} lengths", shown(entry.path),
                              entry.chunks.size(), entry.size, entry.lengths.size()),
                  "chunks that are as long together as the file");
  return {};
}

base::Failure too_long_in_all() {
  return base::fail(base::Code::too_large,
                    fmt::format("the paths of the folder's files have more than {} bytes in all",
                                kMostAllPathsBytes),
                    "shorter paths, or pack the files into an archive");
}

Result<> check_order(const Entry& before, const Entry& entry) {
  if (entry.path == before.path)
    return refuse(fmt::format("the path {} occurs twice", shown(entry.path)));
  if (!path_before(before.path, entry.path))
    return refuse(fmt::format("{} comes after {}", shown(entry.path), shown(before.path)),
                  "paths in order");
  // No folder that has something in it is an entry, and order puts what is in it right behind it.
  if (entry.path.starts_with(before.path) && entry.path[before.path.size()] == '/')
    return refuse(fmt::format("the path {} leads through {}, which is not a folder",
                              shown(entry.path), shown(before.path)));
  return {};
}

}  // namespace

std::uint64_t Entry::chunk_bytes(std::size_t index) const {
  if (!lengths.empty()) return lengths[index];
  return std::min<std::uint64_t>(kChunkBytes, size - index * kChunkBytes);
}

std::uint64_t Manifest::total_bytes() const {
  std::uint64_t out = 0;
  for (const auto& entry : entries) out += entry.size;
  return out;
}

std::vector<Digest> Manifest::chunks() const {
  std::vector<Digest> out;
  for (const auto& entry : entries) out.insert(out.end(), entry.chunks.begin(), entry.chunks.end());
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

bool path_before(std::string_view a, std::string_view b) {
  const auto rank = [](char c) { return c == '/' ? 0 : 1 + static_cast<unsigned char>(c); };
  return std::ranges::lexicographical_compare(a, b, {}, rank, rank);
}

Result<> check_path(std::string_view path) {
  const auto no = [&](std::string_view why) {
    return refuse(fmt::format("the path {} {}", shown(path), why),
                  "a path inside the folder, like 'src/main.py'");
  };
  if (path.empty()) return no("is empty");
  if (path.size() > kMostPathBytes) return no("is longer than 4095 bytes");
  if (path.starts_with('/')) return no("is absolute");
  if (path.contains('\0')) return no("has a zero byte in it");
  std::size_t depth = 0;
  for (auto rest = path; true; ++depth) {
    const auto slash = rest.find('/');
    const auto name = rest.substr(0, slash);
    if (name.empty() || name == "." || name == "..") return no("has an empty, '.' or '..' part");
    if (name.size() > kMostNameBytes) return no("has a part longer than 255 bytes");
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  if (depth > kMostDepth) return no("is more than 100 folders deep");
  return {};
}

Result<> check_target(std::string_view path, std::string_view target) {
  const auto no = [&](std::string_view why) {
    return refuse(fmt::format("the link {} to {} {}", shown(path), shown(target), why),
                  "a relative link that stays inside the folder, with '..' only at its start; or "
                  "leave the link out with .soukignore");
  };
  if (target.empty()) return no("points to nothing");
  if (target.size() > kMostPathBytes) return no("is longer than 4095 bytes");
  if (target.starts_with('/')) return no("is absolute");
  if (target.contains('\0')) return no("has a zero byte in it");
  auto depth = std::ranges::count(path, '/');
  bool named = false;
  for (auto rest = target; true;) {
    const auto slash = rest.find('/');
    const auto name = rest.substr(0, slash);
    if (name == "..") {
      if (named) return no("has '..' after a name");
      if (--depth < 0) return no("leaves the folder");
    } else if (!name.empty() && name != ".") {
      named = true;
    }
    if (slash == std::string_view::npos) return {};
    rest.remove_prefix(slash + 1);
  }
}

Result<> check_size(const Manifest& manifest, std::uint64_t most_bytes) {
  const auto bytes = manifest.total_bytes();
  if (bytes <= most_bytes) return {};
  return base::fail(
      base::Code::too_large,
      fmt::format("the folder has {} in {} files; at most {} are accepted here",
                  base::bytes_text(bytes), manifest.entries.size(), base::bytes_text(most_bytes)));
}

Result<> check(const Manifest& manifest) {
  const auto& entries = manifest.entries;
  if (entries.size() > kMostEntries)
    return base::fail(base::Code::too_large,
                      fmt::format("the folder has {} files; at most {} are accepted",
                                  entries.size(), kMostEntries),
                      "pack them into an archive");
  std::size_t path_bytes = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    SOUK_TRY(check_entry(entries[i]));
    path_bytes += entries[i].path.size();
    if (path_bytes > kMostAllPathsBytes) return too_long_in_all();
    if (i > 0) SOUK_TRY(check_order(entries[i - 1], entries[i]));
  }
  return {};
}

Result<> check_fits(std::span<const Entry> entries, Cutting cutting) {
  auto scratch = head_of(entries);
  const auto version = cutting == Cutting::by_content ? kByContent : scratch.back();
  put_number(scratch, entries.size());
  std::uint64_t size = scratch.size(), content = 0;
  std::string_view before;
  for (const auto& entry : entries) {
    scratch.clear();
    put_entry(scratch, version, before, entry);
    size += scratch.size();
    const bool cut = cutting == Cutting::by_content && entry.size > kChunkBytes;
    constexpr std::uint64_t length_bytes = 4;
    if (entry.chunks.empty())
      size += cut ? (entry.size / kUsualCut + 1) * (kDigestBytes + length_bytes)
                  : chunks_for(entry.size) * kDigestBytes;
    content += entry.size;
    before = entry.path;
  }
  if (size <= kChunkBytes) return {};
  return base::fail(
      base::Code::too_large,
      fmt::format("the folder has {} files of {} bytes in all; the list of them takes {} bytes, "
                  "and at most {} are accepted",
                  entries.size(), content, size, kChunkBytes),
      "pack them into an archive (tar), or leave some out with .soukignore");
}

Result<Bytes> to_bytes(const Manifest& manifest) {
  CHECK(check(manifest));
  SOUK_TRY(check_fits(manifest.entries));
  return write(manifest);
}

Result<Manifest> parse_manifest(std::string_view bytes) {
  if (bytes.size() > kChunkBytes) return malformed("it is larger than a chunk");
  if (!bytes.starts_with(kMagic)) return malformed("it begins otherwise");
  const auto version = bytes.size() > kMagic.size() ? bytes[kMagic.size()] : '\0';
  if (version != kFixed && version != kByContent)
    return malformed("it is of a version that this program does not know; only 1 and 2 are");
  Reader in(bytes.substr(kMagic.size() + 1));
  const auto count = in.number();
  if (count > kMostEntries || count > in.left()) return malformed("it claims too many entries");
  Manifest manifest;
  std::size_t path_bytes = 0;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    manifest.entries.push_back(read_entry(in, version, i == 0 ? "" : manifest.entries.back().path));
    path_bytes += manifest.entries.back().path.size();
    if (path_bytes > kMostAllPathsBytes) return too_long_in_all();
  }
  if (!in.ok()) return malformed("an entry is cut short or makes no sense");
  if (in.left() > 0) return malformed("bytes follow the last entry");
  SOUK_TRY(check(manifest));
  if (write(manifest) != bytes) return malformed("it is not written the one way it must be");
  return manifest;
}

}  // namespace souk::blob
