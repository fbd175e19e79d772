#include "agent/image/images.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "agent/image/layers.h"
#include "base/file.h"
#include "base/text.h"
#include "blob/files.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kMostEnv = 256 << 10;  // Bytes, of an image's variables.

std::string config_of(const std::string& folder) { return folder + "/config.json"; }

}  // namespace

Result<UnpackedImage> Images::use(const std::string& image, const Watch& watch) {
  SOUK_ASSIGN(const auto name, job::parse_image(image));
  const auto registry =
      std::ranges::find_if(allowed_, [&](const job::Registry& r) { return job::allows(r, name); });
  if (registry == allowed_.end())
    return fail(
        Code::forbidden,
        fmt::format("this machine pulls no image from {}/{}", name.registry, name.repository),
        "its owner would have to allow it: souk lend --registry " + name.registry);
  SOUK_ASSIGN(auto tree,
              trees_.use("image-" + name.sha256, [&](const std::string& folder, const Reserve& r) {
                return make(name, registry->plain, watch, folder, r);
              }));
  SOUK_ASSIGN(const auto text, base::read_file(config_of(tree.path()), ""));
  SOUK_ASSIGN(auto config, read_image_config(text));
  return UnpackedImage{std::move(tree), std::move(config)};
}

Result<> Images::make(const job::ImageName& name, bool plain, const Watch& watch,
                      const std::string& folder, const Reserve& reserve) const {
  watch.doing("fetching image");
  RegistryImage image(name, plain, watch.give_up);
  SOUK_ASSIGN(const auto manifest, image.manifest(arch_));
  const auto total = manifest.stored_bytes();
  if (total > trees_.max_bytes())
    return fail(Code::too_large,
                fmt::format("the image has {}, which does not fit into this machine's cache",
                            base::bytes_text(static_cast<std::uint64_t>(total))));
  SOUK_ASSIGN(const auto config, image.config(manifest.config));
  SOUK_TRY(read_image_config(config));
  SOUK_TRY(blob::replace_file(config_of(folder), config));
  std::error_code error;
  fs::create_directory(folder + "/root", error);
  if (error)
    return fail(Code::unavailable, fmt::format("cannot make {}: {}", folder, error.message()));
  fs::permissions(folder + "/root", fs::perms(0755), error);
  SOUK_ASSIGN(auto tree, LayerTree::open(folder + "/root", reserve));
  std::int64_t done = 0;
  const auto layer = folder + "/layer";
  for (const auto& blob : manifest.layers) {
    // It lies beside what was unpacked until it is unpacked itself.
    SOUK_TRY(reserve(blob.size, 1));
    SOUK_TRY(image.layer(blob, layer, [&](std::int64_t bytes) -> Result<> {
      done += bytes;
      watch.received(bytes);
      watch.doing(fmt::format("fetching image {}% of {}", total > 0 ? done * 100 / total : 100,
                              base::bytes_text(static_cast<std::uint64_t>(total))));
      return {};
    }));
    watch.doing("unpacking image");
    SOUK_TRY(tree.apply(layer, watch.give_up));
    fs::remove(layer, error);
    SOUK_TRY(reserve(-blob.size, -1));
  }
  return tree.make_mount_points();
}

Result<> enter_image(const UnpackedImage& image, const wire::Batch& batch, Program& program) {
  program.root = image.root();
  std::size_t bytes = 0;
  for (const auto& variable : image.config.env) {
    bytes += variable.size();
    const auto equals = variable.find('=');
    program.env.try_emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  if (bytes > kMostEnv) return fail(Code::invalid, "the image has too many variables");
  if (!batch.run.empty()) return {};
  auto own = image.config.entrypoint;
  own.insert(own.end(), image.config.cmd.begin(), image.config.cmd.end());
  if (own.empty())
    return fail(Code::invalid, "the image has no program of its own", "give the job run: COMMAND");
  if (!image.config.workdir.empty()) program.workdir = image.config.workdir;
  if (batch.setup.empty()) {
    program.argv = std::move(own);
    return {};
  }
  program.argv = {"/bin/sh", "-c", fmt::format("( {}\n) || exit $?\nexec \"$@\"", batch.setup),
                  "sh"};
  program.argv.insert(program.argv.end(), own.begin(), own.end());
  return {};
}

std::vector<std::string> driver_folders() {
  return {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib",
          "/usr/lib/wsl/lib"};
}

// Below /work, where a sandbox can make the places to mount them.
void add_gpu_driver(Program& program, std::span<const std::string> folders) {
  constexpr const char* place = "/work/.nvidia";
  constexpr std::array<std::string_view, 5> wanted{"libcuda.so.1", "libnvidia-ml.so.1",
                                                   "libnvidia-ptxjitcompiler.so.1",
                                                   "libnvidia-nvvm.so.4", "libcudadebugger.so.1"};
  bool any = false;
  for (const auto name : wanted)
    for (const auto& folder : folders) {
      const auto path = fmt::format("{}/{}", folder, name);
      std::error_code none;
      if (!fs::is_regular_file(path, none)) continue;
      program.inputs.push_back(
          {fs::canonical(path, none).string(), fmt::format("{}/{}", place, name)});
      any = true;
      break;
    }
  if (!any) return;
  auto& search = program.env["LD_LIBRARY_PATH"];
  search = search.empty() ? place : search + ":" + place;
}

}  // namespace souk::agent
