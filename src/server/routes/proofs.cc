#include "server/routes/proofs.h"

#include <utility>

#include "market/commands.h"

namespace souk::server {
namespace {

// All that it claims, if nobody may use it yet; else what nobody uses.
ClaimedMachine claimed_by(const market::State& s, const market::Machine& m) {
  ClaimedMachine out{.machine = m.id,
                     .owner = m.owner,
                     .cores = m.spec.cores,
                     .memory_mib = m.spec.memory_mib,
                     .gpus = m.spec.gpus,
                     .gpu_memory_mib = m.spec.gpu_memory_mib,
                     .untrusted = !m.doubted.empty()};
  if (out.untrusted) return out;
  for (const auto id : s.index.leases_of[m.id.value]) {
    const auto& lease = s.leases.at(id);
    const auto& slot_class = s.slot_class(lease.slot_class);
    out.cores -= lease.slots * slot_class.cores;
    out.memory_mib -= lease.slots * slot_class.memory_mib;
    out.gpus -= lease.slots * slot_class.gpus;
  }
  return out;
}

void prepare(Context& c, const ClaimedMachine& claimed) {
  auto& server = c.server();
  auto plan = server.services.challenges.to_prepare(claimed, c.now());
  if (!plan) return;
  const bool queued = server.provers.post([&server, p = *std::move(plan)]() mutable {
    Challenges::compute(p);
    server.core.post([&server, p = std::move(p)](Core::Turn&) {
      server.services.challenges.prepared(p.machine, p.owner, p);
    });
  });
  if (!queued) server.services.challenges.prepared(claimed.machine, claimed.owner, std::nullopt);
}

}  // namespace

void doubt_claim(Context& c, base::MachineId machine) {
  if (!c.services().challenges.enabled()) return;
  (void)c.turn().execute(market::kSystem,
                         market::JudgeMachine{machine, "it has not met its first challenge yet",
                                              /*untested=*/true});
}

std::optional<wire::Challenge> next_challenge(Context& c, base::MachineId machine,
                                              const std::optional<wire::BusyReport>& busy) {
  auto& challenges = c.services().challenges;
  if (const auto verdict = challenges.unanswered(machine, c.now())) judge(c, machine, *verdict);
  const auto claimed = claimed_by(c.state(), c.state().machines.at(machine));
  auto& busy_machines = c.services().busy;
  if (claimed.untrusted) {
    busy_machines.set(machine, busy, c.now());
    if (busy_machines.was_busy(machine)) challenges.shorten_rest(machine);
  } else {
    busy_machines.forget(machine);
  }
  prepare(c, claimed);
  if (claimed.untrusted && busy && busy->put_off) return std::nullopt;
  return challenges.ask(claimed, c.now());
}

std::optional<wire::BusyCores> busy_cores(Context& c, base::MachineId machine) {
  const auto* m = c.state().machines.find(machine);
  if (m == nullptr || m->doubted.empty()) return std::nullopt;
  return c.services().busy.find(machine, c.now(), c.state().settings.silence);
}

void judge(Context& c, base::MachineId machine, const Challenges::Verdict& verdict) {
  const auto* m = c.state().machines.find(machine);
  if (m == nullptr || verdict.next || !verdict.again.empty()) return;
  const bool slow = !verdict.slow.empty();
  if (slow && !verdict.suspend && m->doubted.empty()) return;  // A busy moment.
  (void)c.turn().execute(
      market::kSystem,
      market::JudgeMachine{machine, slow ? verdict.slow : verdict.wrong, slow, verdict.lane});
}

}  // namespace souk::server
