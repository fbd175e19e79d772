#pragma once

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// What every benchmark shares: flags, a stopwatch, and the table of results.

namespace souk::bench {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - began_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point began_ = Clock::now();
};

// The processor time of this thread. For work that is one thread's and waits for nothing: on an
// idle machine it is the time on the wall, on a busy one it leaves the neighbours out.
class CpuWatch {
 public:
  [[nodiscard]] double seconds() const { return now() - began_; }

 private:
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  }
  double began_ = now();
};

// Benchmarks stop at the first surprise: a figure from a broken run is worse than none.
[[noreturn]] inline void give_up(std::string_view why) {
  fmt::print(stderr, "bench: {}\n", why);
  std::exit(2);
}

template <class T>
T must(base::Result<T> result) {
  if (!result) give_up(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

inline double median(std::vector<double> values) {
  if (values.empty()) give_up("a median of nothing");
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// --name=value flags; a flag without a value is "1". A flag that is not in `known` ends the
// program with the list of those that are.
class Flags {
 public:
  Flags(int argc, char** argv, std::initializer_list<std::string_view> known) {
    for (int i = 1; i < argc; ++i) {
      std::string_view text = argv[i];
      if (text.starts_with("--")) text.remove_prefix(2);
      const auto equals = text.find('=');
      const auto name = text.substr(0, equals);
      if (name != "json" && name != "check" && std::ranges::find(known, name) == known.end())
        give_up(fmt::format("there is no flag '{}'; use --json --check --{}", argv[i],
                            fmt::join(known, " --")));
      values_[std::string(name)] =
          equals == std::string_view::npos ? "1" : std::string(text.substr(equals + 1));
    }
  }

  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
  [[nodiscard]] std::string text(const std::string& name, std::string otherwise) const {
    const auto it = values_.find(name);
    return it == values_.end() ? otherwise : it->second;
  }
  [[nodiscard]] std::size_t number(const std::string& name, std::size_t otherwise) const {
    const auto it = values_.find(name);
    return it == values_.end() ? otherwise : std::strtoull(it->second.c_str(), nullptr, 10);
  }

 private:
  std::map<std::string, std::string> values_;
};

// A measured thing, what the same run measured to hold it against, and what was promised.
struct Row {
  std::string what;
  double result = 0;
  std::string unit;
  std::optional<double> baseline = {};  // In the same unit, from the same run.
  std::string baseline_is = {};         // What it is.
  std::optional<double> bar = {};       // At least this; with `at_most`, at most.
  bool at_most = false;
  bool bar_on_ratio = false;  // The bar is about result / baseline.

  [[nodiscard]] std::optional<double> ratio() const {
    if (!baseline || *baseline == 0) return std::nullopt;
    return result / *baseline;
  }
  [[nodiscard]] std::optional<bool> passes() const {
    const auto measured = bar_on_ratio ? ratio() : std::optional(result);
    if (!bar || !measured) return std::nullopt;
    return at_most ? *measured <= *bar : *measured >= *bar;
  }
};

class Report {
 public:
  Report(std::string name, const Flags& flags)
      : name_(std::move(name)), json_(flags.has("json")), check_(flags.has("check")) {}

  void add(Row row) { rows_.push_back(std::move(row)); }
  void note(std::string text) { notes_.push_back(std::move(text)); }

  // Prints everything. The exit status of main(): with --check, 1 when a bar was missed.
  [[nodiscard]] int finish() const {
    json_ ? print_json() : print_table();
    const bool missed =
        std::ranges::any_of(rows_, [](const Row& r) { return r.passes() == false; });
    return check_ && missed ? 1 : 0;
  }

 private:
  // 1234567.8 -> "1,234,568"; small numbers keep what matters of their fraction.
  static std::string figure(double v) {
    auto text = fmt::format("{:.{}f}", v, v >= 100 ? 0 : v >= 10 ? 1 : v >= 1 ? 2 : 3);
    const auto point = std::min(text.find('.'), text.size());
    for (auto i = static_cast<std::ptrdiff_t>(point) - 3; i > 0; i -= 3)
      text.insert(static_cast<std::size_t>(i), ",");
    return text;
  }
  static std::string verdict(const Row& r) {
    const auto passes = r.passes();
    return !passes ? "" : *passes ? "pass" : "MISSED";
  }

  void print_table() const {
    std::vector<std::vector<std::string>> lines{
        {"what", "result", "baseline (same run)", "ratio", "bar", ""}};
    for (const auto& r : rows_) {
      const auto bar =
          r.bar ? fmt::format("{} {}{}{}", r.at_most ? "<=" : ">=", figure(*r.bar),
                              r.bar_on_ratio ? " ratio" : " ", r.bar_on_ratio ? "" : r.unit)
                : "";
      lines.push_back({r.what, figure(r.result) + " " + r.unit,
                       r.baseline ? fmt::format("{}: {}", r.baseline_is, figure(*r.baseline)) : "",
                       r.ratio() ? figure(*r.ratio()) : "", bar, verdict(r)});
    }
    std::vector<std::size_t> widths(lines[0].size());
    for (const auto& line : lines)
      for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
    fmt::print("{}\n", name_);
    for (const auto& line : lines) {
      std::string out;
      for (std::size_t i = 0; i < line.size(); ++i)
        out += fmt::format("  {:<{}}", line[i], widths[i]);
      out.erase(out.find_last_not_of(' ') + 1);
      fmt::print("{}\n", out);
    }
    for (const auto& text : notes_) fmt::print("  {}\n", text);
    fmt::print("\n");
  }

  static std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + '"';
  }
  template <class T>
  static std::string or_null(const std::optional<T>& v) {
    return v ? fmt::format("{}", *v) : "null";
  }
  void print_json() const {
    std::vector<std::string> rows, notes;
    for (const auto& r : rows_)
      rows.push_back(fmt::format(
          R"({{"what":{},"result":{},"unit":{},"baseline":{},"baseline_is":{},"ratio":{},"bar":{},)"
          R"("bar_on":"{}","pass":{}}})",
          quoted(r.what), r.result, quoted(r.unit), or_null(r.baseline), quoted(r.baseline_is),
          or_null(r.ratio()), or_null(r.bar), r.bar_on_ratio ? "ratio" : "result",
          or_null(r.passes())));
    for (const auto& text : notes_) notes.push_back(quoted(text));
    fmt::print("{{\"bench\":{},\"rows\":[{}],\"notes\":[{}]}}\n", quoted(name_),
               fmt::join(rows, ","), fmt::join(notes, ","));
  }

  std::string name_;
  bool json_, check_;
  std::vector<Row> rows_;
  std::vector<std::string> notes_;
};

}  // namespace souk::bench
