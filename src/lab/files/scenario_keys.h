#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/files/scenario.h"
#include "wire/json.h"

// The inside of scenario files: what their readers share. The structs here have the keys of the
// file; what may be written in more than one way is read as it is (AnyJson) and understood by the
// readers. Errors carry the path of their key, from which the reader of YAML finds the line.

namespace souk::lab::keys {

using base::Code;
using wire::AnyJson;
template <class T>
using Maybe = std::optional<T>;

struct ChurnKeys {
  AnyJson up, down;
  bool notice = false;
  SOUK_FIELDS(ChurnKeys, up, down, notice)
};

struct TraceKeys {
  TraceFormat format = TraceFormat::gavel;
  std::string file;
  Maybe<std::string> throughputs, worker;
  Maybe<double> steps_per_second, speed;
  Maybe<std::int64_t> most;
  Maybe<Duration> from;
  SOUK_FIELDS(TraceKeys, format, file, throughputs, worker, steps_per_second, speed, most, from)
};

struct PopulationKeys {
  Maybe<std::string> name;
  Maybe<std::int32_t> count;
  Maybe<AnyJson> units, values, costs, strategy, arrivals, run_time;
  bool keep = false;
  Maybe<double> credits;
  Maybe<std::string> class_;
  Maybe<Duration> revise, patience, checkpoint, longest_lease;
  bool gang = false, leaves = false;
  Maybe<TraceKeys> trace;
  std::vector<std::string> windows;
  Maybe<ChurnKeys> churn;
  SOUK_FIELDS(PopulationKeys, name, count, units, values, costs, strategy, arrivals, run_time, keep,
              credits, class_, revise, patience, checkpoint, gang, leaves, trace, windows, churn,
              longest_lease)
};

inline base::Failure bad(std::string message, std::string hint, std::string field) {
  return base::fail(Code::invalid, std::move(message), std::move(hint), std::move(field));
}

// `result` with the field of its error below `prefix`.
template <class T>
Result<T> below(Result<T> result, std::string_view prefix) {
  if (result) return result;
  auto error = std::move(result).error();
  error.field =
      error.field.empty() ? std::string(prefix) : fmt::format("{}.{}", prefix, error.field);
  return std::unexpected(std::move(error));
}

template <class T>
Result<T> keys_of(const boost::json::value& value, std::string_view prefix) {
  return below(wire::from_value<T>(value), prefix);
}

// Refuses what belongs to the other world.
[[nodiscard]] Result<> only(World wanted, World actual, bool given, std::string field);

// The population `index` of "lenders" or "borrowers".
[[nodiscard]] Result<Population> read_population(const PopulationKeys& keys, World world,
                                                 std::string_view side, std::size_t index);

}  // namespace souk::lab::keys
