#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/kinds.h"

// kind: service. A program that listens at a port; the market passes requests on to it, whichever
// machines it runs on (docs/services.md).

namespace souk::job {

inline constexpr std::string_view kServiceExample = R"(kind: service
name: hello
run: python3 -m http.server 8000
workdir: .
service: {port: 8000, health: /}
workers: 1..3
price: {budget: 2}
)";

[[nodiscard]] std::span<const std::string_view> service_keys();
[[nodiscard]] base::Result<> read_service(const boost::json::object& file, const PathRules& rules,
                                          JobFile& out);
[[nodiscard]] Intent describe_service(const JobFile& file);
[[nodiscard]] base::Result<> check_service(const wire::NewJob& job);

// Of every kind that has a way to its program.
[[nodiscard]] std::vector<std::string_view> port_demands(const wire::Batch& work);

// A service may run the native trainer of its machine, to use what it made elsewhere: it finds it
// where this variable says when it begins with this value.
inline constexpr const char* kTrainerVariable = "SOUK_TORCH";
inline constexpr std::string_view kOfTheLender = "lender";
[[nodiscard]] bool wants_trainer(const wire::Batch& service);
[[nodiscard]] std::vector<std::string_view> service_demands(const wire::Batch& work);

// Letters, digits, '-' and '_': what follows /v1/services/.
[[nodiscard]] bool is_service_name(std::string_view name);
[[nodiscard]] base::Result<> check_port(std::int32_t port, std::string field);

}  // namespace souk::job
