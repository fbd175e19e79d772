#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/check.h"

// A fuzz target feeds bytes to a parser as a stranger would, and CHECKs what must hold of whatever
// comes out. One file each; `SOUK_FUZZ` names it. libfuzzer.cc runs one target under libFuzzer,
// replay.cc runs the corpus of all of them in `make test`.

namespace souk::fuzz {

// What an input may be, and what it may cost: a single allocation above `malloc_mb` is a finding.
struct Bounds {
  std::size_t input_bytes = 4096;
  int malloc_mb = 4;
};

struct Target {
  std::string_view name;
  void (*run)(std::string_view input);
  Bounds bounds;
};

// Those linked into this program.
inline std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

struct Registration {
  explicit Registration(const Target& target) { targets().push_back(target); }
};

// Takes a line from the front of `text`, without its end.
inline std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// Takes a byte from the front of `bytes`; 0 at their end.
inline unsigned char take_byte(std::string_view& bytes) {
  if (bytes.empty()) return 0;
  const auto out = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  return out;
}

}  // namespace souk::fuzz

// SOUK_FUZZ(name, .input_bytes = ..., .malloc_mb = ...) { ... uses `input` ... }
#define SOUK_FUZZ(name, ...)                                                         \
  static void fuzz_##name(std::string_view input);                                   \
  static const ::souk::fuzz::Registration registered_##name{                         \
      ::souk::fuzz::Target{#name, &fuzz_##name, ::souk::fuzz::Bounds{__VA_ARGS__}}}; \
  static void fuzz_##name(std::string_view input)
