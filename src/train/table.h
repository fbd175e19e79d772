#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "train/dataset.h"

// Tables of people's data, with columns of numbers and of words, to samples. Pure. Whoever wrote a
// table may lie: what it takes in memory is bounded by its own size and kMostTableBytes.

namespace souk::train {

inline constexpr std::size_t kMostCategories = 1'000;                 // Of a column.
inline constexpr std::size_t kMostFeatures = 65'536;                  // Of a sample.
inline constexpr std::size_t kMostTableBytes = std::size_t{1} << 30;  // Of all samples, as numbers.

// Cells stand in the text that was read, which must outlive the table, or in `owned`.
struct Table {
  std::vector<std::string> header;  // Empty: columns have numbers from 0.
  std::vector<std::vector<std::string_view>> rows;
  std::vector<std::size_t> lines;  // Of the file, from 1: where each row stands.
  std::deque<std::string> owned;   // Cells that do not stand in the text as they are.
  // Of several files that were put together: the first row of each, and its name.
  std::vector<std::pair<std::size_t, std::string>> files;

  // "line 4", or "b.csv: line 4".
  [[nodiscard]] std::string place(std::size_t row) const;
  // The column's name in quotes, or its number where there are no names.
  [[nodiscard]] std::string column(std::size_t c) const;
  // The column of this name or number.
  [[nodiscard]] base::Result<std::size_t> find(std::string_view name, std::string_view field) const;
};

// Comma-separated cells, which may stand in quotes as RFC 4180 says. A first line without a single
// number names the columns.
[[nodiscard]] base::Result<Table> read_csv(std::string_view text);

// number: as it is. category: one of some words, each of which becomes a feature of 0 or 1.
// skip: left out.
SOUK_ENUM(ColumnKind, number, category, skip)

// What the columns are for.
struct Columns {
  std::string label;                        // Of classes: whole numbers or words,
  std::string target;                       // or of amounts. Neither: the last column is the label.
  std::map<std::string, ColumnKind> kinds;  // By name or number; the others are numbers.
};

// What the words of the training data are numbered by. Test data is read with the same.
struct Words {
  std::vector<std::string> labels;
  std::map<std::size_t, std::vector<std::string>> categories;  // By column.
};

// The samples of a table. `words` is filled in where it is empty; a word that is not in it is an
// error. Errors name the line, the column, the cell and the fix.
[[nodiscard]] base::Result<Dataset> dataset_of(const Table& table, const Columns& columns,
                                               Words& words);

}  // namespace souk::train
