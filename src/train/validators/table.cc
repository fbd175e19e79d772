#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/text.h"
#include "train/validators/validators.h"

namespace souk::train {
namespace {

using base::Code;
using base::fail;

struct Entry {
  std::string_view name;
  bool takes_factor;
  MakeValidator* make;
};

// The one list of validators. To add one: a file, its test, its maker in validators.h, its row
// here.
constexpr std::array kTable{
    Entry{"finite", false, make_finite},
    Entry{"norm", true, make_norm},
    Entry{"loss", true, make_loss},
    Entry{"direction", false, make_direction},
};

base::Result<std::optional<double>> factor_of(const Entry& entry, std::string_view spec) {
  if (spec == entry.name) return std::nullopt;
  const auto text = spec.substr(entry.name.size() + 1);
  if (!entry.takes_factor)
    return fail(Code::invalid,
                fmt::format("the validator {} takes no '{}'", entry.name, text.substr(0, 80)),
                fmt::format("write '{}'", entry.name), "validator");
  double factor = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() ||
      !(factor > 1 && factor <= 1e6))
    return fail(Code::invalid,
                fmt::format("the factor of {} is '{}'", entry.name, text.substr(0, 80)),
                fmt::format("write a number above 1 and up to 1000000, such as {}:10", entry.name),
                "validator");
  return factor;
}

}  // namespace

std::vector<std::string_view> validator_names() {
  std::vector<std::string_view> names;
  for (const auto& entry : kTable) names.push_back(entry.name);
  return names;
}

base::Result<std::unique_ptr<Validator>> make_validator(std::string_view spec) {
  const auto name = spec.substr(0, spec.find(':'));
  for (const auto& entry : kTable)
    if (entry.name == name) {
      SOUK_ASSIGN(const auto factor, factor_of(entry, spec));
      return entry.make(factor);
    }
  return fail(Code::invalid, fmt::format("there is no validator '{}'", name.substr(0, 80)),
              base::suggest(name, validator_names()), "validator");
}

}  // namespace souk::train
