#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/random.h"
#include "base/time.h"
#include "wire/shape.h"

// Structs that between them use every shape, and random values of them.

namespace souk::wire::testing {

SOUK_ENUM(Color, red, green, dark_blue)

struct Workers {
  std::uint16_t min = 1;
  std::uint16_t max = 1;

  bool operator==(const Workers&) const = default;
  SOUK_FIELDS(Workers, min, max)
};

struct Window {
  base::Time from;
  base::Duration length;

  bool operator==(const Window&) const = default;
  SOUK_FIELDS(Window, from, length)
};

struct Sample {
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"priority", "color"};

  std::string name;
  std::string class_;
  base::JobId job;
  base::Credits budget;
  Workers workers;
  std::int32_t priority = 5;
  Color color = Color::green;
  std::int64_t small = 0;
  std::uint64_t big = 0;
  double ratio = 0;
  bool gang = false;
  std::optional<base::Time> deadline;
  std::optional<Workers> spare;
  std::vector<Window> windows;
  std::map<std::string, base::Credits> prices;
  AnyJson extra;

  bool operator==(const Sample&) const = default;
  SOUK_FIELDS(Sample, name, class_, job, budget, workers, priority, color, small, big, ratio, gang,
              deadline, spare, windows, prices, extra)
};

inline std::string random_text(base::Random& random) {
  static constexpr std::array<std::string_view, 12> pieces{"a",    "Z", " ",  "\"", "\\", "\n",
                                                           "\x01", "é", "漢", "😀", "/",  "\x7f"};
  std::string out;
  for (auto n = random.below(12); n > 0; --n) out += pieces[random.below(pieces.size())];
  return out;
}

inline base::Credits random_credits(base::Random& random) {
  const auto most = base::kMostCredits.micro;
  if (random.chance(2)) return base::Credits(random.between(-most, most));
  return base::Credits(random.between(-2'000'000, 2'000'000));
}

inline base::Time random_time(base::Random& random) {
  const auto us = random.between(0, base::days(365 * 230).us);
  return base::Time(random.chance(2) ? us : us / 1'000'000 * 1'000'000);
}

inline double random_real(base::Random& random) {
  const auto digits = static_cast<double>(random.between(-1'000'000'000, 1'000'000'000));
  if (random.chance(3)) return digits;
  return random.chance(2) ? digits / 1e7 : digits / 3e-200;
}

inline Workers random_workers(base::Random& random) {
  return {.min = static_cast<std::uint16_t>(random.below(65536)),
          .max = static_cast<std::uint16_t>(random.below(65536))};
}

inline Sample random_sample(base::Random& random) {
  Sample s{.name = random_text(random),
           .class_ = random_text(random),
           .job = base::JobId(1 + (random.next() >> random.below(64)) / 2),
           .budget = random_credits(random),
           .workers = random_workers(random),
           .priority = static_cast<std::int32_t>(random.next()),
           .color = static_cast<Color>(random.below(3)),
           .small = static_cast<std::int64_t>(random.next()) >> random.below(64),
           .big = random.next() >> random.below(64),
           .ratio = random_real(random),
           .gang = random.chance(2)};
  if (random.chance(2)) s.deadline = random_time(random);
  if (random.chance(2)) s.spare = random_workers(random);
  for (auto n = random.below(4); n > 0; --n)
    s.windows.push_back(
        {.from = random_time(random), .length = base::Duration(random.between(0, 1L << 47))});
  for (auto n = random.below(4); n > 0; --n) s.prices[random_text(random)] = random_credits(random);
  if (random.chance(2)) s.extra.text = R"({"k":[1,2.5,"x",null,true]})";
  return s;
}

}  // namespace souk::wire::testing
