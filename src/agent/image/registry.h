#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/fetch/web.h"
#include "base/result.h"
#include "job/image.h"

// Images by the registry's HTTP interface (OCI distribution, Docker's version 2), by digest:
// whatever a registry answers is compared with the digest that was asked for.

namespace souk::agent {

struct Blob {
  std::string sha256;
  std::int64_t size = 0;
};

// What an image's manifest says.
struct ImageManifest {
  Blob config;
  std::vector<Blob> layers;  // From the lowest up.
  [[nodiscard]] std::int64_t stored_bytes() const;
};

// What an image says of its program.
struct ImageConfig {
  std::vector<std::string> env;         // "NAME=value".
  std::vector<std::string> entrypoint;  // With cmd after it.
  std::vector<std::string> cmd;
  std::string workdir;
};

// Pure, for tests. A list of images for several kinds of machines names that for `arch` ("x86_64").
struct ManifestOrList {
  ImageManifest manifest;  // If `chosen` is empty,
  std::string chosen;      // else the SHA-256 of the manifest to ask for.
};
[[nodiscard]] base::Result<ManifestOrList> read_image_manifest(std::string_view text,
                                                               std::string_view arch);
[[nodiscard]] base::Result<ImageConfig> read_image_config(std::string_view text);

// `Bearer realm="https://auth.example/token",service="x",scope="y"`: where to ask for a token.
// Empty: it asks for something else.
[[nodiscard]] std::string token_address(std::string_view challenge, const std::string& repository);

// One image at its registry. Asks for a token where the registry wants one, without a password:
// public images only. One thread.
class RegistryImage {
 public:
  RegistryImage(job::ImageName name, bool plain, std::function<bool()> give_up)
      : name_(std::move(name)), plain_(plain), give_up_(std::move(give_up)) {}

  [[nodiscard]] base::Result<ImageManifest> manifest(std::string_view arch);
  // Text for read_image_config().
  [[nodiscard]] base::Result<std::string> config(const Blob& blob);
  [[nodiscard]] base::Result<> layer(const Blob& blob, const std::string& path,
                                     const OnBytes& on_bytes);

 private:
  [[nodiscard]] base::Result<std::string> document(const std::string& path,
                                                   const std::string& sha256, std::size_t most);
  [[nodiscard]] base::Result<> take_token(std::string_view challenge);
  [[nodiscard]] WebRequest request(const std::string& path) const;

  const job::ImageName name_;
  const bool plain_;
  const std::function<bool()> give_up_;
  std::string challenge_, token_;
};

}  // namespace souk::agent
