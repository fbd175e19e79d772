#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string_view>

#include "base/result.h"
#include "job/kinds.h"

// kind: batch. Each worker runs one program once (program.h), and is paid for its time. A job of
// this kind may also have no work: then whoever holds the leases decides what runs.

namespace souk::job {

inline constexpr std::string_view kBatchExample = R"(run: sort names.txt > sorted.txt
workdir: .
outputs: [sorted.txt]
price: {budget: 1}
)";

[[nodiscard]] std::span<const std::string_view> batch_keys();
[[nodiscard]] base::Result<> read_batch(const boost::json::object& file, const PathRules& rules,
                                        JobFile& out);
[[nodiscard]] Intent describe_batch(const JobFile& file);
[[nodiscard]] base::Result<> check_batch(const wire::NewJob& job);

}  // namespace souk::job
