#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "agent/trees.h"
#include "base/fd.h"
#include "base/result.h"

// The layers of an image as one folder. What a layer says is believed in nothing: names are
// resolved by the kernel as if the folder were the root (openat2), so that no link, "..", or
// absolute name leads out of it; the last part of a name is never followed. Devices are left out.
// Files have mode 0644 or 0755, folders 0755, all of them the agent's own: nothing is setuid.

namespace souk::agent {

class LayerTree {
 public:
  // `folder` exists and is empty. Needs Linux 5.6.
  static base::Result<LayerTree> open(const std::string& folder, Reserve reserve);

  // Applies the layer in this file (a tar, perhaps compressed) on top of those before it. Files
  // ".wh.NAME" take NAME of the layers below away, ".wh..wh..opq" all that its folder has of them.
  //   invalid    it is no layer, or a name leads out of the folder
  //   too_large, unavailable   as `reserve` says
  base::Result<> apply(const std::string& layer, const std::function<bool()>& give_up);
  // The same from a descriptor, to its end. One that does not block is waited for.
  base::Result<> apply(int layer, const std::function<bool()>& give_up);

  // Makes the folders and files over which a sandbox mounts its own, whatever the image has there:
  // plain ones, no links.
  base::Result<> make_mount_points();

 private:
  LayerTree(base::Fd root, Reserve reserve)
      : root_(std::move(root)), reserve_(std::move(reserve)) {}
  base::Fd root_;
  Reserve reserve_;
};

}  // namespace souk::agent
