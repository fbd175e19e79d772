#include "cli/lend/lend_hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "agent/limits/cgroup.h"
#include "agent/limits/disk_scratch.h"
#include "agent/probe/probe_programs.h"
#include "cli/shell/human.h"
#include "job/packages.h"

namespace souk::cli {
namespace {

// Cards are called by round numbers and report a little less.
std::int64_t nominal(std::int64_t mib) { return mib + mib / 16; }

}  // namespace

Result<> claim_cores(Context& c, const Lend& o, const agent::Machine& machine,
                     agent::Workshop& shop, wire::MachineSpec& spec) {
  if (o.share_cores) return {};
  SOUK_ASSIGN(shop.cores,
              agent::CoreClaims::take(o.cores.value_or(1), o.cores.value_or(machine.cpu.usable),
                                      agent::allowed_cores(), agent::CoreClaims::scope()));
  // A control group gives each lease its share of time, on whichever cores are idle.
  if (!agent::Cgroups::find().has("cpu")) SOUK_TRY(agent::stay_on(shop.cores.cores()));
  spec.cores = static_cast<std::int32_t>(shop.cores.cores().size());
  c.note("cores: " + agent::core_list(shop.cores.cores()));
  return {};
}

Result<> open_gpus(const Lend& o, const agent::Machine& machine, agent::Workshop& shop,
                   wire::MachineSpec& spec) {
  const auto known = static_cast<int>(machine.gpus.size());
  const auto wanted = static_cast<std::size_t>(std::clamp(o.gpus.value_or(known), 0, known));
  std::vector<agent::Gpus::Unit> units;
  for (const auto& gpu : std::span(machine.gpus).first(wanted))
    units.push_back({gpu.uuid, gpu.nodes});
  shop.gpus = std::make_unique<agent::Gpus>(std::move(units));
  if (shop.gpus->count() < o.gpus.value_or(0))
    return failed(fmt::format("{} can be lent, not {}", plural(shop.gpus->count(), "GPU"), *o.gpus),
                  "`souk doctor` shows the GPUs; their device nodes are /dev/nvidia0 and on");
  spec.gpus = shop.gpus->count();
  if (spec.gpus == 0) return {};
  shop.gpu_meter =
      std::make_unique<agent::GpuMeter>(agent::find_nvidia_smi(agent::probe_options()));
  const auto lent = std::span(machine.gpus).first(static_cast<std::size_t>(spec.gpus));
  spec.gpu = fmt::format("{}, driver {}", lent.front().name, lent.front().driver);
  // What a slot guarantees, all of them must have.
  spec.gpu_memory_mib = std::ranges::min(lent, {}, &agent::Gpu::memory_mib).memory_mib;
  const auto offer = [&](const std::vector<std::string>& words) {
    spec.packages.insert(spec.packages.end(), words.begin(), words.end());
  };
  offer(job::size_offered(job::kGpuMemory, nominal(spec.gpu_memory_mib)));
  auto words = job::model_words(lent.front().name);
  for (const auto& gpu : lent) {
    const auto own = job::model_words(gpu.name);
    std::erase_if(words, [&](const auto& w) { return std::ranges::find(own, w) == own.end(); });
  }
  offer(words);
  return {};
}

std::int64_t memory_scratch_mib(const wire::MachineSpec& spec, std::int32_t slots) {
  const auto each = std::min(spec.disk_mib, spec.memory_mib / 2) / std::max(1, slots);
  return std::max<std::int64_t>(64, each);
}

Result<> open_scratch(const Lend& o, const agent::Machine& machine, std::int32_t slots,
                      const std::string& folder, agent::Workshop& shop, wire::MachineSpec& spec) {
  shop.scratch_folder = folder + "/scratch";
  agent::sweep_disk_scratch(shop.scratch_folder);
  const auto asked = o.scratch.value_or(Memory{}).mib;
  if (asked > machine.disk.free_mib)
    return failed(fmt::format("{} are free at {}, not {}", to_string(Memory{machine.disk.free_mib}),
                              machine.disk.path, to_string(Memory{asked})),
                  "lend less with --scratch, or name another disk with --folder");
  const auto each = asked / std::max(1, slots);
  shop.disk_scratch_bytes = each << 20;
  for (auto& word :
       job::size_offered(job::kScratch, std::max(each, memory_scratch_mib(spec, slots))))
    spec.packages.push_back(std::move(word));
  return {};
}

}  // namespace souk::cli
