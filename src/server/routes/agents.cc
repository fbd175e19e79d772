#include <fmt/format.h>

#include "base/hash.h"
#include "job/work.h"
#include "server/http/router.h"
#include "server/routes/long_poll.h"
#include "server/routes/lookups.h"
#include "server/routes/proofs.h"
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

wire::OpenLeases open_leases(const market::State& s, base::MachineId machine) {
  wire::OpenLeases out;
  for (const auto lease : s.index.leases_of[machine.value])
    out.leases.push_back(view(s, s.leases.at(lease)));
  out.version = version_of(out.leases);
  return out;
}

// Of the descriptions of work in one answer. A job's may have 64 KiB, and each lease has a copy.
constexpr std::size_t kMostTaskBytes = 4 << 20;

// Adds what the machine is to do to the leases that it has not begun. Gives the bytes of that.
std::size_t add_tasks(const market::State& s, ParsedWorks& works, wire::OpenLeases& out) {
  std::size_t bytes = 0;
  for (auto& lease : out.leases) {
    const auto& l = s.leases.at(lease.id);
    const auto& job = s.jobs.at(l.job);
    if (l.state != market::LeaseState::granted || job.work.empty()) continue;
    if (bytes > 0 && bytes + job.work.size() > kMostTaskBytes) {
      out.later.push_back(lease.id);
      continue;
    }
    const auto batch = works.of(job);
    if (batch == nullptr) continue;
    lease.task = job::task_of(s, l, *batch);
    bytes += job.work.size();
  }
  return bytes;
}

// Sends it when what it tells of is durable. Much of it is written by a thread that nobody else's
// market waits for.
Continuation send_work(ServerContext& server, base::AccountId account, wire::OpenLeases work,
                       std::size_t task_bytes) {
  constexpr std::size_t little = 64 << 10;
  if (task_bytes <= little)
    return
        [response = json_response(wire::to_json(work))](Core::Turn& turn, ApiCallPtr call) mutable {
          answer_after(turn, std::move(call), std::move(response));
        };
  return [&server, account, work = std::move(work)](Core::Turn& turn, ApiCallPtr call) mutable {
    turn.after([&server, account, call = std::move(call), work = std::move(work)]() mutable {
      to_pool(server.files, std::move(call),
              [&server, account, work = std::move(work)](ApiCallPtr own) {
                auto response = counted(server, account, json_response(wire::to_json(work)));
                own->reply.send(std::move(response));
              });
    });
  };
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
  if (c.actor.account == machine->owner) {
    c.turn().liveness().heard(machine->id, c.now());
    if (!machine->online) SOUK_TRY(c.execute(market::Heartbeat{.machine = machine->id}));
  }
  auto work = open_leases(c.state(), machine->id);
  const bool same = c.http().param("seen") && seen == work.version;
  if (same && wait > base::Duration())
    return await_change(c.server(), machine->id, c.server().clock.now() + wait);
  const auto bytes = add_tasks(c.state(), c.services().works, work);
  constexpr std::size_t bytes_per_request = 16 << 10;
  c.charge(bytes, bytes_per_request);
  return send_work(c.server(), c.actor.account, std::move(work), bytes);
}

// --- Challenges ----------------------------------------------------------------------------------

struct AnsweredChallenge {
  base::MachineId machine;
  wire::ChallengeAnswer answer;
  base::Time at;
};

Result<AnsweredChallenge> receive_answer(Context& c, wire::ChallengeAnswer body) {
  SOUK_ASSIGN(const auto* machine, machine_for(c, false));
  return AnsweredChallenge{machine->id, std::move(body), c.server().clock.now()};
}

// Nothing to do: what is right was computed before. Not a change of the market like others, as what
// is asked next is not worth a place in the journal.
Result<AnsweredChallenge> pass_on(PoolContext&, AnsweredChallenge answered) { return answered; }

Result<wire::ChallengeVerdict> judge_answer(Context& c, const AnsweredChallenge& answered) {
  auto verdict = c.services().challenges.take(answered.machine, answered.answer, answered.at);
  if (!verdict)
    return fail(Code::conflict, "nothing of that kind was asked", "answer each challenge once",
                "id");
  judge(c, answered.machine, *verdict);
  wire::ChallengeVerdict out{.good = verdict->passed || verdict->next.has_value(),
                             .next = std::move(verdict->next)};
  if (!out.good) out.reason = verdict->why_not();
  return out;
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
      &receive_answer, &pass_on, &judge_answer);
}

}  // namespace souk::server
