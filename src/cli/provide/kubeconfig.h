#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace souk::cli {

// In a file of its own, or in the kubeconfig.
struct KubeSecret {
  std::string file;
  std::string data;
};

struct Kubeconfig {
  std::string server;
  std::string namespace_;
  KubeSecret ca, cert, key, token;
};

// The cluster and user of a context of a kubeconfig; empty: of its current one. Users with a
// password or a program that makes tokens (exec) are refused in words.
base::Result<Kubeconfig> read_kubeconfig(std::string_view text, const std::string& path,
                                         const std::string& context);

}  // namespace souk::cli
