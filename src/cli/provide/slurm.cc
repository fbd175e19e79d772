#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/provide/provide.h"

// `souk provide slurm`.

namespace souk::cli {
namespace {

struct SlurmFlags {
  ProvideOptions pool;
  provider::SlurmSettings slurm;
  std::optional<base::Credits> cost;
  Memory memory{2 * 1024};
};

}  // namespace

Command provide_slurm_command() {
  auto o = std::make_shared<SlurmFlags>();
  Command out{.name = "slurm",
              .summary = "lend nodes of a Slurm cluster, one agent a job",
              .examples = {"provide slurm --partition idle --max 8 --price 0.3",
                           "provide slurm --partition gpu --cores 8 --memory 32G --gpus 1 --max 2",
                           "provide slurm --partition idle --max 8 --via http://login1:7071"}};
  out.options = {
      flag("--partition NAME", "where jobs are submitted; default: the cluster's",
           o->slurm.partition),
      flag("--cores N", "of one job; default 1", o->slurm.cores),
      flag("--memory SIZE", "of one job; default 2G. Two thirds of it are lent", o->memory),
      flag("--gpus N", "of one job, as --gres=gpu:N; default 0", o->slurm.gpus),
      flag("--account NAME", "whom Slurm charges", o->slurm.account),
      flag("--qos NAME", "of the jobs", o->slurm.qos),
      flag("--cost CREDITS", "what an hour of one job costs you; default 0", o->cost),
      flag("--sbatch FLAG", "another flag of sbatch, such as --constraint=avx512", o->slurm.extra),
      flag("--souk PATH", "the program, where the nodes have it; default: this one",
           o->slurm.souk)};
  for (auto& option : pool_flags(o->pool)) out.options.push_back(std::move(option));
  out.details =
      "Runs on a login node, in the foreground. Submits a job when the market's book has demand "
      "that "
      "pays the price and nobody fills, and lets it go when nobody uses it. Each job is one agent "
      "within its cores, memory and GPUs; before its time limit, and when it is preempted, it "
      "drains, and leases move on. docs/providers.md.";
  out.run = [o](Context& c) -> Result<> {
    auto& s = o->slurm;
    if (s.cores < 1 || s.gpus < 0 || o->memory.mib < 256)
      return usage("a job needs a core and 256M of memory", "see --cores and --memory");
    s.memory_mib = o->memory.mib;
    s.lifetime = o->pool.lifetime;
    s.hourly = o->cost.value_or(base::Credits());
    if (s.souk.empty()) {
      // Which program a node runs must not depend on whose process reads the path.
      std::error_code error;
      s.souk = std::filesystem::canonical(own_program(), error).string();
      if (error) return failed("cannot find this program's file", "say where souk is with --souk");
    }
    for (const auto* name : {"PATH", "HOME", "USER", "LOGNAME", "SLURM_CONF", "MUNGE_SOCKET"})
      if (const auto value = c.env()(name))
        s.environment.push_back(fmt::format("{}={}", name, *value));
    const provider::MachineKind kind{.where = s.partition,
                                     .cores = s.cores,
                                     .memory_mib = s.memory_mib,
                                     .gpus = s.gpus,
                                     .hourly = s.hourly};
    return provide(c, o->pool, {.settings = {.slurm = s}, .kinds = {kind}});
  };
  return out;
}

}  // namespace souk::cli
