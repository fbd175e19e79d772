#include "base/packages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <tuple>

#include "base/text.h"

namespace souk::base {
namespace {

constexpr std::size_t kMostNumbers = 8;  // Of a version; what follows counts for nothing.
constexpr std::int64_t kLast = std::int64_t{1} << 60;

// "1!2.4.0rc1.post2.dev3+cu124", taken apart so that members compare in order.
struct Version {
  std::int64_t epoch = 0;
  std::array<std::int64_t, kMostNumbers> release{};
  std::size_t numbers = 0;  // Of `release` that were written.
  int stage = 2;            // 0: nothing but a dev release; 1: a, b or rc; 2: the release.
  std::int64_t letter = 0, stage_number = 0;  // Of stage 1.
  std::int64_t post = -1;
  std::int64_t dev = kLast;
  std::string_view local;

  [[nodiscard]] auto key() const {
    return std::tuple(epoch, release, stage, letter, stage_number, post, dev);
  }
  [[nodiscard]] bool early() const { return stage < 2 || dev != kLast; }
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_mark(char c) { return c == '-' || c == '_' || c == '.'; }

// Reads versions from left to right.
struct Reader {
  std::string_view rest;

  bool take(std::string_view word) {
    if (rest.size() < word.size()) return false;
    for (std::size_t i = 0; i < word.size(); ++i)
      if (lower(rest[i]) != word[i]) return false;
    rest.remove_prefix(word.size());
    return true;
  }
  std::optional<std::int64_t> number() {
    std::int64_t out = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), out);
    if (error != std::errc{} || rest.empty() || !is_digit(rest.front())) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return out;
  }
  void mark() {
    if (!rest.empty() && is_mark(rest.front())) rest.remove_prefix(1);
  }
  // "rc1", ".post2", "-dev3": one of the words, and a number that may be absent.
  std::optional<std::int64_t> part(std::initializer_list<std::string_view> words) {
    auto at = *this;
    at.mark();
    for (const auto word : words)
      if (at.take(word)) {
        at.mark();
        const auto n = at.number().value_or(0);
        *this = at;
        return n;
      }
    return std::nullopt;
  }
};

void read_stage(Reader& in, Version& v) {
  const auto take = [&](std::int64_t letter, std::initializer_list<std::string_view> words) {
    const auto n = in.part(words);
    if (!n) return false;
    v.stage = 1;
    v.letter = letter;
    v.stage_number = *n;
    return true;
  };
  (void)(take(0, {"alpha", "a"}) || take(1, {"beta", "b"}) ||
         take(2, {"rc", "c", "preview", "pre"}));
}

std::optional<Version> read_version(std::string_view text) {
  Version v;
  if (const auto plus = text.find('+'); plus != std::string_view::npos) {
    v.local = text.substr(plus + 1);
    text = text.substr(0, plus);
  }
  Reader in{text};
  in.take("v");
  auto n = in.number();
  if (!n) return std::nullopt;
  if (in.take("!")) {
    v.epoch = *n;
    if (!(n = in.number())) return std::nullopt;
  }
  v.release[v.numbers++] = *n;
  while (in.rest.size() > 1 && in.rest[0] == '.' && is_digit(in.rest[1])) {
    in.rest.remove_prefix(1);
    if (!(n = in.number())) return std::nullopt;  // It has too many digits.
    if (v.numbers < kMostNumbers) v.release[v.numbers++] = *n;
  }
  read_stage(in, v);
  if (const auto post = in.part({"post", "rev", "r"})) {
    v.post = *post;
  } else if (in.rest.size() > 1 && in.rest[0] == '-' && is_digit(in.rest[1])) {
    in.rest.remove_prefix(1);
    v.post = in.number().value_or(0);
  }
  if (const auto dev = in.part({"dev"})) {
    v.dev = *dev;
    if (v.stage == 2 && v.post < 0) v.stage = 0;  // Before the first alpha.
  }
  if (!in.rest.empty()) return std::nullopt;
  return v;
}

int order(const auto& a, const auto& b) { return a < b ? -1 : b < a ? 1 : 0; }

// With `wanted` without a local part, that of `a` does not count.
int compare(std::string_view text_a, const std::optional<Version>& a, std::string_view text_b,
            const std::optional<Version>& b, bool locals) {
  if (!a || !b) {
    if (a.has_value() != b.has_value()) return a ? -1 : 1;
    return order(text_a, text_b);
  }
  if (const int by = order(a->key(), b->key()); by != 0) return by;
  return locals ? order(a->local, b->local) : 0;
}

// "2.4.*": the numbers that are given are the same.
bool begins_with(const Version& v, const Version& prefix) {
  return v.epoch == prefix.epoch &&
         std::equal(prefix.release.begin(),
                    prefix.release.begin() + static_cast<std::ptrdiff_t>(prefix.numbers),
                    v.release.begin());
}

struct Clause {
  std::string_view op, version;
};

// The first clause of "<3,>=2", and what follows it. Nothing: it is none.
std::optional<Clause> next_clause(std::string_view& rest) {
  const auto end = std::min(rest.find(','), rest.size());
  const auto text = rest.substr(0, end);
  rest = rest.substr(std::min(end + 1, rest.size()));
  constexpr std::array<std::string_view, 8> ops{"===", "==", ">=", "<=", "!=", "~=", ">", "<"};
  for (const auto op : ops)
    if (text.starts_with(op) && text.size() > op.size()) return Clause{op, text.substr(op.size())};
  return std::nullopt;
}

bool meets_equal(std::string_view text, const std::optional<Version>& v, std::string_view wanted) {
  if (wanted.ends_with(".*")) {
    const auto prefix = read_version(wanted.substr(0, wanted.size() - 2));
    return v && prefix && begins_with(*v, *prefix);
  }
  const auto w = read_version(wanted);
  return compare(text, v, wanted, w, !w || !w->local.empty()) == 0;
}

// As numbers of a version are compared; "<3" leaves out 3rc1, and ">3" leaves out 3.post1.
bool meets_order(std::string_view text, const std::optional<Version>& v, const Clause& clause) {
  const auto w = read_version(clause.version);
  const int by = compare(text, v, clause.version, w, false);
  if (clause.op == ">=") return by >= 0;
  if (clause.op == "<=") return by <= 0;
  const bool same_release = v && w && v->epoch == w->epoch && v->release == w->release;
  if (clause.op == "<") return by < 0 && !(same_release && v->early() && !w->early());
  return by > 0 && !(same_release && v->post >= 0 && w->post < 0);
}

// "~=2.4.1": at least that, and the same but for the last number.
bool meets_compatible(std::string_view text, const std::optional<Version>& v,
                      std::string_view wanted) {
  auto w = read_version(wanted);
  if (!v || !w || w->numbers < 2 || compare(text, v, wanted, w, false) < 0) return false;
  --w->numbers;
  return begins_with(*v, *w);
}

std::size_t name_end(std::string_view text) {
  return std::min(text.find_first_of("<>=!~["), text.size());
}

// The clauses of a demand: all that follows its name and its extras.
std::string_view clauses_of(std::string_view demand) {
  auto rest = demand.substr(name_end(demand));
  if (rest.starts_with('[')) rest.remove_prefix(std::min(rest.find(']'), rest.size() - 1) + 1);
  return rest;
}

}  // namespace

std::string_view package_name(std::string_view text) { return text.substr(0, name_end(text)); }

std::string_view package_version(std::string_view listed) {
  const auto at = listed.find("==");
  return at == std::string_view::npos ? std::string_view() : listed.substr(at + 2);
}

std::string normal_name(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_mark(name[i]))
      out.push_back(lower(name[i]));
    else if (i == 0 || !is_mark(name[i - 1]))
      out.push_back('-');
  }
  return out;
}

// Without a copy: it is asked for each package of each machine.
bool same_package(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const bool mark = is_mark(a[i]);
    if (mark != is_mark(b[j])) return false;
    if (!mark && lower(a[i]) != lower(b[j])) return false;
    ++i, ++j;
    while (mark && i < a.size() && is_mark(a[i])) ++i;
    while (mark && j < b.size() && is_mark(b[j])) ++j;
  }
  return i == a.size() && j == b.size();
}

int compare_versions(std::string_view a, std::string_view b) {
  return compare(a, read_version(a), b, read_version(b), true);
}

bool version_meets(std::string_view version, std::string_view demand) {
  auto rest = clauses_of(demand);
  if (rest.empty()) return true;
  if (version.empty()) return false;
  const auto v = read_version(version);
  while (!rest.empty()) {
    const auto clause = next_clause(rest);
    if (!clause) return false;
    const auto& [op, wanted] = *clause;
    const bool met = op == "==="  ? version == wanted
                     : op == "==" ? meets_equal(version, v, wanted)
                     : op == "!=" ? !meets_equal(version, v, wanted)
                     : op == "~=" ? meets_compatible(version, v, wanted)
                                  : meets_order(version, v, *clause);
    if (!met) return false;
  }
  return true;
}

bool has_feature(std::span<const std::string> listed, std::string_view demand) {
  return std::ranges::any_of(listed, [&](std::string_view p) {
    return p == demand || (is_feature(p) && p.ends_with('/') && demand.starts_with(p));
  });
}

std::string in_words(std::span<const std::string> demands) {
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"@torch", "the built-in trainer"},      {"@internet", "the internet"},
      {"@containers", "container images"},     {"@ports", "a way to a program's port"},
      {"@gangs", "a network between workers"}, {"@no-sandbox", "programs without a sandbox"}};
  std::vector<std::string> out, packages;
  for (const auto& demand : demands) {
    const auto it =
        std::ranges::find(known, demand, &std::pair<std::string_view, std::string_view>::first);
    if (it != std::end(known))
      out.push_back(fmt::format("{} ({})", it->second, demand));
    else
      (is_feature(demand) ? out : packages).push_back(demand);
  }
  if (!packages.empty()) out.push_back("packages " + join(packages, ", "));
  return join(out, ", ");
}

bool has_package(std::span<const std::string> installed, std::string_view demand) {
  const auto name = package_name(demand);
  return std::ranges::any_of(installed, [&](std::string_view p) {
    return p == demand ||
           (same_package(package_name(p), name) && version_meets(package_version(p), demand));
  });
}

bool has_packages(std::span<const std::string> installed, std::span<const std::string> demands) {
  return std::ranges::all_of(demands, [&](const std::string& demand) {
    return is_feature(demand) || has_package(installed, demand);
  });
}

Result<> check_demand(std::string_view demand, std::string_view field) {
  const auto bad = [&](std::string_view why) {
    return fail(
        Code::invalid,
        fmt::format("'{}' {}", demand.substr(0, whole_characters(demand.substr(0, 80))), why),
        "use a name, or a name with versions in quotes: 'torch>=2.4,<3'", std::string(field));
  };
  if (is_feature(demand)) return {};
  if (package_name(demand).empty()) return bad("names no package");
  auto rest = clauses_of(demand);
  if (demand.contains('[') && !demand.contains(']')) return bad("has no ']'");
  while (!rest.empty())
    if (const auto clause = next_clause(rest);
        !clause || clause->version.find_first_of("<>=!~[],") != std::string_view::npos)
      return bad("is not a demand for versions");
  return {};
}

}  // namespace souk::base
