#include "job/session/session.h"

#include <fmt/format.h>

#include "job/file_keys.h"
#include "job/program.h"
#include "job/service/service.h"

namespace souk::job {
namespace {

using base::Code;
using base::fail;

constexpr auto kShortestIdle = base::seconds(1);
constexpr auto kLongestIdle = base::days(7);

// What runs in a terminal unless the job says otherwise.
constexpr std::string_view kShell = "exec bash -i || exec sh -i";

struct SessionKeys {
  std::optional<base::Duration> idle;
  std::optional<std::int32_t> port;
  SOUK_FIELDS(SessionKeys, idle, port)
};

}  // namespace

std::span<const std::string_view> session_keys() {
  static const auto keys = [] {
    std::vector<std::string_view> out(wire::field_names<ProgramKeys>.begin(),
                                      wire::field_names<ProgramKeys>.end());
    out.insert(out.end(), wire::field_names<SessionKeys>.begin(),
               wire::field_names<SessionKeys>.end());
    return out;
  }();
  return keys;
}

base::Result<> read_session(const boost::json::object& file, const PathRules& rules, JobFile& out) {
  SOUK_ASSIGN(auto program, read_keys<ProgramKeys>(file));
  SOUK_ASSIGN(const auto keys, read_keys<SessionKeys>(file));
  if (keys.port && !program.run)
    return std::unexpected(at({Code::invalid, "nothing listens there",
                               "add run: with the program, such as jupyter lab --port 8888"},
                              "port"));
  SOUK_TRY(read_program(std::move(program), rules, out));
  auto& work = *out.job.batch;
  if (work.run.empty()) work.run = kShell;
  work.session = wire::BatchSession{.idle = keys.idle.value_or(wire::BatchSession{}.idle),
                                    .port = keys.port.value_or(0)};
  return {};
}

Intent describe_session(const JobFile& file) {
  const auto& work = *file.job.batch;
  if (work.session->port == 0) return {"opens", "a terminal"};
  return {"opens", fmt::format("{} at port {}", work.run.substr(0, 80), work.session->port)};
}

base::Result<> check_session(const wire::NewJob& job) {
  if (!job.batch || !job.batch->session)
    return fail(Code::invalid, "a session without work", "give batch, with batch.session", "batch");
  const auto& work = *job.batch;
  const auto& session = *work.session;
  if (work.replicate.value_or(1) != 1)
    return fail(Code::invalid, "a session with replicate", "drop it", "batch.replicate");
  if (job.workers.max != 1)
    return fail(Code::invalid, fmt::format("a session with {} workers", job.workers.max),
                "a session is on one machine: drop workers", "workers");
  if (session.port != 0) SOUK_TRY(check_port(session.port, "batch.session.port"));
  if (session.idle < kShortestIdle || session.idle > kLongestIdle)
    return fail(Code::invalid, fmt::format("a session that ends after {}", to_string(session.idle)),
                "use 1s to 7d", "batch.session.idle");
  SOUK_TRY(check_own_network(work));
  return check_program(work);
}

}  // namespace souk::job
