#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/result.h"
#include "base/text.h"

// Parameters as data. What people choose by name (mechanisms, aggregators, codecs, validators)
// stands in a table, with a row for each of its parameters. The rows are all there is: values are
// read by them (Arguments), and the API, --help, the docs and the console are made from them.

namespace souk::base {

// number: a floating-point number. whole: an integer. decimal: exact, at most six digits after the
// point. price: a decimal, in credits per slot-hour. choice: one of a few words. text: anything.
SOUK_ENUM(ParameterType, number, whole, decimal, price, choice, text)

struct Parameter {
  static constexpr std::size_t kMostChoices = 3;

  std::string_view name;
  ParameterType type = ParameterType::number;
  double low = 0, high = 0;  // What is accepted of number, whole, decimal and price.
  bool above_low = false;    // `low` itself is not accepted.
  std::array<std::string_view, kMostChoices> choices = {};  // The first ones that are not empty.
  bool needed = false;
  // What counts where it is not given, spelled as a value. Where no value says it, in words.
  std::string_view default_value = {};
  std::string_view default_words = {};
  // What a form begins with, where the default would be refused by a live market.
  std::string_view suggested = {};
  std::string_view meaning;  // Sentences.

  [[nodiscard]] constexpr std::span<const std::string_view> words() const {
    const auto* end = std::ranges::find_if(choices, &std::string_view::empty);
    return {choices.begin(), end};
  }
};

// "a whole number from 1 to 256", "dual or reserve".
[[nodiscard]] std::string accepted(const Parameter& parameter);

// The rows of one thing. Can be written where the thing is listed, and is constexpr.
class ParameterList {
 public:
  static constexpr std::size_t kMost = 5;

  constexpr ParameterList() = default;
  constexpr ParameterList(std::initializer_list<Parameter> rows) : size_(rows.size()) {
    std::ranges::copy(rows, rows_.begin());
  }
  [[nodiscard]] constexpr std::span<const Parameter> rows() const {
    return std::span(rows_).first(size_);
  }
  [[nodiscard]] constexpr auto begin() const { return rows().begin(); }
  [[nodiscard]] constexpr auto end() const { return rows().end(); }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }

 private:
  std::array<Parameter, kMost> rows_ = {};
  std::size_t size_ = 0;
};

// What was given for the parameters of one thing, checked against their rows. Every error names the
// parameter, its value and what is accepted; Error::field is the parameter's name. Asking for a
// parameter that has no row, or no value, is our bug.
class Arguments {
 public:
  using Texts = std::map<std::string, std::string, std::less<>>;
  using Numbers = std::map<std::string, double, std::less<>>;

  // `owner` is for errors: "the mechanism posted". `list` must outlive the arguments.
  [[nodiscard]] static Result<Arguments> read(std::string_view owner, const ParameterList& list,
                                              const Texts& given);
  [[nodiscard]] static Result<Arguments> read(std::string_view owner, const ParameterList& list,
                                              const Numbers& given);

  // Whether it was given, or has a default value.
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  // Of number and whole.
  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] double number_or(std::string_view name, double otherwise) const;
  [[nodiscard]] std::size_t whole(std::string_view name) const;
  [[nodiscard]] std::size_t whole_or(std::string_view name, std::size_t otherwise) const;
  // Of decimal and price, in millionths.
  [[nodiscard]] std::int64_t micro(std::string_view name) const;
  [[nodiscard]] std::optional<Credits> price(std::string_view name) const;
  // Of choice and text.
  [[nodiscard]] const std::string& text(std::string_view name) const;

 private:
  struct Value {
    double number = 0;
    std::int64_t micro = 0;
    std::string text;
  };

  explicit Arguments(const ParameterList& list) : list_(&list) {}
  static Result<Value> value_of(const Parameter& row, std::string_view text);
  static Result<Value> value_of(const Parameter& row, double number);
  template <class Given>
  static Result<Arguments> read_all(std::string_view owner, const ParameterList& list,
                                    const Given& given);
  [[nodiscard]] const Value* find(std::string_view name) const;
  [[nodiscard]] const Value& at(std::string_view name) const;

  const ParameterList* list_;
  std::map<std::string_view, Value> values_;
};

// The row of `table` called `name`. An unknown name is an error that suggests the nearest; `what`
// says of what it is a table, `field` which input named it.
template <class Row>
[[nodiscard]] Result<const Row*> find_named(std::span<const Row> table, std::string_view name,
                                            std::string_view what, std::string_view field) {
  std::vector<std::string_view> names;
  for (const auto& row : table) {
    if (row.name == name) return &row;
    names.push_back(row.name);
  }
  auto message = "there is no " + std::string(what) + " '" + std::string(name.substr(0, 80)) + "'";
  return fail(Code::invalid, std::move(message), suggest(name, names), std::string(field));
}

// Arguments from a name with at most one value behind a colon, such as "top-k:0.01" or "norm:10":
// the value is the first parameter's. `what` is also Error::field.
[[nodiscard]] Result<Arguments> read_suffix(std::string_view what, std::string_view name,
                                            const ParameterList& list, std::string_view spec);

}  // namespace souk::base
