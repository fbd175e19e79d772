#pragma once

#include <filesystem>
#include <string>

#include "blob/testing/samples.h"

namespace souk::agent::testing {

// A machine made of files: what the probe reads below its root, and the programs it asks.
class MachineFiles {
 protected:
  void file(const std::string& path, const std::string& text) const {
    blob::testing::spill(root_ + path, text);
  }
  void program(const std::string& path, const std::string& script) const {
    file(path, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(root_ + path, std::filesystem::perms::owner_all);
  }

  const blob::testing::Folder folder_;
  const std::string root_ = folder_.path();
};

}  // namespace souk::agent::testing
