#pragma once

namespace souk::agent {

// What base/proof/gpu_challenge.h describes, as programs for an NVIDIA GPU, in the text that its
// driver compiles (PTX, for all GPUs since 2014). `ptxas -arch=sm_52` checks it.
extern const char* const kGpuKernels;

}  // namespace souk::agent
