#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string_view>

#include "base/result.h"
#include "job/kinds.h"

// kind: session. A terminal on a leased machine, or a program behind a port such as a notebook, for
// the job's owner alone. It ends when nobody has used it for a while (docs/services.md).

namespace souk::job {

inline constexpr std::string_view kSessionExample = R"(kind: session
workdir: .
volumes: [work]
idle: 30m
price: {budget: 2}
)";

[[nodiscard]] std::span<const std::string_view> session_keys();
[[nodiscard]] base::Result<> read_session(const boost::json::object& file, const PathRules& rules,
                                          JobFile& out);
[[nodiscard]] Intent describe_session(const JobFile& file);
[[nodiscard]] base::Result<> check_session(const wire::NewJob& job);

}  // namespace souk::job
