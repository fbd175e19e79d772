#include "cli/lend/lend_hardware.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/limits/cgroup.h"
#include "agent/limits/claims.h"
#include "agent/limits/disk_scratch.h"
#include "agent/probe/probe_programs.h"
#include "cli/shell/human.h"
#include "job/packages.h"

namespace souk::cli {
namespace {

// Cards are called by round numbers and report a little less.
std::int64_t nominal(std::int64_t mib) { return mib + mib / 16; }

agent::Gpus::Unit unit_of(const std::vector<agent::Gpu>& gpus, std::size_t place) {
  return {gpus[place].uuid, gpus[place].nodes, static_cast<int>(place)};
}

// How many have their device nodes, from the first on.
std::size_t with_nodes(const std::vector<agent::Gpu>& gpus) {
  std::vector<agent::Gpus::Unit> units;
  for (std::size_t i = 0; i < gpus.size(); ++i) units.push_back(unit_of(gpus, i));
  return static_cast<std::size_t>(agent::Gpus(std::move(units)).count());
}

// The GPUs that are lent. They are opened in `shop`.
Result<std::vector<agent::Gpu>> claim_gpus(Context& c, const Lend& o, std::vector<agent::Gpu> gpus,
                                           agent::Workshop& shop) {
  gpus.resize(with_nodes(gpus));
  const auto known = gpus.size();
  const auto wanted = std::min(
      known, static_cast<std::size_t>(std::max(0, o.gpus.value_or(static_cast<int>(known)))));
  std::vector<std::size_t> places;
  if (o.share_gpus) {
    for (std::size_t i = 0; i < wanted; ++i) places.push_back(i);
  } else {
    shop.gpu_claims = agent::GpuClaims::take(gpus, wanted, agent::claim_scope());
    places = shop.gpu_claims.places();
  }
  const auto others = agent::lent_by(gpus, shop.gpu_claims.of_others());
  if (std::ssize(places) < o.gpus.value_or(0)) {
    const auto short_of = fmt::format("{} can be lent, not {}",
                                      plural(static_cast<int>(places.size()), "GPU"), *o.gpus);
    if (others.empty())
      return failed(short_of,
                    "`souk doctor` shows the GPUs; their device nodes are /dev/nvidia0 and on");
    return failed(fmt::format("{}: other agents of this machine lend {}", short_of, others),
                  "end one of them, lend fewer with --gpus, or lend with --share-gpus, which keeps "
                  "nobody's GPUs apart");
  }
  if (!others.empty() && places.size() < wanted)
    c.note(
        fmt::format("not lent here: {}. End that process and start this one again to lend it, "
                    "or use --share-gpus",
                    others));
  std::vector<agent::Gpu> out;
  std::vector<agent::Gpus::Unit> units;
  for (const auto place : places) {
    out.push_back(gpus[place]);
    units.push_back(unit_of(gpus, place));
  }
  shop.gpus = std::make_unique<agent::Gpus>(std::move(units));
  return out;
}

}  // namespace

Result<> claim_cores(Context& c, const Lend& o, const agent::Machine& machine,
                     agent::Workshop& shop, wire::MachineSpec& spec) {
  if (o.share_cores) return {};
  SOUK_ASSIGN(shop.cores,
              agent::CoreClaims::take(o.cores.value_or(1), o.cores.value_or(machine.cpu.usable),
                                      agent::allowed_cores(), agent::claim_scope()));
  // A control group gives each lease its share of time, on whichever cores are idle.
  if (!agent::Cgroups::find().has("cpu")) SOUK_TRY(agent::stay_on(shop.cores.cores()));
  spec.cores = static_cast<std::int32_t>(shop.cores.cores().size());
  c.note("cores: " + agent::core_list(shop.cores.cores()));
  return {};
}

Result<> open_gpus(Context& c, const Lend& o, const agent::Machine& machine, agent::Workshop& shop,
                   wire::MachineSpec& spec) {
  SOUK_ASSIGN(const auto lent, claim_gpus(c, o, machine.gpus, shop));
  spec.gpus = shop.gpus->count();
  if (spec.gpus == 0) return {};
  shop.gpu_meter =
      std::make_unique<agent::GpuMeter>(agent::find_nvidia_smi(agent::probe_options()));
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
