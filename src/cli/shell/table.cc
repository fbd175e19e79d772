#include "cli/shell/table.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace souk::cli {
namespace {

constexpr std::size_t kGap = 2;

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::string padded(const std::string& text, std::size_t width, Column::Align align, Tone tone,
                   const Terminal& terminal) {
  const auto used = display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  const auto painted = paint(text, tone, terminal);
  return align == Column::Align::right ? space + painted : painted + space;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_code_point));
}

std::string elide(std::string_view text, std::size_t width, bool utf8) {
  if (display_width(text) <= width) return std::string(text);
  const std::string_view mark = utf8 ? "…" : "...";
  const auto mark_width = display_width(mark);
  std::size_t keep = width > mark_width ? width - mark_width : 0;
  std::size_t bytes = 0;
  for (; bytes < text.size(); ++bytes)
    if (starts_code_point(text[bytes]) && keep-- == 0) break;
  const auto shown_mark = mark_width > width ? mark.substr(0, utf8 ? 0 : width) : mark;
  return std::string(text.substr(0, bytes)) + std::string(shown_mark);
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  for (const auto word : base::split(text, ' ')) {
    if (word.empty()) continue;
    const auto size = display_width(word);
    if (!out.empty() && width > 0 && column + 1 + size > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += size;
  }
  return out;
}

std::size_t text_width(const Terminal& terminal) {
  constexpr std::size_t kMost = 100;
  return terminal.width > 0 ? std::min<std::size_t>(static_cast<std::size_t>(terminal.width), kMost)
                            : kMost;
}

void Table::add(std::vector<Cell> row) {
  CHECK(row.size() == columns_.size());
  for (auto& cell : row) cell.text = printable(cell.text);
  rows_.push_back(std::move(row));
}

Table::Layout Table::fit(const Terminal& terminal) const {
  Layout out{{}, std::vector<bool>(columns_.size(), true)};
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    auto width = display_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c].text));
    out.widths.push_back(width);
  }
  const auto total = [&] {
    std::size_t sum = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (out.shown[c]) sum += out.widths[c] + (sum > 0 ? kGap : 0);
    return sum;
  };
  const auto limit = static_cast<std::size_t>(terminal.width);
  while (limit > 0 && total() > limit) {
    std::size_t widest = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const bool can_shrink =
          out.shown[c] && columns_[c].least > 0 && out.widths[c] > columns_[c].least;
      if (can_shrink && (widest == columns_.size() || out.widths[c] > out.widths[widest]))
        widest = c;
    }
    if (widest < columns_.size()) {
      --out.widths[widest];
      continue;
    }
    std::size_t victim = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (out.shown[c] && columns_[c].drop > 0 &&
          (victim == columns_.size() || columns_[c].drop < columns_[victim].drop))
        victim = c;
    if (victim == columns_.size()) break;
    out.shown[victim] = false;
  }
  return out;
}

std::string Table::render(const Terminal& terminal) const {
  const auto layout = fit(terminal);
  std::string out;
  std::vector<std::string> hidden;
  const auto line = [&](const auto& cell_of, bool title) {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!layout.shown[c]) continue;
      const Cell& cell = cell_of(c);
      if (!text.empty()) text += std::string(kGap, ' ');
      text += padded(elide(cell.text, layout.widths[c], terminal.utf8), layout.widths[c],
                     columns_[c].align, title ? Tone::strong : cell.tone, terminal);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  std::vector<Cell> titles;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    titles.emplace_back(columns_[c].title);
    if (!layout.shown[c]) hidden.push_back(columns_[c].title);
  }
  line([&](std::size_t c) -> const Cell& { return titles[c]; }, true);
  for (const auto& row : rows_) line([&](std::size_t c) -> const Cell& { return row[c]; }, false);
  if (!hidden.empty())
    out += paint(wrapped("(no room for: " + base::join(hidden, ", ") + ")", 0,
                         static_cast<std::size_t>(terminal.width)),
                 Tone::dim, terminal) +
           "\n";
  return out;
}

}  // namespace souk::cli
