#pragma once

#include <string>
#include <vector>

#include "agent/probe/probe.h"

// What is installed in a folder of packages, from the names of the files that installers leave
// (name-version.dist-info). Their content is not needed, so it may be as large as it likes.

namespace souk::agent {

// Of "site-packages", or a folder like it. Packages that are only links to somebody's sources
// (pip install --editable) are left out: the sources are not lent.
[[nodiscard]] std::vector<Package> packages_in(const std::string& folder);

// Of conda-meta: everything, also what is not Python's.
[[nodiscard]] std::vector<Package> conda_packages(const std::string& conda_meta);

// The version of CUDA that the torch in `folder` was built for, or that `packages` bring; or empty.
[[nodiscard]] std::string cuda_of(const std::vector<std::string>& folders,
                                  const std::vector<Package>& packages);

// A regular file's first `most` bytes; a link, a pipe or a device is empty.
[[nodiscard]] std::string small_file(const std::string& path, std::size_t most = 64 << 10);

}  // namespace souk::agent
