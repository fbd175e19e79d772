#include "job/image.h"

#include <fmt/format.h>

#include <algorithm>

#include "job/packages.h"
#include "market/limits.h"

namespace souk::job {
namespace {

using base::Code;
using base::fail;

constexpr std::string_view kDigest = "sha256:";
constexpr std::string_view kDocker = "docker.io";

bool is_host(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.front() != '-' && text.front() != ':' &&
         text.back() != ':' && std::ranges::all_of(text, [](unsigned char c) {
           return (std::isalnum(c) != 0 && std::isupper(c) == 0) || c == '.' || c == '-' ||
                  c == ':' || c == '[' || c == ']';
         });
}

// Names of letters, digits and ._- between slashes, none of which begins with a mark.
bool is_repository(std::string_view text) {
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('/', at), text.size());
    const auto name = text.substr(at, end - at);
    const bool good =
        !name.empty() && std::isalnum(static_cast<unsigned char>(name[0])) != 0 &&
        std::ranges::all_of(name, [](unsigned char c) {
          return (std::isalnum(c) != 0 && std::isupper(c) == 0) || c == '.' || c == '_' || c == '-';
        });
    if (!good) return false;
    at = end + 1;
  }
  return true;
}

// The first part is a host if it could be nothing else, as Docker decides it.
bool begins_with_host(std::string_view name) {
  const auto slash = name.find('/');
  if (slash == name.npos) return false;
  const auto first = name.substr(0, slash);
  return first == "localhost" || first.find_first_of(".:") != first.npos;
}

base::Failure bad_image(std::string_view image) {
  return fail(Code::invalid, fmt::format("'{}' is not an image", image.substr(0, 80)),
              "name it by its digest, REGISTRY/NAME@sha256:<64 hex digits>; `skopeo inspect "
              "--format '{{.Digest}}' docker://NAME:TAG` shows that of a tag",
              "batch.image");
}

}  // namespace

base::Result<ImageName> parse_image(std::string_view image) {
  const auto at = image.find('@');
  if (at == image.npos) return bad_image(image);
  auto name = image.substr(0, at);
  const auto digest = image.substr(at + 1);
  ImageName out;
  if (!digest.starts_with(kDigest)) return bad_image(image);
  out.sha256 = digest.substr(kDigest.size());
  if (out.sha256.size() != 64 ||
      out.sha256.find_first_not_of("0123456789abcdef") != std::string::npos)
    return bad_image(image);
  if (begins_with_host(name)) {
    out.registry = name.substr(0, name.find('/'));
    name.remove_prefix(out.registry.size() + 1);
  } else {
    out.registry = kDocker;
  }
  name = name.substr(0, name.find(':'));
  out.repository = name;
  if (out.registry == kDocker && !name.contains('/')) out.repository = "library/" + out.repository;
  if (!is_host(out.registry) || !is_repository(out.repository)) return bad_image(image);
  if (image_demand(out).size() > market::kWordMax)
    return fail(Code::invalid,
                fmt::format("the name of image '{}' is too long", image.substr(0, 80)),
                fmt::format("registry and name have {} characters at most", market::kWordMax - 8),
                "batch.image");
  return out;
}

base::Result<Registry> parse_registry(std::string_view text) {
  Registry out;
  auto rest = text;
  if (rest.starts_with("http://")) {
    out.plain = true;
    rest.remove_prefix(7);
  } else if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  }
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const auto slash = std::min(rest.find('/'), rest.size());
  out.host = rest.substr(0, slash);
  if (slash < rest.size()) out.prefix = rest.substr(slash + 1);
  const bool good = is_host(out.host) && (out.prefix.empty() || is_repository(out.prefix));
  if (!out.prefix.empty()) out.prefix += '/';
  if (!good || image_offer(out).size() > market::kWordMax)
    return fail(Code::invalid, fmt::format("'{}' is not a registry", text.substr(0, 80)),
                "name a host, and if you like what it may be asked for: docker.io/library, "
                "ghcr.io/team, http://localhost:5000");
  return out;
}

bool allows(const Registry& registry, const ImageName& image) {
  return registry.host == image.registry && (image.repository + "/").starts_with(registry.prefix);
}

std::string image_demand(const ImageName& image) {
  return fmt::format("{}:{}/{}/", kImage, image.registry, image.repository);
}

std::string image_offer(const Registry& registry) {
  return fmt::format("{}:{}/{}", kImage, registry.host, registry.prefix);
}

}  // namespace souk::job
