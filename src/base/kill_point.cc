#include "base/kill_point.h"

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>

namespace souk::base {
namespace {

struct Chosen {
  std::string_view name;  // Empty: none.
  std::atomic<int> passes_left = 0;

  Chosen() {
    const char* text = std::getenv("SOUK_KILL_AT");
    if (text == nullptr) return;
    const std::string_view whole(text);
    const auto colon = whole.find(':');
    int passes = 1;
    if (colon != std::string_view::npos)
      std::from_chars(whole.data() + colon + 1, whole.data() + whole.size(), passes);
    passes_left = passes;
    name = whole.substr(0, colon);
  }
};

}  // namespace

void kill_point(std::string_view name) {
  static Chosen chosen;
  if (chosen.name.empty() || chosen.name != name) return;
  if (--chosen.passes_left == 0) std::raise(SIGKILL);
}

}  // namespace souk::base
