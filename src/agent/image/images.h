#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "agent/image/registry.h"
#include "agent/sandbox/sandbox.h"
#include "agent/trees.h"
#include "base/result.h"
#include "job/image.h"
#include "wire/api/batch.h"

namespace souk::agent {

// An image that lies unpacked on this machine, while this lives.
struct UnpackedImage {
  Trees::Use tree;
  ImageConfig config;
  [[nodiscard]] std::string root() const { return tree.path() + "/root"; }
};

// The images that this machine runs without podman: pulled by digest from the registries that its
// owner allows, unpacked once into the trees, for all leases. Thread-safe.
class Images {
 public:
  Images(std::vector<job::Registry> allowed, std::string arch, Trees& trees)
      : allowed_(std::move(allowed)), arch_(std::move(arch)), trees_(trees) {}

  struct Watch {
    std::function<void(std::string)> doing = [](const std::string&) {};
    std::function<bool()> give_up = [] { return false; };
    std::function<void(std::int64_t)> received = [](std::int64_t) {};
  };
  //   forbidden    the owner allows no such registry, or it gives it not to everybody
  //   invalid, damaged, too_large   the image is not to be used
  //   unavailable  not now
  base::Result<UnpackedImage> use(const std::string& image, const Watch& watch);

 private:
  base::Result<> make(const job::ImageName& name, bool plain, const Watch& watch,
                      const std::string& folder, const Reserve& reserve) const;

  const std::vector<job::Registry> allowed_;
  const std::string arch_;
  Trees& trees_;
};

// The program with the image as its root: the job's command by the image's shell in /work, or,
// where the job gives none, the image's own program where the image wants it. The image's variables
// come first, the job's win.
base::Result<> enter_image(const UnpackedImage& image, const wire::Batch& batch, Program& program);

// Shows the program the libraries of this machine's GPU driver, which images leave to the machine
// as they must fit its kernel. Looks in `folders`; finds none where there is no such driver.
void add_gpu_driver(Program& program, std::span<const std::string> folders);
std::vector<std::string> driver_folders();

}  // namespace souk::agent
