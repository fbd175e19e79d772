#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "wire/shape.h"

// Laws that agents' values, costs, sizes and times are drawn from, as a scenario file writes them:
//
//   2.5                        always this
//   [3.25, 3, 2.75]            each in turn: agent i, or the i-th draw, takes the i-th
//   {uniform: [0, 1]}          {normal: [mean, deviation]}
//   {exponential: mean}        {lognormal: [median, sigma]}, sigma of the logarithm
//   {uniform: [0, 1], common: {normal: [0, 0.2]}}   plus one draw that all share
//
// Lengths of time are written "30m". Our own inversions, because std distributions differ between
// libraries.

namespace souk::lab {

// A stream of its own for each purpose of each agent, so that what one draws never shifts what
// another does, whatever the mechanism: common random numbers.
[[nodiscard]] base::Random stream(std::uint64_t seed, std::string_view purpose, std::uint64_t agent,
                                  std::uint64_t index = 0);

enum class Law : std::uint8_t { constant, list, uniform, normal, exponential, lognormal };

struct Distribution {
  Law law = Law::constant;
  double a = 0, b = 0;
  std::vector<double> items;                   // Of a list.
  std::shared_ptr<const Distribution> common;  // Added; drawn once for all.

  [[nodiscard]] static Distribution always(double value) { return {.a = value}; }

  // One's own part of the draw number `index`.
  [[nodiscard]] double draw(base::Random& random, std::uint64_t index) const;
  // The value that a share `u` of the draws is below: for draws that are spread evenly on purpose.
  // Of a list: the item `index`, as for draw().
  [[nodiscard]] double quantile(double u, std::uint64_t index) const;
  // What all of a population share in period `period` of the run `seed`.
  [[nodiscard]] double shared(std::uint64_t seed, std::string_view population,
                              std::uint64_t period) const;
  [[nodiscard]] double mean() const;
  // The range that nearly all draws fall into: for traders who know no more than that.
  [[nodiscard]] double low() const;
  [[nodiscard]] double high() const;
};

enum class Measure { amount, time };  // A time is in seconds.

// Reads one; the errors' field is `field` or below it.
[[nodiscard]] base::Result<Distribution> read_distribution(const wire::AnyJson& json,
                                                           std::string_view field, Measure measure);

// A number of seconds from "30m".
[[nodiscard]] base::Result<double> read_seconds(const wire::AnyJson& json, std::string_view field);

}  // namespace souk::lab
