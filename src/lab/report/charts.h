#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

// Charts as SVG text. Colours are classes (c0, c1...) that the page defines, and the text is that
// of the page, so that they follow its light or dark dress.

namespace souk::lab {

struct Line {
  std::string name;
  struct Point {
    double x = 0, y = 0;
    double low = 0, high = 0;  // A band around the line; both y: none.
  };
  std::vector<Point> points;
};

struct Axis {
  std::string title;
  bool time = false;  // Ticks as 2h, 3d.
  bool log = false;   // From 1 up.
};

[[nodiscard]] std::string line_chart(std::string_view title, const Axis& x, const Axis& y,
                                     std::span<const Line> lines);

// Horizontal bars, one a row; `low` and `high` are the ends of a whisker.
struct Bar {
  std::string name;
  double value = 0, low = 0, high = 0;
  std::string text;
};
[[nodiscard]] std::string bar_chart(std::string_view title, std::span<const Bar> bars);

// Rows of parts beside each other; negative parts go to the left.
struct Stack {
  std::string name;
  std::vector<double> parts;
};
[[nodiscard]] std::string stack_chart(std::string_view title, std::span<const std::string> parts,
                                      std::span<const Stack> rows);

// Text as it may stand in HTML.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace souk::lab
