#pragma once

#include <sched.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

// Which processors of the machine an agent lends, and which of them a lease has. Several agents on
// one machine keep out of each other's way.

namespace souk::agent {

// The processors that this process may run on: an owner, Slurm or a container may have chosen some.
std::vector<int> allowed_cores();

// "0-3,8".
std::string core_list(const std::vector<int>& cores);

// Processors that this agent has for itself among all agents of the machine, until it goes, or
// until the process ends however it ends (claims.h).
class CoreClaims {
 public:
  struct Held {
    int core = 0;
    std::string by;  // "process 4711 of user 1000".
  };

  // Those of the allowed cores that no other agent has, `most` of them. Exhausted, with who has the
  // others, when there are less than `least`.
  static base::Result<CoreClaims> take(int least, int most, const std::vector<int>& allowed,
                                       const std::string& scope);
  // Which of the cores other agents have.
  static std::vector<Held> held(const std::vector<int>& cores, const std::string& scope);

  [[nodiscard]] const std::vector<int>& cores() const { return cores_; }

 private:
  std::vector<int> cores_;
  std::vector<base::Fd> sockets_;
};

// For `souk doctor`: which cores this process may use, and which of them other agents lend.
std::string cores_text();

// Keeps this process and all that it starts to these cores.
base::Result<> stay_on(const std::vector<int>& cores);

// The cores of this process, divided among its leases: each gets those that fewest others have.
// Thread-safe; outlives its grants.
class CoreDesk {
 public:
  class Grant {
   public:
    Grant() = default;
    Grant(Grant&& other) noexcept
        : desk_(std::exchange(other.desk_, nullptr)), cores_(std::move(other.cores_)) {}
    Grant& operator=(Grant&& other) noexcept {
      std::swap(desk_, other.desk_);
      std::swap(cores_, other.cores_);
      return *this;
    }
    ~Grant();
    [[nodiscard]] const std::vector<int>& cores() const { return cores_; }
    [[nodiscard]] cpu_set_t set() const;

   private:
    friend class CoreDesk;
    CoreDesk* desk_ = nullptr;
    std::vector<int> cores_;
  };

  static CoreDesk& of_machine();
  // At least one, at most all of `allowed`.
  Grant take(int count, const std::vector<int>& allowed = allowed_cores());

 private:
  std::mutex mutex_;
  std::vector<std::pair<int, int>> leases_on_;  // Core, leases.
};

}  // namespace souk::agent
