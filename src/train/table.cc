#include "train/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <set>

#include "base/text.h"

namespace souk::train {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::int64_t kMostClasses = 100'000;
constexpr std::size_t kMostShown = 40;  // Of a cell, in errors.
constexpr std::size_t kMostListed = 20;

std::optional<double> number(std::string_view text) {
  text = base::trim(text);
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(out))
    return std::nullopt;
  return out;
}

std::optional<float> real(std::string_view text) {
  const auto n = number(text);
  if (!n || std::abs(*n) > std::numeric_limits<float>::max()) return std::nullopt;
  return static_cast<float>(*n);
}

// "line 4, column 'b': 'two'".
std::string cell_text(const Table& table, std::size_t row, std::size_t column) {
  return fmt::format("{}, column {}: '{}'", table.place(row), table.column(column),
                     table.rows[row][column].substr(0, kMostShown));
}

// Goes through comma-separated values, a row at a time.
class CsvText {
 public:
  explicit CsvText(std::string_view text) : text_(text) {}

  [[nodiscard]] bool more() const { return at_ < text_.size(); }
  [[nodiscard]] std::size_t line() const { return line_; }  // Of the next row.

  Result<std::vector<std::string_view>> row(std::deque<std::string>& owned) {
    std::vector<std::string_view> out;
    for (;;) {
      const auto start = text_.find_first_not_of(" \t\r", at_);
      if (start != std::string_view::npos && text_[start] == '"') {
        at_ = start + 1;
        SOUK_ASSIGN(const auto cell, quoted(owned));
        out.push_back(cell);
      } else {
        const auto end = std::min(text_.find_first_of(",\n", at_), text_.size());
        out.push_back(base::trim(text_.substr(at_, end - at_)));
        at_ = end;
      }
      const bool last = at_ >= text_.size() || text_[at_] == '\n';
      if (at_ < text_.size()) ++at_;
      if (!last) continue;
      ++line_;
      return out;
    }
  }

 private:
  // From behind the first quote to the separator behind the last.
  Result<std::string_view> quoted(std::deque<std::string>& owned) {
    const auto begun = line_;
    auto& cell = owned.emplace_back();
    for (;;) {
      const auto quote = text_.find('"', at_);
      if (quote == std::string_view::npos)
        return fail(Code::invalid, fmt::format("line {}: a quote is not closed", begun),
                    "write a quote inside a cell twice: \"\"");
      const auto piece = text_.substr(at_, quote - at_);
      line_ += static_cast<std::size_t>(std::ranges::count(piece, '\n'));
      cell += piece;
      at_ = quote + 1;
      if (at_ < text_.size() && text_[at_] == '"') {
        cell += '"';
        ++at_;
        continue;
      }
      const auto end = std::min(text_.find_first_of(",\n", at_), text_.size());
      if (!base::trim(text_.substr(at_, end - at_)).empty())
        return fail(Code::invalid,
                    fmt::format("line {}: text stands behind a closing quote", begun),
                    "write a quote inside a cell twice: \"\"");
      at_ = end;
      return std::string_view(cell);
    }
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
};

// Numbers with fractions are amounts to be estimated, not names of classes: each would become a
// class of its own.
Result<> check_classes(const Table& table, std::size_t column) {
  std::optional<std::size_t> fraction;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto n = number(table.rows[r][column]);
    if (!n) return {};  // Words.
    if (!fraction && *n != std::floor(*n)) fraction = r;
  }
  if (!fraction) return {};
  return fail(
      Code::invalid,
      fmt::format("{}: label '{}' in column {} is a number with a fraction", table.place(*fraction),
                  table.rows[*fraction][column].substr(0, kMostShown), table.column(column)),
      "to estimate amounts name the column with target: instead of label:; classes are whole "
      "numbers or words",
      "label");
}

std::map<std::string_view, std::int64_t> numbered(const std::vector<std::string>& words) {
  std::map<std::string_view, std::int64_t> out;
  for (const auto& word : words) out.try_emplace(word, std::ssize(out));
  return out;
}

std::vector<std::string> words_in(const Table& table, std::size_t column) {
  std::set<std::string, std::less<>> words;
  for (const auto& row : table.rows) words.emplace(row[column]);
  return {words.begin(), words.end()};
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
    SOUK_TRY(check_classes(table, column));
    auto words = words_in(table, column);
    if (std::ssize(words) > kMostClasses)
      return fail(
          Code::invalid,
          fmt::format("column {} has {} different labels", table.column(column), words.size()),
          fmt::format("{} at most: is it the right column?", kMostClasses), "label");
    names = std::move(words);
  }
  const auto numbers = numbered(names);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto word = table.rows[r][column];
    const auto it = numbers.find(word);
    if (it == numbers.end())
      return fail(Code::invalid, fmt::format("{}: label '{}' does not occur in the training data",
                                             table.place(r), word.substr(0, kMostShown)));
    out.push_back(it->second);
  }
  return out;
}

Result<std::vector<float>> amounts_of(const Table& table, std::size_t column) {
  std::vector<float> out;
  out.reserve(table.rows.size());
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto n = real(table.rows[r][column]);
    if (!n)
      return fail(Code::invalid, cell_text(table, r, column) + " is not a number",
                  "the target is an amount; for classes name the column with label:", "target");
    out.push_back(*n);
  }
  return out;
}

// A column of the table as one or several features of each sample.
struct Feature {
  std::size_t column = 0;
  std::map<std::string_view, std::int64_t> words;  // Empty: a number.
  [[nodiscard]] std::size_t width() const { return std::max<std::size_t>(words.size(), 1); }
};

Result<Feature> category(const Table& table, std::size_t column, Words& words) {
  auto& known = words.categories[column];
  if (known.empty()) known = words_in(table, column);
  if (known.size() > kMostCategories)
    return fail(Code::invalid,
                fmt::format("column {} has {} different words", table.column(column), known.size()),
                fmt::format("{} at most: is it a category? Leave the column out with skip",
                            kMostCategories),
                "columns");
  return Feature{column, numbered(known)};
}

Result<std::vector<ColumnKind>> kinds_of(const Table& table, const Columns& columns,
                                         std::size_t answer) {
  std::vector<ColumnKind> out(table.rows.front().size(), ColumnKind::number);
  for (const auto& [name, kind] : columns.kinds) {
    SOUK_ASSIGN(const auto c, table.find(name, "columns"));
    if (c == answer && kind != ColumnKind::number)
      return fail(
          Code::invalid,
          fmt::format("column {} is what is to be learnt, and not a feature", table.column(c)),
          "leave it out of columns:", "columns");
    out[c] = kind;
  }
  out[answer] = ColumnKind::skip;
  return out;
}

Result<std::vector<Feature>> features_of(const Table& table, const Columns& columns,
                                         std::size_t answer, Words& words) {
  SOUK_ASSIGN(const auto kinds, kinds_of(table, columns, answer));
  std::vector<Feature> out;
  std::size_t width = 0;
  for (std::size_t c = 0; c < kinds.size(); ++c) {
    if (kinds[c] == ColumnKind::skip) continue;
    Feature feature{.column = c};
    if (kinds[c] == ColumnKind::category) {
      SOUK_ASSIGN(feature, category(table, c, words));
    }
    width += feature.width();
    out.push_back(std::move(feature));
  }
  if (out.empty())
    return fail(Code::invalid, "no column is left to learn from", "skip fewer", "columns");
  if (width > kMostFeatures)
    return fail(Code::invalid, fmt::format("a row comes to {} features", width),
                fmt::format("{} at most", kMostFeatures), "columns");
  if (width * sizeof(float) > kMostTableBytes / table.rows.size())
    return fail(Code::too_large,
                fmt::format("{} rows of {} features are more than {}", table.rows.size(), width,
                            base::bytes_text(kMostTableBytes)),
                "have fewer rows, or categories of fewer words", "columns");
  return out;
}

Result<> append_cell(const Table& table, std::size_t r, const Feature& feature,
                     std::vector<float>& sample) {
  const auto cell = table.rows[r][feature.column];
  if (feature.words.empty()) {
    const auto n = real(cell);
    if (!n)
      return fail(
          Code::invalid, cell_text(table, r, feature.column) + " is not a number",
          fmt::format("a number is at most 3.4e38; leave out rows with empty cells. For "
                      "words use columns: {{{}: category}}, or skip",
                      table.header.empty() ? std::to_string(feature.column)
                                           : table.header[feature.column].substr(0, kMostShown)));
    sample.push_back(*n);
    return {};
  }
  const auto it = feature.words.find(cell);
  if (it == feature.words.end())
    return fail(Code::invalid,
                cell_text(table, r, feature.column) + " does not occur in the training data",
                "leave the row out, or have it in the training data as well");
  const auto from = sample.size();
  sample.resize(from + feature.words.size());
  sample[from + static_cast<std::size_t>(it->second)] = 1;
  return {};
}

}  // namespace

std::string Table::column(std::size_t c) const {
  return header.empty() ? std::to_string(c)
                        : fmt::format("'{}'", std::string_view(header[c]).substr(0, kMostShown));
}

std::string Table::place(std::size_t row) const {
  auto out = fmt::format("line {}", lines[row]);
  const auto after =
      std::ranges::upper_bound(files, row, {}, [](const auto& f) { return f.first; });
  return after == files.begin() ? out : fmt::format("{}: {}", std::prev(after)->second, out);
}

Result<std::size_t> Table::find(std::string_view name, std::string_view field) const {
  const auto width = rows.front().size();
  const auto it = std::ranges::find(header, name);
  if (it != header.end()) return static_cast<std::size_t>(it - header.begin());
  if (const auto n = number(name);
      n && *n >= 0 && *n < static_cast<double>(width) && *n == std::floor(*n))
    return static_cast<std::size_t>(*n);
  const auto listed = std::min(header.size(), kMostListed);
  return fail(
      Code::invalid, fmt::format("there is no column '{}'", name.substr(0, kMostShown)),
      header.empty()
          ? fmt::format("use 0 to {}", width - 1)
          : fmt::format("columns: {}{}",
                        fmt::join(header.begin(),
                                  header.begin() + static_cast<std::ptrdiff_t>(listed), ", "),
                        listed < header.size() ? "..." : ""),
      std::string(field));
}

Result<Table> read_csv(std::string_view text) {
  Table out;
  CsvText csv(text);
  while (csv.more()) {
    const auto line = csv.line();
    SOUK_ASSIGN(auto cells, csv.row(out.owned));
    if (cells.size() == 1 && cells[0].empty()) continue;
    const auto width = out.rows.empty() ? out.header.size() : out.rows.front().size();
    if (width != 0 && cells.size() != width)
      return fail(Code::invalid,
                  fmt::format("line {} has {} columns, not {}", line, cells.size(), width),
                  "write a cell that has a comma in it in quotes");
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

Result<Dataset> dataset_of(const Table& table, const Columns& columns, Words& words) {
  if (!columns.label.empty() && !columns.target.empty())
    return fail(Code::invalid, "there is a label and a target",
                "give label: for classes, or target: for amounts", "target");
  auto answer = table.rows.front().size() - 1;
  const bool amounts = !columns.target.empty();
  if (amounts || !columns.label.empty()) {
    SOUK_ASSIGN(answer,
                table.find(amounts ? columns.target : columns.label, amounts ? "target" : "label"));
  }
  Dataset out{.dtype = "F32"};
  if (amounts) {
    SOUK_ASSIGN(out.amounts, amounts_of(table, answer));
  } else {
    SOUK_ASSIGN(out.y, labels_of(table, answer, words.labels));
    out.names = words.labels;
  }
  SOUK_ASSIGN(const auto features, features_of(table, columns, answer, words));
  std::size_t width = 0;
  for (const auto& feature : features) width += feature.width();
  out.shape = {static_cast<std::int64_t>(width)};
  out.x.reserve(table.rows.size() * width * sizeof(float));
  std::vector<float> sample;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    sample.clear();
    for (const auto& feature : features) SOUK_TRY(append_cell(table, r, feature, sample));
    out.x.append(reinterpret_cast<const char*>(sample.data()), sample.size() * sizeof(float));
  }
  return out;
}

Result<Dataset> parse_csv(std::string_view text, std::string_view label,
                          std::vector<std::string> names) {
  SOUK_ASSIGN(const auto table, read_csv(text));
  Words words{.labels = std::move(names)};
  return dataset_of(table, {.label = std::string(label)}, words);
}

}  // namespace souk::train
