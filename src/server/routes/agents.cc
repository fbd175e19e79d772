#include <fmt/format.h>

#include <charconv>

#include "base/hash.h"
#include "job/work.h"
#include "server/http/router.h"
#include "server/routes/long_poll.h"
#include "server/routes/lookups.h"
#include "server/routes/views.h"

// What a machine's agent waits for, its leases, and what it proves: that it is what it claims.

namespace souk::server {
namespace {

using base::Code;
using base::fail;

// --- Work ----------------------------------------------------------------------------------------

// Changes whenever the machine's open leases do. Fits a JavaScript number.
std::uint64_t version_of(const std::vector<wire::Lease>& leases) {
  std::string text;
  for (const auto& l : leases)
    text += fmt::format("{} {} {} {};", to_string(l.id), l.epoch, to_string(l.state), l.until.us);
  return base::short_hash(text) >> 11;
}

wire::OpenLeases work_of(const market::State& s, ParsedWorks& works, base::MachineId machine) {
  wire::OpenLeases out;
  for (const auto lease : s.index.leases_of[machine.value])
    out.leases.push_back(view(s, s.leases.at(lease)));
  out.version = version_of(out.leases);
  for (auto& lease : out.leases) {
    const auto& l = s.leases.at(lease.id);
    if (const auto batch = works.of(s.jobs.at(l.job))) lease.task = job::task_of(s, l, *batch);
  }
  return out;
}

// Asks the same again when the machine's work has changed or the time is up, and does not wait
// then. The core thread sees the state and begins to wait in one step, so no change falls between.
Continuation await_change(ServerContext& server, base::MachineId machine, base::Time deadline) {
  return [&server, machine, deadline](Core::Turn&, ApiCallPtr call) {
    std::erase_if(call->http.query, [](const auto& q) { return q.first == "wait"; });
    server.feed.await_work(machine, deadline, [&server, call = std::move(call)]() mutable {
      const auto& route = *call->route;
      route.serve(server, std::move(call));
    });
  };
}

Result<Continuation> get_work(Context& c) {
  SOUK_ASSIGN(const auto* machine, machine_for(c, true));
  SOUK_ASSIGN(const auto seen, seen_of(c.http(), "seen"));
  SOUK_ASSIGN(const auto wait, wait_of(c.http(), base::Duration()));
  const auto work = work_of(c.state(), c.services().works, machine->id);
  const bool same = c.http().param("seen") && seen == work.version;
  if (same && wait > base::Duration())
    return await_change(c.server(), machine->id, c.server().clock.now() + wait);
  return
      [response = json_response(wire::to_json(work))](Core::Turn& turn, ApiCallPtr call) mutable {
        answer_after(turn, std::move(call), std::move(response));
      };
}

// --- Challenges ----------------------------------------------------------------------------------

struct AnsweredChallenge {
  base::MachineId machine;
  Challenges::OpenChallenge asked;
  base::Duration took;
  std::string checksum;
};

Result<AnsweredChallenge> answered_challenge(Context& c, wire::ChallengeAnswer body) {
  SOUK_ASSIGN(const auto* machine, machine_for(c, false));
  std::uint64_t seed = 0;
  std::from_chars(body.seed.data(), body.seed.data() + body.seed.size(), seed);
  const auto asked = c.services().challenges.take(machine->id, seed);
  if (!asked)
    return fail(Code::conflict, "nothing of that kind was asked", "answer each challenge once",
                "seed");
  return AnsweredChallenge{machine->id, *asked, c.server().clock.now() - asked->at,
                           std::move(body.checksum)};
}

struct JudgedMachine {
  base::MachineId machine;
  std::string failure;
};

Result<JudgedMachine> check_answer(PoolContext&, const AnsweredChallenge& answered) {
  const auto right = base::answer(answered.asked.challenge, 1);
  JudgedMachine out{answered.machine, {}};
  if (!right || right->checksum != answered.checksum)
    out.failure = "its answer to a challenge was wrong";
  else if (answered.took > Challenges::kTime + Challenges::kSlack)
    out.failure = fmt::format("a challenge took it {}", to_string(answered.took));
  return out;
}

Result<wire::Acknowledged> judge(Context& c, const JudgedMachine& judged) {
  // Refused only when the machine was removed meanwhile.
  (void)c.turn().execute(market::kSystem, market::JudgeMachine{judged.machine, judged.failure});
  return wire::Acknowledged{judged.failure.empty()};
}

}  // namespace

void add_agent_routes(Routes& routes) {
  auto& work = routes.waiting<wire::OpenLeases>("/v1/machines/{id}/work", "getWork",
                                                "The machine's open leases; waits for a change",
                                                Access::agent, &get_work);
  work.doc.query = {{"seen", "string", "The version seen last: wait while it is the same.", false},
                    {"wait", "string", "How long to wait at most: 30s.", false}};
  routes.on_files<wire::ChallengeAnswer>(
      "POST", "/v1/machines/{id}/challenge", "answerChallenge",
      "The result of a computation that a heartbeat's answer asked for", Access::agent,
      &answered_challenge, &check_answer, &judge);
}

}  // namespace souk::server
