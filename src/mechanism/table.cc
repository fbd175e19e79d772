#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "mechanism/k_double.h"
#include "mechanism/mechanism.h"
#include "mechanism/posted.h"

namespace souk::mechanism {
namespace {

// The one list of mechanisms. To add one: a file, its test, its include above and its row here.
constexpr std::array kTable{
    Entry{"posted",
          "Everyone who accepts the suggested price trades at it, first come first served.",
          "IR; IC in prices; strong budget balance; not efficient; Sybil-proof within a round",
          make_posted},
    Entry{"k-double",
          "Highest bids meet lowest asks in one call, all at one price between the marginal two.",
          "IR; strong budget balance; efficient if truthful and without gangs; not IC; not "
          "Sybil-proof",
          make_k_double},
};

}  // namespace

std::span<const Entry> all() { return kTable; }

base::Result<std::unique_ptr<Mechanism>> make(std::string_view name, const Params& params) {
  std::vector<std::string_view> names;
  for (const auto& entry : kTable) {
    if (entry.name == name) return entry.make(params);
    names.push_back(entry.name);
  }
  return base::fail(base::Code::invalid, fmt::format("there is no mechanism '{}'", name),
                    base::suggest(name, names), "mechanism");
}

}  // namespace souk::mechanism
