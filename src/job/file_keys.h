#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/job_file.h"
#include "wire/json.h"

// Reading the keys of a job file: the common ones (job_file.cc), and those of a kind in its folder.
// A key that nobody knows was refused before, so each reader picks out its own.

namespace souk::job {

// The keys of `file` that T lists, read into a T. The others are left to their readers.
template <class T>
[[nodiscard]] base::Result<T> read_keys(const boost::json::object& file) {
  boost::json::object mine;
  for (const auto name : wire::field_names<T>)
    if (const auto* value = file.if_contains(name)) mine.emplace(name, *value);
  return wire::from_value<T>(mine);
}

// `error` as one of the key `field`, so that it gets that key's line.
[[nodiscard]] base::Error at(base::Error error, std::string field);

// A scalar as it was written.
[[nodiscard]] std::string plain(const wire::AnyJson& json);

// One name, or a list of names; none if it is neither.
[[nodiscard]] std::vector<std::string> one_or_several(const wire::AnyJson& json);

// Where the rules put a path that the key `field` names.
[[nodiscard]] base::Result<std::string> placed(const PathRules& rules, const std::string& path,
                                               std::string field);

// "name", or {name: NAME, ...} with whatever else stands there.
struct NamedWithOptions {
  std::string name;
  std::map<std::string, wire::AnyJson> options;
};
[[nodiscard]] base::Result<NamedWithOptions> read_named(const wire::AnyJson& json,
                                                        std::string field);

}  // namespace souk::job
