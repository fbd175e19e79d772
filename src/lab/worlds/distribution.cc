#include "lab/worlds/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/value.hpp>
#include <cmath>
#include <numbers>

#include "base/hash.h"
#include "base/text.h"
#include "base/time.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kItemsMax = 10'000;

base::Failure bad(std::string message, std::string hint, std::string_view field) {
  return fail(Code::invalid, std::move(message), std::move(hint), std::string(field));
}

Result<double> seconds_of(const boost::json::value& v, std::string_view field) {
  const auto* text = v.if_string();
  if (text == nullptr)
    return bad("a length of time is needed here", "write it with a unit, for example 30m", field);
  auto read = base::parse_duration({text->data(), text->size()});
  if (!read) return bad(read.error().message, read.error().hint, field);
  return read->seconds();
}

Result<double> number_of(const boost::json::value& v, std::string_view field) {
  if (!v.is_number()) return bad("a number is needed here", "for example 0.25", field);
  return v.to_number<double>();
}

Result<double> item_of(const boost::json::value& v, std::string_view field, Measure measure) {
  return measure == Measure::time ? seconds_of(v, field) : number_of(v, field);
}

struct Form {
  std::string_view name;
  Law law;
  std::size_t params;
  std::string_view example;
};
constexpr std::array kForms{Form{"uniform", Law::uniform, 2, "{uniform: [low, high]}"},
                            Form{"normal", Law::normal, 2, "{normal: [mean, deviation]}"},
                            Form{"exponential", Law::exponential, 1, "{exponential: mean}"},
                            Form{"lognormal", Law::lognormal, 2, "{lognormal: [median, sigma]}"}};

Result<> check(const Distribution& d, std::string_view field) {
  const auto wrong = [&](std::string_view what) { return bad(std::string(what), "", field); };
  if (d.law == Law::uniform && d.a > d.b)
    return wrong("the low end of this range is above its high end");
  if (d.law == Law::normal && d.b < 0) return wrong("a deviation cannot be negative");
  if (d.law == Law::exponential && d.a <= 0) return wrong("the mean must be more than 0");
  if (d.law == Law::lognormal && (d.a <= 0 || d.b < 0))
    return wrong("the median must be more than 0, sigma 0 or more");
  return {};
}

Result<Distribution> read_form(const Form& form, const boost::json::value& v,
                               const std::string& field, Measure measure) {
  std::vector<boost::json::value> params;
  if (const auto* list = v.if_array())
    params.assign(list->begin(), list->end());
  else
    params.push_back(v);
  if (params.size() != form.params)
    return bad(fmt::format("{} has {} parameters here", form.name, params.size()),
               fmt::format("write {}", form.example), field);
  Distribution out{.law = form.law};
  SOUK_ASSIGN(out.a, item_of(params[0], field, measure));
  if (params.size() > 1) {
    // Sigma is of a logarithm: a plain number, also for times.
    const auto second = form.law == Law::lognormal ? Measure::amount : measure;
    SOUK_ASSIGN(out.b, item_of(params[1], field, second));
  }
  SOUK_TRY(check(out, field));
  return out;
}

Result<Distribution> read(const boost::json::value& v, const std::string& field, Measure measure) {
  if (const auto* list = v.if_array()) {
    if (list->empty() || list->size() > kItemsMax)
      return bad(fmt::format("a list of {} items", list->size()),
                 fmt::format("use 1 to {}", kItemsMax), field);
    Distribution out{.law = Law::list};
    for (const auto& item : *list) {
      SOUK_ASSIGN(const auto value, item_of(item, field, measure));
      out.items.push_back(value);
    }
    return out;
  }
  const auto* object = v.if_object();
  if (object == nullptr) {
    SOUK_ASSIGN(const auto value, item_of(v, field, measure));
    return Distribution::always(value);
  }
  std::optional<Distribution> out;
  std::shared_ptr<const Distribution> common;
  for (const auto& member : *object) {
    const std::string key(member.key());
    const auto at = field + "." + key;
    if (key == "common") {
      SOUK_ASSIGN(auto read_common, read(member.value(), at, measure));
      common = std::make_shared<const Distribution>(std::move(read_common));
      continue;
    }
    const auto form = std::ranges::find(kForms, key, &Form::name);
    if (form == kForms.end()) {
      std::vector<std::string_view> known{"common"};
      for (const auto& f : kForms) known.push_back(f.name);
      return bad(fmt::format("unknown key '{}'", wire::printable_key(key)),
                 base::suggest(key, known), at);
    }
    if (out) return bad("two laws for one thing", "keep one of them", at);
    SOUK_ASSIGN(out, read_form(*form, member.value(), at, measure));
  }
  if (!out) return bad("a law is missing", "for example {uniform: [0, 1]}", field);
  out->common = std::move(common);
  return *std::move(out);
}

double normal_quantile(double u) {
  double low = -9, high = 9;
  for (int i = 0; i < 60; ++i) {
    const auto middle = (low + high) / 2;
    (std::erfc(-middle / std::numbers::sqrt2) / 2 < u ? low : high) = middle;
  }
  return low;
}

Result<boost::json::value> value_of(const wire::AnyJson& json) { return wire::parse(json.text); }

}  // namespace

base::Random stream(std::uint64_t seed, std::string_view purpose, std::uint64_t agent,
                    std::uint64_t index) {
  std::uint64_t h = 0xcbf29ce484222325ULL;  // FNV-1a, then the generator's own mixing.
  for (const unsigned char c : purpose) h = (h ^ c) * 0x100000001b3ULL;
  for (const auto word : {seed, agent, index}) h = base::Random(h ^ word).next();
  return base::Random(h);
}

double Distribution::quantile(double u, std::uint64_t index) const {
  switch (law) {
    case Law::constant:
      return a;
    case Law::list:
      return items[index % items.size()];
    case Law::uniform:
      return a + (b - a) * u;
    case Law::exponential:
      return -a * std::log1p(-u);
    case Law::normal:
      return a + b * normal_quantile(u);
    case Law::lognormal:
      return a * std::exp(b * normal_quantile(u));
  }
  CHECK(false);
}

double Distribution::draw(base::Random& random, std::uint64_t index) const {
  switch (law) {
    case Law::constant:
      return a;
    case Law::list:
      return items[index % items.size()];
    case Law::uniform:
      return a + (b - a) * random.unit();
    case Law::exponential:
      return -a * std::log1p(-random.unit());
    case Law::normal:
    case Law::lognormal: {
      const auto radius = std::sqrt(-2 * std::log1p(-random.unit()));
      const auto z = radius * std::cos(2 * std::numbers::pi * random.unit());
      return law == Law::normal ? a + b * z : a * std::exp(b * z);
    }
  }
  CHECK(false);
}

double Distribution::shared(std::uint64_t seed, std::string_view population,
                            std::uint64_t period) const {
  if (!common) return 0;
  auto random = stream(seed, population, ~std::uint64_t{0}, period);
  return common->draw(random, period);
}

double Distribution::mean() const {
  double own = 0;
  switch (law) {
    case Law::constant:
    case Law::normal:
    case Law::exponential:
      own = a;
      break;
    case Law::list:
      for (const auto item : items) own += item / static_cast<double>(items.size());
      break;
    case Law::uniform:
      own = (a + b) / 2;
      break;
    case Law::lognormal:
      own = a * std::exp(b * b / 2);
      break;
  }
  return own + (common ? common->mean() : 0);
}

double Distribution::low() const {
  const auto own = law == Law::list          ? *std::ranges::min_element(items)
                   : law == Law::normal      ? a - 3 * b
                   : law == Law::exponential ? 0
                   : law == Law::lognormal   ? a * std::exp(-3 * b)
                                             : a;
  return own + (common ? common->low() : 0);
}

double Distribution::high() const {
  const auto own = law == Law::list          ? *std::ranges::max_element(items)
                   : law == Law::uniform     ? b
                   : law == Law::normal      ? a + 3 * b
                   : law == Law::exponential ? 5 * a
                   : law == Law::lognormal   ? a * std::exp(3 * b)
                                             : a;
  return own + (common ? common->high() : 0);
}

Result<Distribution> read_distribution(const wire::AnyJson& json, std::string_view field,
                                       Measure measure) {
  SOUK_ASSIGN(const auto value, value_of(json));
  return read(value, std::string(field), measure);
}

Result<double> read_seconds(const wire::AnyJson& json, std::string_view field) {
  SOUK_ASSIGN(const auto value, value_of(json));
  return seconds_of(value, field);
}

}  // namespace souk::lab
