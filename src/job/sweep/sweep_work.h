#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/sweep/search.h"
#include "wire/api/batch.h"
#include "wire/api/job.h"

// The work of a sweep: that of one of its trials, and which settings of it are tried. Pure.

namespace souk::job {

inline constexpr std::size_t kMostParameters = 16;
inline constexpr std::size_t kMostValues = 64;  // Of one parameter.

// Sets one setting of a trial of kind `of`, to a value that is JSON. Of a training: a key of its
// file that changes no files, `rule.NAME`, `options.NAME`, `model.NAME` or `env.NAME`. Of any other
// kind: a variable of its environment. Errors are of the field "parameters.NAME".
[[nodiscard]] base::Result<> set_parameter(wire::Batch& work, std::string_view of,
                                           const std::string& name, const std::string& json);

// Its parameters, numbers and words are within their bounds. Fields are named below "sweep".
[[nodiscard]] base::Result<> check_search(const wire::Sweep& sweep);
// Each value of each parameter can be set in this work.
[[nodiscard]] base::Result<> check_values(const wire::Batch& work, const wire::Sweep& sweep);

// What its trial of this number does. Requires work.sweep, checked.
[[nodiscard]] base::Result<wire::Batch> trial_work(const wire::Batch& work, std::int32_t number,
                                                   const Point& point);

// Of the table of kinds (kinds.h).
[[nodiscard]] base::Result<> check_sweep(const wire::NewJob& job);
[[nodiscard]] std::vector<std::string_view> sweep_demands(const wire::Batch& work);
[[nodiscard]] std::vector<std::string> sweep_blobs(const wire::Batch& work);

}  // namespace souk::job
