#include <sys/socket.h>

#include "agent/runner_place.h"
#include "job/service/service.h"
#include "job/train/training_work.h"

// What a runner does for programs that are led by a coach.

namespace souk::agent {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr auto kTrainerPlace = "/work/.souk-torch";  // In a sandbox.
constexpr auto kNoTrainer = "this machine has no native trainer (souk-torch)";

}  // namespace

// A trainer talks over its standard input and output. The native one is this machine's own.
Result<> Runner::add_trainer(Place& place) {
  auto& program = place.program;
  const auto& task = *lease_.task;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(Code::exhausted, "cannot make a socket for the trainer");
  for (int i = 0; i < 2; ++i) place.talk[i] = base::Fd(ends[i]);
  program.talk_fd = ends[1];
  program.env.try_emplace("OMP_NUM_THREADS", std::to_string(task.cores));
  program.env.try_emplace("OMP_WAIT_POLICY", "PASSIVE");  // Or waiting threads burn lent cores.
  if (!job::has_native_trainer(task.batch)) return {};
  if (shop_.torch.path.empty()) return not_lent(place, kNoTrainer);
  const bool in_place = shop_.sandbox == "none";
  program.argv = shop_.torch.command(in_place ? shop_.torch.path : kTrainerPlace);
  if (!in_place) program.inputs.push_back({shop_.torch.path, kTrainerPlace});
  return {};
}

// A service may run this machine's own trainer, to use what it made elsewhere.
Result<> Runner::lend_trainer(Place& place) {
  auto& program = place.program;
  if (!job::wants_trainer(lease_.task->batch)) return {};
  if (shop_.torch.path.empty()) return not_lent(place, kNoTrainer);
  program.env[job::kTrainerVariable] = shop_.torch.program(kTrainerPlace);
  program.inputs.push_back({shop_.torch.path, kTrainerPlace});
  return {};
}

void Runner::start_coach(Place& place) {
  place.talk[1].reset();
  place.coach = std::make_unique<Coach>(
      CoachOptions{.lease = lease_,
                   .link = shop_.link,
                   .store = shop_.store.get(),
                   .folder = place.process->scratch(),
                   .shard_bytes = scratch_bytes() / 2,
                   .grace = shop_.grace,
                   .doing = [this](std::string text) { doing(std::move(text)); },
                   .say = [log = place.log.get()](std::string_view line) { log->say(line); },
                   .moved =
                       [this](std::int64_t received, std::int64_t sent) {
                         const std::lock_guard lock(mutex_);
                         received_ += received;
                         sent_ += sent;
                       }},
      std::move(place.talk[0]));
}

}  // namespace souk::agent
