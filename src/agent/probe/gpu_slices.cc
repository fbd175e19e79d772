#include "agent/probe/gpu_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include "agent/probe/probe_limits.h"
#include "base/text.h"

namespace souk::agent {
namespace {

constexpr std::size_t kMostSlices = 512;

// "(UUID: GPU-5c89)" -> "GPU-5c89".
std::string uuid_in(std::string_view line) {
  constexpr std::string_view before = "(UUID: ";
  const auto at = line.find(before);
  if (at == std::string_view::npos) return {};
  const auto rest = line.substr(at + before.size());
  return std::string(rest.substr(0, rest.find(')')));
}

struct Entry {
  std::string_view key, value;
};

// "        GPU Instance ID        : 9".
Entry entry_of(std::string_view line) {
  const auto colon = line.find(" : ");
  if (colon == std::string_view::npos) return {base::trim(line), {}};
  return {base::trim(line.substr(0, colon)), base::trim(line.substr(colon + 3))};
}

// "DeviceFileMinor: 12".
std::optional<std::int64_t> minor_in(const std::string& path) {
  const auto text = file_text(path);
  for (const auto line : base::split(text, '\n'))
    if (line.starts_with("DeviceFileMinor:")) return whole_number(line.substr(line.find(':') + 1));
  return std::nullopt;
}

std::vector<std::string> slice_nodes(const std::string& root, int gpu, const SliceDetails& slice) {
  const auto mig =
      fmt::format("{}/proc/driver/nvidia/capabilities/gpu{}/mig/gi{}", root, gpu, slice.instance);
  std::vector<std::string> out{fmt::format("/dev/nvidia{}", gpu)};
  for (const auto& access : {mig + "/access", fmt::format("{}/ci{}/access", mig, slice.compute)}) {
    const auto minor = minor_in(access);
    if (!minor) return {};
    out.push_back(fmt::format("/dev/nvidia-caps/nvidia-cap{}", *minor));
  }
  return out;
}

}  // namespace

std::vector<GpuSlice> parse_gpu_list(std::string_view text) {
  std::vector<GpuSlice> out;
  std::string gpu;
  for (const auto line : base::split(text, '\n')) {
    if (line.starts_with("GPU ")) gpu = uuid_in(line);
    const auto words = base::trim(line);
    if (!words.starts_with("MIG ") || gpu.empty() || out.size() == kMostSlices) continue;
    const auto device = words.find(" Device ");
    const auto colon = words.find(": (UUID");
    if (device == std::string_view::npos || colon == std::string_view::npos || colon < device + 8)
      continue;
    const auto index = whole_number(words.substr(device + 8, colon - device - 8));
    if (!index) continue;
    out.push_back({gpu, std::string(base::trim(words.substr(4, device - 4))),
                   static_cast<int>(*index), uuid_in(words)});
  }
  return out;
}

std::vector<SliceDetails> parse_slice_details(std::string_view text) {
  std::vector<SliceDetails> out;
  std::string bus;
  bool in_slice = false, in_memory = false;
  for (const auto line : base::split(text, '\n')) {
    const auto [key, value] = entry_of(line);
    if (value.empty() && key.starts_with("GPU ") && key.contains(':')) {  // Its address.
      bus = key.substr(4);
      in_slice = false;
    }
    if (key == "MIG Device" && value.empty() && out.size() < kMostSlices) {
      out.push_back({.bus = bus});
      in_slice = true;
      in_memory = false;
    }
    if (!in_slice) continue;
    if (value.empty() && !key.empty() && key != "MIG Device") in_memory = key == "FB Memory Usage";
    const auto count = whole_number(value.substr(0, value.find(' ')));
    if (!count) continue;
    if (key == "Index") out.back().index = static_cast<int>(*count);
    if (key == "GPU Instance ID") out.back().instance = static_cast<int>(*count);
    if (key == "Compute Instance ID") out.back().compute = static_cast<int>(*count);
    if (key == "Total" && in_memory) out.back().memory_mib = *count;
    if (key == "Free" && in_memory) in_slice = false;  // What follows is of the GPU again.
  }
  return out;
}

int device_number(const std::string& root, std::string_view bus, int otherwise) {
  // The folder is called "0000:17:00.0", the bus "00000000:17:00.0", in capitals at times.
  constexpr std::size_t length = std::string_view("0000:17:00.0").size();
  if (bus.size() < length) return otherwise;
  std::string name(bus.substr(bus.size() - length));
  for (auto& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto text = file_text(fmt::format("{}/proc/driver/nvidia/gpus/{}/information", root, name));
  for (const auto line : base::split(text, '\n'))
    if (line.starts_with("Device Minor:"))
      return static_cast<int>(whole_number(line.substr(line.find(':') + 1)).value_or(otherwise));
  return otherwise;
}

std::vector<Gpu> with_slices(std::vector<Gpu> gpus, std::string_view list, std::string_view details,
                             const std::string& root, std::vector<Remark>& remarks) {
  const auto slices = parse_gpu_list(list);
  const auto known = parse_slice_details(details);
  std::vector<Gpu> out;
  for (auto& gpu : gpus) {
    bool cut = false;
    for (const auto& slice : slices) {
      if (slice.gpu != gpu.uuid) continue;
      cut = true;
      const auto at = std::ranges::find_if(
          known, [&](const SliceDetails& d) { return d.bus == gpu.bus && d.index == slice.index; });
      auto nodes =
          at == known.end() ? std::vector<std::string>{} : slice_nodes(root, gpu.number, *at);
      if (nodes.empty()) {
        remarks.push_back({"gpu", fmt::format("the device nodes of the slice {} ({}) are not known",
                                              slice.uuid, slice.profile)});
        continue;
      }
      out.push_back({.name = fmt::format("{} MIG {}", gpu.name, slice.profile),
                     .memory_mib = at->memory_mib,
                     .driver = gpu.driver,
                     .uuid = slice.uuid,
                     .bus = gpu.bus,
                     .number = gpu.number,
                     .slice = true,
                     .nodes = std::move(nodes)});
    }
    if (!cut) out.push_back(std::move(gpu));
  }
  return out;
}

}  // namespace souk::agent
