#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace souk::trainer {

// The `--name value` flags of a command. All take a value.
class Flags {
 public:
  // `known` names what the command takes. Throws Error on anything else, with the nearest flag.
  Flags(const std::vector<std::string>& arguments, const std::vector<std::string>& known);

  // Throws Error when the flag is absent.
  std::string required(const std::string& name) const;
  std::string text(const std::string& name, const std::string& otherwise) const;
  // Throws Error when the value is no such number.
  std::int64_t integer(const std::string& name, std::int64_t otherwise, std::int64_t low) const;
  double number(const std::string& name, double otherwise) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace souk::trainer
