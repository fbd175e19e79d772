#pragma once

#include <string>
#include <vector>

#include "provider/programs.h"
#include "provider/provider.h"

namespace souk::provider {

struct SlurmSettings {
  std::string partition;  // Empty: the cluster's default.
  std::string account;
  std::string qos;
  std::int32_t cores = 1;
  std::int64_t memory_mib = 2048;  // Of the whole job.
  std::int32_t gpus = 0;
  Duration lifetime = base::hours(1);  // The job's time limit.
  Credits hourly;
  std::string souk;                // The program, at a path that the nodes have.
  std::string folder;              // For scripts and output, at a path that the nodes have.
  std::vector<std::string> extra;  // More flags of sbatch.
  // NAME=VALUE: all that Slurm's commands, and so the jobs, get of the environment.
  std::vector<std::string> environment;
  SOUK_FIELDS(SlurmSettings, partition, account, qos, cores, memory_mib, gpus, lifetime, hourly,
              souk, folder, extra, environment)
};

// One agent a job, by Slurm's commands alone: its C library changes with every release, its
// commands do not. docs/decisions/0059.
class Slurm final : public Provider {
 public:
  Slurm(SlurmSettings settings, MachineName pool, RunProgram run)
      : settings_(std::move(settings)), pool_(std::move(pool)), run_(std::move(run)) {}

  Result<std::vector<MachineKind>> kinds() override;
  Result<std::string> start(const StartRequest& request) override;
  Result<std::vector<ListedMachine>> list(const std::vector<std::string>& known) override;
  Result<> stop(const std::string& handle, bool hard) override;
  [[nodiscard]] Delays delays() const override { return {base::seconds(30), base::minutes(2)}; }

  // What the job runs. It holds the machine's token.
  [[nodiscard]] std::string script(const StartRequest& request) const;

 private:
  Result<ProgramOutput> run(const std::vector<std::string>& argv);
  [[nodiscard]] std::vector<std::string> sbatch(const StartRequest& request,
                                                const std::string& path) const;
  Result<> ask_accounting(const std::vector<std::string>& absent, std::vector<ListedMachine>& out);
  Result<bool> controller_knows(const std::string& handle);
  [[nodiscard]] std::string output_path(const std::string& intent) const;
  [[nodiscard]] std::string why_it_ended(const std::string& intent, std::string_view state) const;

  const SlurmSettings settings_;
  const MachineName pool_;
  const RunProgram run_;
};

// "RUNNING", "CANCELLED by 1000", "COMPLETED"... as squeue and sacct write them.
MachineState slurm_state(std::string_view word);

}  // namespace souk::provider
