#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "agent/probe/probe.h"
#include "base/fd.h"

namespace souk::agent {

// GPUs, or slices of them, that this agent has for itself among all agents of the machine, until it
// goes, or until the process ends however it ends (claims.h). A GPU is known by its UUID, or by its
// device node where the driver names none.
class GpuClaims {
 public:
  struct Held {
    std::size_t place = 0;  // Among the GPUs that were asked for.
    std::string by;         // "process 4711 of user 1000".
  };

  // The first `most` of these GPUs that no other agent has.
  static GpuClaims take(const std::vector<Gpu>& gpus, std::size_t most, const std::string& scope);
  // Which of the GPUs agents have.
  static std::vector<Held> held(const std::vector<Gpu>& gpus, const std::string& scope);

  [[nodiscard]] const std::vector<std::size_t>& places() const { return places_; }
  // Those that other agents had when it was looked for GPUs.
  [[nodiscard]] const std::vector<Held>& of_others() const { return of_others_; }

 private:
  std::vector<std::size_t> places_;
  std::vector<Held> of_others_;
  std::vector<base::Fd> sockets_;
};

// "GPU 0 (NVIDIA H200) by process 4711 of user 1000; GPU 1 ...".
std::string lent_by(const std::vector<Gpu>& gpus, const std::vector<GpuClaims::Held>& held);

}  // namespace souk::agent
