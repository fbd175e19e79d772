#include "train/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/random.h"
#include "base/text.h"

namespace souk::train {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kCifarImage = 3'072;
constexpr std::int64_t kMostClasses = 100'000;
constexpr std::size_t kMostShown = 40;  // Of a cell, in errors.

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

// "\0\0\x08" and the number of dimensions, then each: 32 bits, big endian.
Result<std::vector<std::int64_t>> idx_head(std::string_view bytes, std::string_view what) {
  const auto bad = [&] {
    return fail(Code::invalid, fmt::format("the {} are not an idx file of bytes", what),
                "such a file begins with 00 00 08 and the number of dimensions");
  };
  if (bytes.size() < 4 || bytes.substr(0, 3) != std::string_view("\0\0\x08", 3)) return bad();
  const auto dimensions = static_cast<std::size_t>(bytes[3]);
  if (dimensions < 1 || dimensions > 4 || bytes.size() < 4 + 4 * dimensions) return bad();
  std::vector<std::int64_t> shape;
  std::size_t total = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    shape.push_back(big_endian(bytes, 4 + 4 * i));
    total *= static_cast<std::size_t>(shape.back());
    if (total == 0 || total > bytes.size()) return bad();
  }
  if (bytes.size() != 4 + 4 * dimensions + total) return bad();
  return shape;
}

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string_view>> rows;
  std::vector<std::size_t> lines;  // Of the file, from 1: where each row stands.

  // The column's name, or its number where there are no names.
  [[nodiscard]] std::string column(std::size_t c) const {
    return header.empty() ? std::to_string(c) : fmt::format("'{}'", header[c]);
  }
};

std::optional<double> number(std::string_view text) {
  text = base::trim(text);
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(out))
    return std::nullopt;
  return out;
}

Result<Table> read_table(std::string_view text) {
  Table out;
  std::size_t line = 0;
  for (const auto row : base::split(text, '\n')) {
    ++line;
    if (base::trim(row).empty()) continue;
    std::vector<std::string_view> cells;
    for (const auto cell : base::split(row, ',')) cells.push_back(base::trim(cell));
    const auto width = out.rows.empty() ? out.header.size() : out.rows.front().size();
    if (width != 0 && cells.size() != width)
      return fail(Code::invalid,
                  fmt::format("line {} has {} columns, not {}", line, cells.size(), width));
    // A header is a first line without a single number.
    if (out.rows.empty() && out.header.empty() &&
        std::ranges::none_of(cells, [](auto c) { return number(c).has_value(); }))
      out.header.assign(cells.begin(), cells.end());
    else {
      out.rows.push_back(std::move(cells));
      out.lines.push_back(line);
    }
  }
  if (out.rows.empty()) return fail(Code::invalid, "the file has no rows");
  if (out.rows.front().size() < 2)
    return fail(Code::invalid, "a row needs a feature and a label", "separate them by commas");
  return out;
}

Result<std::size_t> label_column(const Table& table, std::string_view label) {
  const auto width = table.rows.front().size();
  if (label.empty()) return width - 1;
  const auto it = std::ranges::find(table.header, label);
  if (it != table.header.end()) return static_cast<std::size_t>(it - table.header.begin());
  if (const auto n = number(label);
      n && *n >= 0 && *n < static_cast<double>(width) && *n == std::floor(*n))
    return static_cast<std::size_t>(*n);
  return fail(Code::invalid, fmt::format("there is no column '{}'", label),
              table.header.empty() ? fmt::format("use 0 to {}", width - 1)
                                   : fmt::format("columns: {}", fmt::join(table.header, ", ")),
              "label");
}

// Whole numbers are labels as they are; else words, numbered in order.
Result<std::vector<std::int64_t>> labels_of(const Table& table, std::size_t column,
                                            std::vector<std::string>& names) {
  std::vector<std::int64_t> out;
  bool whole = names.empty();
  for (const auto& row : table.rows) {
    const auto n = number(row[column]);
    whole = whole && n && *n >= 0 && *n < kMostClasses && *n == std::floor(*n);
  }
  if (whole) {
    for (const auto& row : table.rows)
      out.push_back(static_cast<std::int64_t>(*number(row[column])));
    return out;
  }
  if (names.empty()) {
    std::set<std::string, std::less<>> words;
    for (const auto& row : table.rows) words.emplace(row[column]);
    if (std::ssize(words) > kMostClasses)
      return fail(
          Code::invalid,
          fmt::format("column {} has {} different labels", table.column(column), words.size()),
          fmt::format("{} at most: is it the right column?", kMostClasses), "label");
    names.assign(words.begin(), words.end());
  }
  std::map<std::string_view, std::int64_t> numbers;
  for (const auto& name : names) numbers.try_emplace(name, std::ssize(numbers));
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto word = table.rows[r][column];
    const auto it = numbers.find(word);
    if (it == numbers.end())
      return fail(Code::invalid,
                  fmt::format("line {}: label '{}' does not occur in the training data",
                              table.lines[r], word.substr(0, kMostShown)));
    out.push_back(it->second);
  }
  return out;
}

}  // namespace

std::size_t Dataset::sample_bytes() const {
  std::size_t n = dtype == "F32" ? 4 : 1;
  for (const auto d : shape) n *= static_cast<std::size_t>(d);
  return n;
}

std::int64_t Dataset::samples() const {
  return y.empty() ? std::ssize(x) / static_cast<std::int64_t>(sample_bytes()) : std::ssize(y);
}

std::int64_t Dataset::classes() const {
  if (y.empty()) return 256;
  return std::max<std::int64_t>(*std::ranges::max_element(y) + 1, std::ssize(names));
}

Dataset Dataset::pick(const std::vector<std::int64_t>& which) const {
  Dataset out{.dtype = dtype, .shape = shape, .names = names};
  const auto size = sample_bytes();
  out.x.reserve(which.size() * size);
  for (const auto i : which) {
    out.x.append(x, static_cast<std::size_t>(i) * size, size);
    if (!y.empty()) out.y.push_back(y[static_cast<std::size_t>(i)]);
  }
  return out;
}

Result<Dataset> parse_idx(std::string_view images, std::string_view labels) {
  SOUK_ASSIGN(auto shape, idx_head(images, "images"));
  SOUK_ASSIGN(const auto count, idx_head(labels, "labels"));
  if (count.size() != 1 || shape.size() < 2)
    return fail(
        Code::invalid,
        fmt::format("the images have {} dimensions and the labels {}", shape.size(), count.size()),
        "give the images first, then the labels, which have one");
  if (count[0] != shape[0])
    return fail(Code::invalid, fmt::format("{} images and {} labels", shape[0], count[0]),
                "there is one label for each image");
  Dataset out;
  out.x = images.substr(4 + 4 * shape.size());
  for (const unsigned char label : labels.substr(8)) out.y.push_back(label);
  if (shape.size() == 3) shape.insert(shape.begin() + 1, 1);  // Grey: one channel.
  out.shape.assign(shape.begin() + 1, shape.end());
  return out;
}

Result<Dataset> parse_cifar10(std::string_view bytes) {
  if (bytes.empty() || bytes.size() % (kCifarImage + 1) != 0)
    return fail(Code::invalid,
                fmt::format("{} bytes are not CIFAR-10's binary format", bytes.size()),
                fmt::format("each image takes {} bytes", kCifarImage + 1));
  Dataset out{.shape = {3, 32, 32},
              .names = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse",
                        "ship", "truck"}};
  for (std::size_t at = 0; at < bytes.size(); at += kCifarImage + 1) {
    const auto label = static_cast<unsigned char>(bytes[at]);
    if (label > 9) return fail(Code::invalid, fmt::format("label {} is not 0 to 9", label));
    out.y.push_back(label);
    out.x += bytes.substr(at + 1, kCifarImage);
  }
  return out;
}

Result<Dataset> parse_csv(std::string_view text, std::string_view label,
                          std::vector<std::string> names) {
  SOUK_ASSIGN(const auto table, read_table(text));
  SOUK_ASSIGN(const auto column, label_column(table, label));
  Dataset out{.dtype = "F32"};
  SOUK_ASSIGN(out.y, labels_of(table, column, names));
  out.names = std::move(names);
  const auto width = table.rows.front().size() - 1;
  out.shape = {static_cast<std::int64_t>(width)};
  out.x.reserve(table.rows.size() * width * sizeof(float));
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t c = 0; c <= width; ++c) {
      if (c == column) continue;
      const auto n = number(table.rows[r][c]);
      if (!n || std::abs(*n) > std::numeric_limits<float>::max())
        return fail(Code::invalid,
                    fmt::format("line {}, column {}: '{}' is not a number", table.lines[r],
                                table.column(c), table.rows[r][c].substr(0, kMostShown)),
                    "a number is at most 3.4e38; leave out rows with empty cells");
      const auto value = static_cast<float>(*n);
      out.x.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
  return out;
}

Scaling scaling_of(const Dataset& data) {
  CHECK(data.dtype == "F32");
  const auto width = data.sample_bytes() / sizeof(float);
  const auto rows = static_cast<double>(data.samples());
  std::vector<float> values(data.x.size() / sizeof(float));
  std::memcpy(values.data(), data.x.data(), data.x.size());
  Scaling out{std::vector<double>(width), std::vector<double>(width)};
  std::vector<bool> changes(width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.mean[i % width] += values[i] / rows;
    if (values[i] != values[i % width]) changes[i % width] = true;
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    out.deviation[i % width] += std::pow(values[i] - out.mean[i % width], 2) / rows;
  // A feature that never changes says nothing. Its mean is rounded, so its deviation would be tiny
  // rather than 0, and the first sample that differs would come out huge.
  for (std::size_t f = 0; f < width; ++f)
    out.deviation[f] = changes[f] ? std::sqrt(out.deviation[f]) : 1;
  return out;
}

Dataset parse_text(std::string text) { return {.x = std::move(text)}; }

std::vector<Dataset> split(const Dataset& data, std::int32_t count, std::uint64_t seed) {
  const auto n = data.samples();
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  if (!data.y.empty()) {
    base::Random random(seed);
    random.shuffle(order);
  }
  std::vector<Dataset> out;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto from = n * i / count, to = n * (i + 1) / count;
    if (from == to) continue;
    out.push_back(data.pick({order.begin() + from, order.begin() + to}));
  }
  return out;
}

}  // namespace souk::train
