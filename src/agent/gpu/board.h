#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/proof/gpu_challenge.h"
#include "base/result.h"

namespace souk::agent {

// One GPU that answers the questions of base/proof/gpu_challenge.h. What it holds, its memory above
// all, is given back when it goes. Used by one thread at a time, not always the same.
class GpuDevice {
 public:
  virtual ~GpuDevice() = default;
  // The hash of each row of the product, which is kept for row() until the next.
  virtual base::Result<std::vector<std::uint64_t>> product(const base::GpuProduct& product) = 0;
  // Of the latest product.
  virtual base::Result<std::vector<std::uint32_t>> row(std::int32_t index) = 0;
  // Exhausted: there is not so much to be had without taking it from other programs.
  virtual base::Result<> fill(std::uint64_t seed, std::int64_t mib) = 0;
  // The sum of each group of reads, of what was filled; kGpuGroups of them.
  virtual base::Result<std::vector<std::uint64_t>> read(std::uint64_t seed, std::int64_t reads) = 0;
};

// The GPUs of a machine, in the order of their PCI addresses, as nvidia-smi and Gpus count them.
class GpuBoard {
 public:
  virtual ~GpuBoard() = default;
  virtual base::Result<std::unique_ptr<GpuDevice>> open(int index) = 0;
};

// Of NVIDIA's driver, which is loaded when the first GPU is opened: it is no part of this program.
std::unique_ptr<GpuBoard> cuda_board();

}  // namespace souk::agent
