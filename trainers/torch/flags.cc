#include "flags.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "error.h"
#include "nearest.h"

namespace souk::trainer {

Flags::Flags(const std::vector<std::string>& arguments, const std::vector<std::string>& known) {
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string& name = arguments[i];
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error("unknown flag '" + name + "'; did you mean " + nearest(name, known) + "?");
    if (i + 1 == arguments.size()) throw Error(name + " needs a value");
    values_[name] = arguments[i + 1];
  }
}

std::string Flags::required(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw Error(name + " is missing");
  return found->second;
}

std::string Flags::text(const std::string& name, const std::string& otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : found->second;
}

std::int64_t Flags::integer(const std::string& name, std::int64_t otherwise,
                            std::int64_t low) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return otherwise;
  char* end = nullptr;
  errno = 0;
  const std::int64_t value = std::strtoll(found->second.c_str(), &end, 10);
  if (found->second.empty() || *end != '\0' || errno != 0 || value < low)
    throw Error(name + " is '" + found->second + "'; it must be a whole number from " +
                std::to_string(low));
  return value;
}

double Flags::number(const std::string& name, double otherwise) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(found->second.c_str(), &end);
  if (found->second.empty() || *end != '\0' || !std::isfinite(value) || value < 0)
    throw Error(name + " is '" + found->second + "'; it must be a number from 0");
  return value;
}

}  // namespace souk::trainer
