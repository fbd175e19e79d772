#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

// image: in a job file. An image that is named by its digest is pulled by lenders that allow its
// registry; any other name is one that a lender has already, for podman.

namespace souk::job {

// "ghcr.io/team/train@sha256:<64 hex digits>", or Docker's short names: "python@sha256:..." is
// docker.io/library/python.
struct ImageName {
  std::string registry;    // "ghcr.io", "localhost:5000".
  std::string repository;  // "team/train".
  std::string sha256;      // 64 hex digits.
};

[[nodiscard]] inline bool names_digest(std::string_view image) { return image.contains('@'); }

// A tag beside the digest is dropped: the digest decides.
[[nodiscard]] base::Result<ImageName> parse_image(std::string_view image);

// A registry, or a part of one, that a lender allows: "ghcr.io", "ghcr.io/team",
// "http://localhost:5000" (without TLS).
struct Registry {
  std::string host;
  std::string prefix;  // Of repositories, ends with '/' unless it is empty.
  bool plain = false;  // By http.
};

[[nodiscard]] base::Result<Registry> parse_registry(std::string_view text);
[[nodiscard]] bool allows(const Registry& registry, const ImageName& image);

// "@image:ghcr.io/team/train/": what a job demands, and what a lender of "ghcr.io/team" covers by
// offering "@image:ghcr.io/team/".
[[nodiscard]] std::string image_demand(const ImageName& image);
[[nodiscard]] std::string image_offer(const Registry& registry);

}  // namespace souk::job
