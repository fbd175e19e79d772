#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "base/text.h"
#include "job/train/formats/format.h"

// NumPy's archives, as numpy.savez writes them: a zip file of arrays that are not compressed. All
// numbers in the file are claims, and are held against its size.

namespace souk::job {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::string_view kEnd("PK\5\6", 4), kEntry("PK\1\2", 4), kLocal("PK\3\4", 4);
constexpr std::size_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30;
constexpr std::size_t kMostComment = 65'535, kMostArrays = 1'000;
constexpr std::uint32_t kInZip64 = 0xffffffff;

base::Failure bad_npz(std::string message,
                      std::string hint = "write it with numpy.savez(file, x=..., y=...)") {
  return fail(Code::invalid, std::move(message), std::move(hint));
}

// Little endian. The caller has checked that it is there.
template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number out;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

// One file of the archive, from its entry in the directory at `at`, which moves on.
Result<std::pair<std::string, std::string_view>> entry(std::string_view zip, std::size_t& at) {
  if (zip.size() < kEntryBytes || at > zip.size() - kEntryBytes || zip.substr(at, 4) != kEntry)
    return bad_npz("its directory is damaged");
  const auto method = number_at<std::uint16_t>(zip, at + 10);
  const auto stored = number_at<std::uint32_t>(zip, at + 20);
  const auto size = number_at<std::uint32_t>(zip, at + 24);
  const auto name_bytes = number_at<std::uint16_t>(zip, at + 28);
  const auto rest =
      std::size_t{number_at<std::uint16_t>(zip, at + 30)} + number_at<std::uint16_t>(zip, at + 32);
  const std::size_t local = number_at<std::uint32_t>(zip, at + 42);
  if (zip.size() - at - kEntryBytes < name_bytes + rest) return bad_npz("its directory is damaged");
  std::string name(zip.substr(at + kEntryBytes, name_bytes));
  at += kEntryBytes + name_bytes + rest;
  if (method != 0)
    return bad_npz("it is compressed", "write it with numpy.savez, not numpy.savez_compressed");
  if (stored == kInZip64 || size == kInZip64 || local == kInZip64)
    return bad_npz("an array has 4 GiB or more", "give several files");
  if (zip.size() < kLocalBytes || local > zip.size() - kLocalBytes ||
      zip.substr(local, 4) != kLocal)
    return bad_npz("its directory is damaged");
  const auto data = local + kLocalBytes + number_at<std::uint16_t>(zip, local + 26) +
                    number_at<std::uint16_t>(zip, local + 28);
  if (stored != size || data > zip.size() || size > zip.size() - data)
    return bad_npz("its directory is damaged");
  return std::pair(std::move(name), zip.substr(data, size));
}

// The files of the archive by name.
Result<std::map<std::string, std::string_view>> files_in(std::string_view zip) {
  const auto tail = zip.size() - std::min(zip.size(), kEndBytes + kMostComment);
  const auto end = zip.rfind(kEnd);
  if (end == std::string_view::npos || end < tail || zip.size() - end < kEndBytes)
    return bad_npz("it is not an npz file");
  const auto count = number_at<std::uint16_t>(zip, end + 10);
  std::size_t at = number_at<std::uint32_t>(zip, end + 16);
  if (count > kMostArrays) return bad_npz(fmt::format("it has {} arrays", count));
  std::map<std::string, std::string_view> out;
  for (std::uint16_t i = 0; i < count; ++i) {
    SOUK_ASSIGN(auto file, entry(zip, at));
    out.insert(std::move(file));
  }
  return out;
}

struct Array {
  std::string dtype;  // As NumPy spells it: "<f4".
  std::vector<std::int64_t> shape;
  std::string_view data;
  [[nodiscard]] std::int64_t rows() const { return shape.empty() ? 0 : shape[0]; }
};

// What stands behind 'key': in the header of an array, up to one of `stop`.
std::string_view header_value(std::string_view header, std::string_view key, char stop) {
  const auto at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return {};
  auto rest = header.substr(at + key.size() + 3);
  return base::trim(rest.substr(0, rest.find(stop)));
}

std::optional<std::vector<std::int64_t>> shape_in(std::string_view header) {
  auto text = header_value(header, "shape", ')');
  if (!text.starts_with('(')) return std::nullopt;
  text.remove_prefix(1);
  std::vector<std::int64_t> out;
  for (const auto piece : base::split(text, ',')) {
    if (piece.empty()) continue;
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), n);
    if (error != std::errc{} || end != piece.data() + piece.size() || n < 0) return std::nullopt;
    out.push_back(n);
  }
  return out.size() > 8 ? std::nullopt : std::optional(out);
}

std::size_t bytes_of(std::string_view dtype) {
  static const std::map<std::string_view, std::size_t> known{
      {"|u1", 1}, {"|i1", 1}, {"|b1", 1}, {"<u2", 2}, {"<i2", 2}, {"<u4", 4},
      {"<i4", 4}, {"<u8", 8}, {"<i8", 8}, {"<f4", 4}, {"<f8", 8}};
  const auto it = known.find(dtype);
  return it == known.end() ? 0 : it->second;
}

Result<Array> array_of(std::string_view npy, std::string_view name) {
  const auto wrong = [&](std::string_view what, std::string hint) {
    return bad_npz(fmt::format("the array '{}' {}", name, what), std::move(hint));
  };
  if (npy.size() < 12 || npy.substr(0, 6) != std::string_view("\x93NUMPY", 6))
    return wrong("is damaged", "write it with numpy.savez");
  const bool old = npy[6] == 1;
  const std::size_t start = old ? 10 : 12;
  const std::size_t length =
      old ? number_at<std::uint16_t>(npy, 8) : number_at<std::uint32_t>(npy, 8);
  if (length > npy.size() - start) return wrong("is damaged", "write it with numpy.savez");
  const auto header = npy.substr(start, length);
  Array out{.dtype = std::string(header_value(header, "descr", ',')),
            .data = npy.substr(start + length)};
  std::erase(out.dtype, '\'');
  const auto shape = shape_in(header);
  if (header_value(header, "fortran_order", ',') != "False")
    return wrong("is in Fortran's order", "use numpy.ascontiguousarray");
  const auto element = bytes_of(out.dtype);
  if (element == 0)
    return wrong(fmt::format("is of '{}'", out.dtype.substr(0, 20)),
                 "use uint8, int64, float32 or the like, little endian");
  if (!shape || shape->empty()) return wrong("has no shape", "give one row a sample");
  out.shape = *shape;
  // By division: a product of what the file claims may overflow.
  std::size_t left = out.data.size() / element;
  for (const auto d : out.shape) {
    if (d == 0) return wrong("is empty", "give at least one sample");
    left /= static_cast<std::size_t>(d);
  }
  std::size_t total = element;
  if (left >= 1)
    for (const auto d : out.shape) total *= static_cast<std::size_t>(d);
  if (left < 1 || total != out.data.size())
    return wrong("has another size than its shape", "write it with numpy.savez");
  return out;
}

template <class Number>
double element(std::string_view data, std::size_t i) {
  return static_cast<double>(number_at<Number>(data, i * sizeof(Number)));
}

double value_at(const Array& array, std::size_t i) {
  static const std::map<std::string_view, double (*)(std::string_view, std::size_t)> readers{
      {"|u1", element<std::uint8_t>}, {"|b1", element<std::uint8_t>},
      {"|i1", element<std::int8_t>},  {"<u2", element<std::uint16_t>},
      {"<i2", element<std::int16_t>}, {"<u4", element<std::uint32_t>},
      {"<i4", element<std::int32_t>}, {"<u8", element<std::uint64_t>},
      {"<i8", element<std::int64_t>}, {"<f4", element<float>},
      {"<f8", element<double>}};
  return readers.at(array.dtype)(array.data, i);
}

Result<std::string> samples_of(const Array& x) {
  if (x.dtype == "|u1") return std::string(x.data);
  const auto count = x.data.size() / bytes_of(x.dtype);
  std::string out;
  out.reserve(count * sizeof(float));
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(value_at(x, i));
    if (!std::isfinite(value))
      return bad_npz(fmt::format("row {} of the array 'x' has a number that is not finite",
                                 i / (count / static_cast<std::size_t>(x.rows()))),
                     "leave the row out");
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return out;
}

Result<> put_answers(const Array& y, std::string_view name, bool amounts, train::Dataset& out) {
  constexpr double kMostClasses = 100'000;
  for (std::size_t i = 0; i < static_cast<std::size_t>(y.rows()); ++i) {
    const auto value = value_at(y, i);
    if (amounts) {
      if (!(std::abs(value) <= std::numeric_limits<float>::max()))
        return bad_npz(fmt::format("row {} of the array '{}' is {}", i, name, value),
                       "an amount is finite, and at most 3.4e38");
      out.amounts.push_back(static_cast<float>(value));
      continue;
    }
    if (!(value >= 0 && value < kMostClasses) || value != std::floor(value))
      return bad_npz(
          fmt::format("row {} of the array '{}' is {}", i, name, value),
          fmt::format("a label is a whole number from 0; for amounts use target: {}", name));
    out.y.push_back(static_cast<std::int64_t>(value));
  }
  return {};
}

Result<train::Dataset> parse_npz(std::string_view bytes, const DataSource& source) {
  SOUK_ASSIGN(const auto files, files_in(bytes));
  const bool amounts = !source.target.empty();
  const std::string answer = amounts ? source.target : source.label.empty() ? "y" : source.label;
  const auto find = [&](const std::string& name) -> Result<Array> {
    const auto it = files.find(name + ".npy");
    if (it != files.end()) return array_of(it->second, name.substr(0, 40));
    std::string names;
    for (const auto& [file, _] : files)
      names += (names.empty() ? "" : ", ") + file.substr(0, file.rfind(".npy")).substr(0, 40);
    return bad_npz(
        fmt::format("there is no array '{}' among {}", name.substr(0, 40), names.substr(0, 400)));
  };
  SOUK_ASSIGN(const auto x, find("x"));
  SOUK_ASSIGN(const auto y, find(answer));
  if (y.shape.size() != 1 || x.shape.size() < 2 || x.shape.size() > 4 || x.rows() != y.rows())
    return bad_npz(fmt::format("'x' has the shape ({}) and '{}' ({})", fmt::join(x.shape, ", "),
                               answer.substr(0, 40), fmt::join(y.shape, ", ")),
                   "give (n, features) or (n, channels, rows, columns), and (n)");
  train::Dataset out{.dtype = x.dtype == "|u1" ? "U8" : "F32"};
  out.shape.assign(x.shape.begin() + 1, x.shape.end());
  if (out.shape.size() == 2) out.shape.insert(out.shape.begin(), 1);  // Grey: one channel.
  SOUK_ASSIGN(out.x, samples_of(x));
  SOUK_TRY(put_answers(y, answer.substr(0, 40), amounts, out));
  return out;
}

}  // namespace

Result<train::Dataset> read_npz_files(const DataSource& source, const std::vector<DataFile>& files,
                                      train::Words&) {
  train::Dataset all;
  for (const auto& file : files) {
    auto some = parse_npz(file.bytes, source);
    if (!some) return std::unexpected(in_file(std::move(some).error(), file.path));
    if (auto joined = append(all, *some); !joined)
      return std::unexpected(in_file(std::move(joined).error(), file.path));
  }
  return all;
}

}  // namespace souk::job
