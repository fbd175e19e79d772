#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace souk::job {

// What a machine offers beside its programs, spelled like packages so that matching, `why` and the
// cheapest relaxation treat it like any other demand.
inline constexpr std::string_view kInternet = "@internet";
inline constexpr std::string_view kContainers = "@containers";
inline constexpr std::string_view kTorch = "@torch";  // The native trainer.
inline constexpr std::string_view kUnsandboxed = "@no-sandbox";
inline constexpr std::string_view kGangs = "@gangs";  // A network for the workers of one job.
inline constexpr std::string_view kPorts = "@ports";  // A way to a program's port, or a terminal.
// Words that a size or a model follows.
inline constexpr std::string_view kScratch = "@scratch";       // Of one worker.
inline constexpr std::string_view kGpuMemory = "@gpu-memory";  // Of each GPU.
inline constexpr std::string_view kGpuModel = "@gpu";
inline constexpr std::string_view kImage = "@image";  // A registry of images (job/image.h).
inline constexpr std::string_view kIndex = "@index";  // A host that packages are fetched from.
inline constexpr std::string_view kFetch = "@fetch";  // One that inputs are fetched from.

// A machine that has `mib` says so in words, one for each step up to it; a job demands the step at
// or above what it asks for. Steps are at most a quarter apart, from 1 GiB to 16 TiB.
[[nodiscard]] std::vector<std::string> size_offered(std::string_view what, std::int64_t mib);
[[nodiscard]] std::string size_demanded(std::string_view what, std::int64_t mib);

// "NVIDIA A100-SXM4-80GB" -> @gpu:a100, @gpu:sxm4, @gpu:80gb. Offered by the machine; a job demands
// those of the words that it names.
[[nodiscard]] std::vector<std::string> model_words(std::string_view model);

// "@x86_64": what packages with machine code need.
[[nodiscard]] inline std::string architecture(std::string_view arch) {
  return "@" + std::string(arch);
}

}  // namespace souk::job
