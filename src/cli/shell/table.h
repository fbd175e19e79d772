#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/shell/terminal.h"

namespace souk::cli {

// Columns that a text takes on a terminal: one per code point.
std::size_t display_width(std::string_view text);
// `text` cut to `width` columns, with an ellipsis ("..." or one "…") where something is missing.
std::string elide(std::string_view text, std::size_t width, bool utf8);

// `text` in lines of at most `width` columns (0: any), those after the first indented. It begins
// at column `indent`.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);
// For texts to read: the terminal's width, but no more than eyes like.
std::size_t text_width(const Terminal& terminal);

struct Column {
  std::string title;
  enum class Align { left, right } align = Align::left;
  // Longer texts may be cut down to this many columns when space is short; 0: never cut.
  std::size_t least = 0;
  // When cutting is not enough, columns go in the order of this number, 1 first; 0: never.
  int drop = 0;
};

struct Cell {
  std::string text;
  Tone tone = Tone::plain;

  Cell(std::string t) : text(std::move(t)) {}  // NOLINT(google-explicit-constructor): rows of text
  Cell(const char* t) : text(t) {}             // NOLINT(google-explicit-constructor): rows of text
  Cell(std::string t, Tone k) : text(std::move(t)), tone(k) {}
};

// Rows under titles, made to fit: long texts are cut, then the least important columns left out
// (and named below the table, so that nothing is missing silently).
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column. Texts are made printable().
  void add(std::vector<Cell> row);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::string render(const Terminal& terminal) const;

 private:
  struct Layout {
    std::vector<std::size_t> widths;  // Per column.
    std::vector<bool> shown;
  };
  [[nodiscard]] Layout fit(const Terminal& terminal) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace souk::cli
