#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "agent/fetch/web.h"
#include "agent/image/images.h"
#include "agent/probe/environments.h"
#include "agent/sandbox/sandbox.h"
#include "agent/trees.h"
#include "base/result.h"
#include "wire/api/batch.h"

namespace souk::agent {

// Environments of jobs that this machine builds itself, where its owner allows it: the agent
// fetches the wheels by address and SHA-256 from the hosts that the owner names, and a program in a
// sandbox without network unpacks them and hands the files back as a tar, which is believed in
// nothing (image/layers.h). No code of the packages runs. Kept in the trees by the hashes of the
// wheels, for all leases: what a job claims to be its lock decides nothing. Thread-safe.
class EnvironmentBuilder {
 public:
  // `sandbox` and `trees` outlive it.
  EnvironmentBuilder(std::vector<WebHost> indexes, const Sandbox& sandbox, Trees& trees)
      : indexes_(std::move(indexes)), sandbox_(sandbox), trees_(trees) {}

  // The folder with the packages is the tree's, below "/site".
  //   forbidden    a wheel is elsewhere
  //   invalid, damaged, too_large   the wheels are not to be used
  //   unavailable  not now
  base::Result<Trees::Use> use(const wire::BatchEnvironment& environment,
                               std::span<const LentEnvironment> lent,
                               std::span<const std::string> demands, const Images::Watch& watch);

 private:
  base::Result<> fetch(const wire::BatchEnvironment& environment, const std::string& folder,
                       const Reserve& reserve, const Images::Watch& watch) const;
  base::Result<> unpack(Program program, const std::string& wheels, const std::string& site,
                        const Reserve& reserve, const Images::Watch& watch) const;

  const std::vector<WebHost> indexes_;
  const Sandbox& sandbox_;
  Trees& trees_;
};

}  // namespace souk::agent
