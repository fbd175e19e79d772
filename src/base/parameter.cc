#include "base/parameter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "base/check.h"

namespace souk::base {
namespace {

constexpr std::size_t kShown = 80;  // Of a value, in an error.

bool in_range(const Parameter& row, double value) {
  return value >= row.low && value <= row.high && !(row.above_low && value == row.low);
}

std::string hint_of(const Parameter& row) {
  switch (row.type) {
    case ParameterType::choice:
      return "it can be " + accepted(row);
    default:
      return "write " + accepted(row);
  }
}

Failure refused(const Parameter& row, const std::string& value) {
  return fail(Code::invalid, fmt::format("{} is {}", row.name, value), hint_of(row),
              std::string(row.name));
}

std::optional<double> number_in(std::string_view text) {
  double out = 0;
  const auto* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return out;
}

}  // namespace

std::string accepted(const Parameter& row) {
  const auto range = row.above_low ? fmt::format("above {} and up to {}", row.low, row.high)
                                   : fmt::format("from {} to {}", row.low, row.high);
  switch (row.type) {
    case ParameterType::number:
      return "a number " + range;
    case ParameterType::whole:
      return "a whole number " + range;
    case ParameterType::decimal:
      return fmt::format("a decimal {} with at most six digits after the point", range);
    case ParameterType::price:
      return fmt::format("credits per slot-hour, such as 0.4, from {} to {}{}", row.low, row.high,
                         row.above_low ? " (at least 0.000001)" : "");
    case ParameterType::choice:
      return fmt::format("{}", fmt::join(row.words(), " or "));
    case ParameterType::text:
      return "a text";
  }
  CHECK(false);
}

Result<Arguments::Value> Arguments::value_of(const Parameter& row, std::string_view text) {
  const auto quoted = fmt::format("'{}'", text.substr(0, kShown));
  switch (row.type) {
    case ParameterType::number:
    case ParameterType::whole: {
      const auto number = number_in(text);
      if (!number || !in_range(row, *number)) return refused(row, quoted);
      if (row.type == ParameterType::whole && *number != std::floor(*number))
        return refused(row, quoted);
      return Value{.number = *number};
    }
    case ParameterType::decimal:
    case ParameterType::price: {
      // A credit has six digits after the point too, so its reader serves for all decimals.
      const auto read = parse_credits(text);
      if (!read || !in_range(row, static_cast<double>(read->micro) / 1e6))
        return refused(row, quoted);
      return Value{.micro = read->micro};
    }
    case ParameterType::choice:
      if (std::ranges::find(row.words(), text) == row.words().end()) return refused(row, quoted);
      return Value{.text = std::string(text)};
    case ParameterType::text:
      return Value{.text = std::string(text)};
  }
  CHECK(false);
}

Result<Arguments::Value> Arguments::value_of(const Parameter& row, double number) {
  CHECK(row.type == ParameterType::number || row.type == ParameterType::whole);
  if (!in_range(row, number) || (row.type == ParameterType::whole && number != std::floor(number)))
    return refused(row, fmt::format("{}", number));
  return Value{.number = number};
}

template <class Given>
Result<Arguments> Arguments::read_all(std::string_view owner, const ParameterList& list,
                                      const Given& given) {
  std::vector<std::string_view> names;
  for (const auto& row : list) names.push_back(row.name);
  for (const auto& [name, value] : given)
    if (std::ranges::find(names, name) == names.end())
      return fail(Code::invalid,
                  fmt::format("{} has no parameter '{}' (given as '{}')", owner,
                              std::string_view(name).substr(0, kShown), value),
                  names.empty() ? std::string("it has none") : suggest(name, names), name);
  Arguments out(list);
  for (const auto& row : list) {
    const auto at = given.find(row.name);
    if (at != given.end()) {
      SOUK_ASSIGN(out.values_[row.name], value_of(row, at->second));
    } else if (!row.default_value.empty()) {
      auto value = value_of(row, row.default_value);
      CHECK(value);
      out.values_[row.name] = *std::move(value);
    } else if (row.needed) {
      return fail(Code::invalid, fmt::format("{} needs the parameter {}", owner, row.name),
                  hint_of(row), std::string(row.name));
    }
  }
  return out;
}

Result<Arguments> Arguments::read(std::string_view owner, const ParameterList& list,
                                  const Texts& given) {
  return read_all(owner, list, given);
}

Result<Arguments> Arguments::read(std::string_view owner, const ParameterList& list,
                                  const Numbers& given) {
  return read_all(owner, list, given);
}

const Arguments::Value* Arguments::find(std::string_view name) const {
  CHECK(std::ranges::find(list_->rows(), name, &Parameter::name) != list_->end());
  const auto at = values_.find(name);
  return at == values_.end() ? nullptr : &at->second;
}

const Arguments::Value& Arguments::at(std::string_view name) const {
  const auto* value = find(name);
  CHECK(value != nullptr);
  return *value;
}

double Arguments::number(std::string_view name) const { return at(name).number; }

double Arguments::number_or(std::string_view name, double otherwise) const {
  return has(name) ? number(name) : otherwise;
}

std::size_t Arguments::whole(std::string_view name) const {
  return static_cast<std::size_t>(number(name));
}

std::size_t Arguments::whole_or(std::string_view name, std::size_t otherwise) const {
  return has(name) ? whole(name) : otherwise;
}

std::int64_t Arguments::micro(std::string_view name) const { return at(name).micro; }

std::optional<Credits> Arguments::price(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  return Credits(micro(name));
}

const std::string& Arguments::text(std::string_view name) const { return at(name).text; }

Result<Arguments> read_suffix(std::string_view what, std::string_view name,
                              const ParameterList& list, std::string_view spec) {
  const auto owner = fmt::format("the {} {}", what, name);
  Arguments::Texts given;
  if (spec != name) {
    const auto value = spec.substr(name.size() + 1);
    if (list.size() == 0)
      return fail(Code::invalid,
                  value.empty() ? fmt::format("nothing follows the colon of '{}'", spec)
                                : fmt::format("{} takes no '{}'", owner, value.substr(0, kShown)),
                  fmt::format("write '{}'", name), std::string(what));
    given.emplace(list.begin()->name, value);
  }
  auto out = Arguments::read(owner, list, given);
  if (out) return out;
  auto error = std::move(out).error();
  error.message = fmt::format("{}: {}", owner, error.message);
  error.hint += fmt::format(", such as {}:{}", name, list.begin()->default_value);
  error.field = what;
  return std::unexpected(std::move(error));
}

}  // namespace souk::base
