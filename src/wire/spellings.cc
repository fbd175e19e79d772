#include "wire/spellings.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "wire/json.h"

namespace souk::wire {

std::string one_of(std::span<const std::string_view> names, std::string_view otherwise) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += names[i];
    if (names[i] == otherwise) out += " (default)";
  }
  return out;
}

base::Failure is_not(std::string_view text, std::string_view what, std::string hint) {
  return base::fail(base::Code::invalid, fmt::format("'{}' is not {}", printable_key(text), what),
                    std::move(hint));
}

base::Result<Memory> parse_memory(std::string_view text) {
  const auto bad = [&] {
    return is_not(text, "an amount of memory", "write for example 512M, 4G or 1.5T");
  };
  double amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  auto unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.starts_with(' ')) unit.remove_prefix(1);  // As it is printed.
  if (error != std::errc{} || unit.empty() || !std::isfinite(amount) || amount < 0) return bad();
  const char scale = unit[0];
  unit.remove_prefix(1);
  if (unit != "" && unit != "i" && unit != "iB" && unit != "B") return bad();
  const double mib = scale == 'K' || scale == 'k'   ? amount / 1024
                     : scale == 'M' || scale == 'm' ? amount
                     : scale == 'G' || scale == 'g' ? amount * 1024
                     : scale == 'T' || scale == 't' ? amount * 1024 * 1024
                                                    : -1;
  constexpr double kMost = 1 << 26;  // 64 TiB: what the market takes.
  if (mib < 0 || mib > kMost) return bad();
  return Memory{static_cast<std::int64_t>(std::ceil(mib))};
}

std::string to_string(Memory memory) {
  if (memory.mib >= 1024 && memory.mib % 1024 == 0) return fmt::format("{} GiB", memory.mib / 1024);
  if (memory.mib >= 10240) return fmt::format("{:.1f} GiB", static_cast<double>(memory.mib) / 1024);
  return fmt::format("{} MiB", memory.mib);
}

base::Result<Workers> parse_workers(std::string_view text) {
  constexpr std::string_view what = "a number of workers";
  const auto dots = text.find("..");
  const auto low = base::trim(text.substr(0, dots));
  const auto high = dots == std::string_view::npos ? low : base::trim(text.substr(dots + 2));
  const auto least = parse_whole<std::int32_t>(low), most = parse_whole<std::int32_t>(high);
  if (!least || !most) return is_not(text, what, "write 2, or a range such as 1..4");
  if (*least < 1 || *most < *least)
    return is_not(text, what, "write the least first, at least 1: for example 1..4");
  return Workers{*least, *most};
}

std::string to_string(const Workers& workers) {
  return workers.min == workers.max ? std::to_string(workers.min)
                                    : fmt::format("{}..{}", workers.min, workers.max);
}

base::Result<base::Time> parse_when(std::string_view text, base::Time now) {
  if (const auto length = base::parse_duration(text)) return now + *length;
  if (const auto time = base::parse_time(text)) return *time;
  return is_not(text, "a time", "write a length of time from now (3h) or 2027-03-01T22:00:00Z");
}

}  // namespace souk::wire
