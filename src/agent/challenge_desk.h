#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "agent/gpu/board.h"
#include "agent/probe/gpus.h"
#include "base/proof/challenge.h"
#include "base/result.h"
#include "wire/api/heartbeat.h"

namespace souk::agent {

// Answers the questions of one challenge. Memory that one of them filled is held until the next, or
// the end, and so are GPUs: a lease that wants them waits for it. For one thread; starts as many as
// the question needs.
class ChallengeDesk {
 public:
  // Both outlive it.
  ChallengeDesk(Gpus& gpus, GpuBoard& board) : gpus_(gpus), board_(board) {}

  // What cannot be done is told as the answer's trouble.
  wire::ChallengeAnswer answer(const wire::Challenge& challenge);

 private:
  base::Result<wire::ChallengeAnswer> try_to_answer(const wire::Challenge& challenge);
  base::Result<std::vector<std::string>> answer_about_gpus(const wire::Challenge& challenge,
                                                           const std::vector<std::uint64_t>& seeds);
  base::Result<> open(const wire::Challenge& challenge);
  base::Result<std::vector<std::string>> products(const wire::Challenge& challenge,
                                                  const std::vector<std::uint64_t>& seeds);
  base::Result<std::vector<std::string>> rows(const wire::Challenge& challenge);

  Gpus& gpus_;
  GpuBoard& board_;
  std::optional<base::PatternMemory> memory_;
  Gpus::Grant borrowed_;
  struct OpenGpu {
    std::unique_ptr<GpuDevice> device;
    std::vector<std::uint64_t> row_hashes;  // Of its latest product.
  };
  std::vector<OpenGpu> open_;  // The slowest first, so that one of them is no quicker than all.
};

}  // namespace souk::agent
