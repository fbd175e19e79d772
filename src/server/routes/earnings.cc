#include "server/advice/earnings.h"

#include <algorithm>
#include <tuple>

#include "server/http/router.h"

// What lending is worth, for those who have no account yet too.

namespace souk::server {
namespace {

// The machine of the query; what it does not say is enough for one slot of any class.
struct AskedMachine {
  std::int64_t cores = 0, memory_mib = 0, gpus = 0, gpu_memory_mib = 0;
  bool any = false;

  [[nodiscard]] std::int32_t slots_of(const market::SlotClass& k) const {
    if (any) return 1;
    if (k.gpu_memory_mib > gpu_memory_mib) return 0;
    auto out = std::min(cores / k.cores, memory_mib / k.memory_mib);
    if (k.gpus > 0) out = std::min(out, gpus / k.gpus);
    return static_cast<std::int32_t>(out);
  }
};

Result<AskedMachine> asked_machine(const Context& c) {
  AskedMachine out;
  SOUK_ASSIGN(out.cores, c.number("cores", 0, 0, 4096));
  SOUK_ASSIGN(out.memory_mib, c.number("memory_mib", 0, 0, 1 << 26));
  SOUK_ASSIGN(out.gpus, c.number("gpus", 0, 0, 1024));
  SOUK_ASSIGN(out.gpu_memory_mib, c.number("gpu_memory_mib", 0, 0, 1 << 26));
  out.any = out.cores == 0 && out.memory_mib == 0 && out.gpus == 0 && out.gpu_memory_mib == 0;
  return out;
}

Result<wire::Earnings> earnings(Context& c) {
  SOUK_ASSIGN(const auto machine, asked_machine(c));
  wire::Earnings out;
  for (const auto& k : c.state().classes)
    if (const auto slots = machine.slots_of(k); slots > 0 && !k.retired)
      out.items.push_back(expected_earnings(c.state(), k, slots, c.now()));
  std::ranges::sort(out.items, {}, [](const wire::ClassEarnings& e) {
    return std::tuple(e.week ? -e.week->expected : base::Credits(), e.cores, e.class_);
  });
  return out;
}

}  // namespace

void add_earnings_routes(Routes& routes) {
  auto& route = routes.get(
      "/v1/earnings", "getEarnings",
      "What a machine would earn in a week, by class, from what was wanted and paid of late",
      Access::everybody, &earnings);
  route.doc.query = {
      {"cores",
       "integer",
       "Of the machine; without any of these, one slot each.",
       false,
       {},
       0,
       4096},
      {"memory_mib", "integer", "Its memory.", false, {}, 0, 1 << 26},
      {"gpus", "integer", "Its GPUs.", false, {}, 0, 1024},
      {"gpu_memory_mib", "integer", "The memory of each GPU.", false, {}, 0, 1 << 26}};
}

}  // namespace souk::server
