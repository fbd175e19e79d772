#include "mechanism/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace souk::mechanism {
namespace {

using base::Code;
using base::fail;

base::Failure bad(std::string message, std::string hint, std::string_view field) {
  return fail(Code::invalid, std::move(message), std::move(hint), std::string(field));
}

// `what` is a job or a type; `least` is allowed only if `or_equal`.
Result<> check_all(std::span<const double> values, std::string_view field, std::string_view what,
                   bool or_equal) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]) || values[i] < 0 || (values[i] == 0 && !or_equal))
      return bad(fmt::format("{}[{}] is {}", field, i, values[i]),
                 fmt::format("a {} needs {} 0", what, or_equal ? "at least" : "more than"), field);
  return {};
}

Result<> check_size(std::size_t has, std::size_t wanted, std::string_view field,
                    std::string_view what, bool optional) {
  if (has == wanted || (optional && has == 0)) return {};
  return bad(fmt::format("{} has {} numbers", field, has),
             fmt::format("one for each {}, {} in all", what, wanted), field);
}

struct Column {
  std::string_view field;
  const std::vector<double>& values;
  bool or_zero, optional;
};

}  // namespace

Result<> check(const ScheduleInstance& s) {
  if (s.types() == 0) return bad("there are no machine types", "capacity: [1, 2, 3]", "capacity");
  SOUK_TRY(check_all(s.capacity, "capacity", "type", false));
  SOUK_TRY(check_size(s.throughputs.size(), s.jobs() * s.types(), "throughputs", "type of each job",
                      false));
  SOUK_TRY(check_all(s.throughputs, "throughputs", "rate", true));
  for (const auto& c :
       {Column{"scale", s.scale, false, false}, Column{"weights", s.weights, false, false},
        Column{"steps", s.steps, false, true}, Column{"done", s.done, true, true},
        Column{"elapsed", s.elapsed, true, true}, Column{"isolated", s.isolated, true, true},
        Column{"slo", s.slo, true, true}}) {
    SOUK_TRY(check_size(c.values.size(), s.jobs(), c.field, "job", c.optional));
    SOUK_TRY(check_all(c.values, c.field, "job", c.or_zero));
  }
  SOUK_TRY(check_size(s.cost.size(), s.types(), "cost", "type", true));
  SOUK_TRY(check_all(s.cost, "cost", "type", false));
  SOUK_TRY(check_size(s.held.size(), s.jobs(), "held", "job", true));
  for (std::size_t i = 0; i < s.held.size(); ++i)
    if (s.held[i] < -1 || s.held[i] >= static_cast<int>(s.types()))
      return bad(fmt::format("held[{}] is {}", i, s.held[i]),
                 fmt::format("a type from 0 to {}, or -1 for none", s.types() - 1), "held");
  for (std::size_t i = 0; i < s.jobs(); ++i)
    if (std::ranges::max(s.rates(i)) == 0)
      return bad(fmt::format("job {} runs on no type of machine", i),
                 "give it a throughput above 0 for one of them", "throughputs");
  return {};
}

double Schedule::gap() const {
  if (bound == objective) return 0;
  return std::abs(bound - objective) / std::max(std::abs(bound), 1e-300);
}

}  // namespace souk::mechanism
