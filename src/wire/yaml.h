#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/json.h"

// Job and scenario files: YAML read into the same structs as JSON, by the same reader, with the
// same strictness. Errors carry file and line:
//
//   job.yaml:12: unknown key 'bugdet' (did you mean 'budget'?)
//
// Untagged scalars follow the core schema of YAML 1.2: `no` and `1:30` are texts, `0x1f` is a
// number. One document a file. Aliases work, and what they expand to is bounded. Merge keys (<<)
// are not part of YAML 1.2 and are unknown keys here.

namespace souk::wire {

inline constexpr std::size_t kMaxYamlBytes = 1 << 20;
inline constexpr std::size_t kMaxYamlNodes = 100'000;  // After aliases have been expanded.

// A YAML document as JSON, and where its parts were: path (as to_string(Path)) -> line from 1.
struct YamlDocument {
  boost::json::value value;
  std::map<std::string, int> lines;
};

// `file` is the name used in errors.
base::Result<YamlDocument> parse_yaml(std::string_view text, std::string_view file);

// `error` with "file:line: " before its message; the line is that of error.field, or of the
// nearest thing around it that is in the document.
base::Error locate(base::Error error, const YamlDocument& document, std::string_view file);

// Reads a file of at most kMaxYamlBytes.
base::Result<std::string> read_yaml_text(const std::string& path);

template <class T>
base::Result<T> from_yaml(std::string_view text, std::string_view file) {
  SOUK_ASSIGN(const auto document, parse_yaml(text, file));
  auto out = from_value<T>(document.value);
  if (!out) return std::unexpected(locate(std::move(out.error()), document, file));
  return out;
}

template <class T>
base::Result<T> load_yaml(const std::string& path) {
  SOUK_ASSIGN(const auto text, read_yaml_text(path));
  return from_yaml<T>(text, path);
}

}  // namespace souk::wire
