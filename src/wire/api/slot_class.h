#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/credits.h"
#include "base/fields.h"
#include "base/time.h"
#include "wire/api/answer.h"
#include "wire/schema.h"

// Slot classes: the commodities of the market.

namespace souk::wire {

using base::Credits;
using base::Duration;

// Two mechanisms take turns, a slice of time each.
struct Trial {
  std::string mechanism;
  std::map<std::string, std::string> params;
  Duration slice = base::hours(1);
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"params", "slice"};
  SOUK_FIELDS(Trial, mechanism, params, slice)
};

struct SlotClass {
  std::string name;
  std::int32_t cores = 1;
  std::int64_t memory_mib = 0;
  std::int32_t gpus = 0;
  std::int64_t gpu_memory_mib = 0;
  Credits price;      // Suggested before there is any history.
  Credits suggested;  // Suggested now.
  std::string mechanism;
  std::map<std::string, std::string> params;
  bool retired = false;
  std::int64_t leased = 0;  // Slots in use now,
  std::int64_t wanted = 0;  // and wanted by jobs.
  std::optional<Trial> trial;
  std::string in_force;      // The mechanism of this moment.
  std::int64_t offered = 0;  // Slots of machines that lend now, leased or free.
  SOUK_FIELDS(SlotClass, name, cores, memory_mib, gpus, gpu_memory_mib, price, suggested, mechanism,
              params, retired, leased, wanted, trial, in_force, offered)
};

struct SlotClassEdit {
  std::int32_t cores = 1;
  std::int64_t memory_mib = 0;
  std::int32_t gpus = 0;
  std::int64_t gpu_memory_mib = 0;
  Credits price;
  std::string mechanism = "vickrey";  // As market::kDefaultMechanism.
  std::map<std::string, std::string> params;
  bool retired = false;
  std::optional<Trial> trial;
  static constexpr auto optional_fields =
      std::array<std::string_view, 3>{"gpus", "gpu_memory_mib", "mechanism"};
  SOUK_FIELDS(SlotClassEdit, cores, memory_mib, gpus, gpu_memory_mib, price, mechanism, params,
              retired, trial)
};

SOUK_JSON_ELSEWHERE(SlotClass);
SOUK_JSON_ELSEWHERE(SlotClassEdit);
SOUK_JSON_ELSEWHERE(Page<SlotClass>);

}  // namespace souk::wire
