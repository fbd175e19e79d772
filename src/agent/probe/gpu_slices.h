#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/probe/probe.h"

// NVIDIA's GPUs by the names that no restart changes, and the slices that some are cut into (MIG):
// each slice has memory and units of its own, so it is lent like a GPU.

namespace souk::agent {

// "  MIG 1g.10gb     Device  0: (UUID: MIG-...)" below a GPU in the output of `nvidia-smi -L`.
struct GpuSlice {
  std::string gpu;  // Its UUID.
  std::string profile;
  int index = 0;  // Among those of the GPU.
  std::string uuid;
};
std::vector<GpuSlice> parse_gpu_list(std::string_view text);

// What `nvidia-smi -q` tells of a slice: the numbers that its device nodes go by.
struct SliceDetails {
  std::string bus;  // Of the GPU: "00000000:07:00.0".
  int index = 0;
  int instance = -1;
  int compute = -1;
  std::int64_t memory_mib = 0;
};
std::vector<SliceDetails> parse_slice_details(std::string_view text);

// The number of a GPU's device node, which is not its place in the list where a container has only
// some of them; `otherwise` when the driver does not say. `root` is in front of /proc.
int device_number(const std::string& root, std::string_view bus, int otherwise);

// The slices of `gpus` in place of those that are cut up, each with its nodes. One whose nodes are
// not known is left out, with a remark: a program would need those of its neighbours.
std::vector<Gpu> with_slices(std::vector<Gpu> gpus, std::string_view list, std::string_view details,
                             const std::string& root, std::vector<Remark>& remarks);

}  // namespace souk::agent
