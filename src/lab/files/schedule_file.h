#pragma once

#include <string>
#include <string_view>

#include "mechanism/schedule/schedule.h"

namespace souk::lab {

// An instance of a scheduling problem as a file has it:
//
//   {"throughputs":[[2,1,0.5],[3,2,1]],"capacity":[1,2,3],"scale":[1,1],"weights":[1,1],
//    "steps":[7200,3600],"done":[0,100],"elapsed":[0,60],"isolated":[0,30],"slo":[3600,0],"cost":[3,2,1],
//    "held":[-1,0]}
//
// One row of throughputs per job. All but throughputs and capacity may be left out; scale and
// weights are then 1. Checked: what comes back can be solved, as far as the policy has what it
// needs.
[[nodiscard]] base::Result<mechanism::ScheduleInstance> read_schedule_instance(
    std::string_view json);

// {"policy":...,"objective":1.548,"bound":...,"gap":...,"exact":true,"allocation":[[...]],
//  "prices":[...],"at_once":false,"speeds":[...],"meaning":"..."}
[[nodiscard]] std::string schedule_json(const mechanism::ScheduleEntry& policy,
                                        const mechanism::ScheduleInstance& instance,
                                        const mechanism::Schedule& schedule);

}  // namespace souk::lab
