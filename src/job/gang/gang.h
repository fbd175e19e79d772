#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/kinds.h"

// kind: gang. All workers run one program at the same time, in a network of their own, where they
// are called worker-0, worker-1...; each is told its rank and where to meet (docs/gangs.md).

namespace souk::job {

inline constexpr std::string_view kGangExample = R"(kind: gang
run: torchrun --nnodes $WORLD_SIZE --node-rank $RANK --master-addr $MASTER_ADDR train.py
workdir: .
workers: 4
price: {budget: 2}
)";

[[nodiscard]] std::span<const std::string_view> gang_keys();
[[nodiscard]] base::Result<> read_gang(const boost::json::object& file, const PathRules& rules,
                                       JobFile& out);
[[nodiscard]] Intent describe_gang(const JobFile& file);
[[nodiscard]] base::Result<> check_gang(const wire::NewJob& job);
[[nodiscard]] std::vector<std::string_view> gang_demands(const wire::Batch& work);

}  // namespace souk::job
