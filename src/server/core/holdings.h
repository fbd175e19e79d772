#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "market/commands.h"
#include "market/state.h"
#include "server/core/parsed_works.h"

namespace souk::server {

// Which files each machine says it holds, so that jobs that need them go there first. A hint: a
// machine that lies only fetches more. Bounded by kMost names for each machine. Core thread only.
class Holdings {
 public:
  static constexpr std::size_t kMost = 256;

  void set(base::MachineId machine, const std::vector<std::string>& blobs) {
    held_[machine] = {blobs.begin(), blobs.end()};
  }
  // Of the jobs of this class that want workers: the machines that hold some of their files.
  [[nodiscard]] std::vector<market::Near> near(const market::State& s, market::ClassId c,
                                               ParsedWorks& works);

 private:
  const std::vector<std::string>& needs(const market::Job& job, ParsedWorks& works);

  std::map<base::MachineId, std::set<std::string>> held_;
  std::map<base::JobId, std::vector<std::string>> needs_;  // Of jobs seen in rounds.
};

}  // namespace souk::server
