#include "agent/image/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "agent/fetch/sha256.h"
#include "base/text.h"
#include "net/http.h"

namespace souk::agent {
namespace {

using base::Code;
using base::fail;
using base::Result;
namespace json = boost::json;

constexpr std::size_t kMostManifest = 4 << 20;
constexpr std::size_t kMostConfig = 8 << 20;
constexpr std::size_t kMostToken = 64 << 10;
constexpr std::size_t kMostLayers = 500;
constexpr std::size_t kMostWords = 1'000;
constexpr int kDepth = 16;
constexpr std::int64_t kLargestImage = std::int64_t{1} << 44;
constexpr auto kAccept =
    "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json, "
    "application/vnd.docker.distribution.manifest.v2+json";

base::Failure bad(std::string what) {
  return fail(Code::invalid, "the image cannot be used: " + std::move(what));
}

Result<json::object> parse(std::string_view text, std::string_view what) {
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = kDepth;
  auto value = json::parse(text, error, {}, options);
  if (error || !value.is_object()) return bad(fmt::format("its {} is no JSON object", what));
  return std::move(value.as_object());
}

std::string text_in(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}

const json::object* object_in(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_object();
}

std::vector<std::string> texts_in(const json::object& object, std::string_view key) {
  std::vector<std::string> out;
  const auto* value = object.if_contains(key);
  if (value == nullptr || !value->is_array()) return out;
  for (const auto& item : value->as_array())
    if (item.is_string() && out.size() < kMostWords)
      if (std::string text(item.as_string()); !text.contains('\0')) out.push_back(std::move(text));
  return out;
}

Result<std::string> digest_in(const json::object& object) {
  constexpr std::string_view kind = "sha256:";
  const auto text = text_in(object, "digest");
  const bool good = text.starts_with(kind) && text.size() == kind.size() + 64 &&
                    text.find_first_not_of("0123456789abcdef", kind.size()) == std::string::npos;
  if (!good) return bad(fmt::format("'{}' is no SHA-256 digest", text.substr(0, 80)));
  return text.substr(kind.size());
}

Result<Blob> blob_of(const json::value& value, std::string_view what) {
  const auto* object = value.if_object();
  if (object == nullptr) return bad(fmt::format("its manifest names no {}", what));
  Blob out;
  SOUK_ASSIGN(out.sha256, digest_in(*object));
  const auto* size = object->if_contains("size");
  if (size == nullptr || !size->is_int64() || size->as_int64() < 0 ||
      size->as_int64() > kLargestImage)
    return bad(fmt::format("a {} has no size", what));
  out.size = size->as_int64();
  return out;
}

std::string_view oci_arch(std::string_view arch) {
  return arch == "x86_64" ? "amd64" : arch == "aarch64" ? "arm64" : arch;
}

Result<std::string> choose(const json::array& list, std::string_view arch) {
  for (const auto& item : list) {
    const auto* object = item.if_object();
    const auto* platform = object == nullptr ? nullptr : object_in(*object, "platform");
    if (platform != nullptr && text_in(*platform, "os") == "linux" &&
        text_in(*platform, "architecture") == oci_arch(arch))
      return digest_in(*object);
  }
  return bad(fmt::format("it has nothing for linux on {}", arch));
}

// Docker's own registry has another name than its images.
std::string api_host(const std::string& registry) {
  return registry == "docker.io" ? "registry-1.docker.io" : registry;
}

}  // namespace

std::int64_t ImageManifest::stored_bytes() const {
  std::int64_t out = config.size;
  for (const auto& layer : layers) out += layer.size;
  return out;
}

Result<ManifestOrList> read_image_manifest(std::string_view text, std::string_view arch) {
  SOUK_ASSIGN(const auto object, parse(text, "manifest"));
  ManifestOrList out;
  if (const auto* list = object.if_contains("manifests")) {
    if (!list->is_array()) return bad("its list is none");
    SOUK_ASSIGN(out.chosen, choose(list->as_array(), arch));
    return out;
  }
  const auto* config = object.if_contains("config");
  const auto* layers = object.if_contains("layers");
  if (config == nullptr || layers == nullptr || !layers->is_array())
    return bad("its manifest names no config and layers");
  SOUK_ASSIGN(out.manifest.config, blob_of(*config, "config"));
  if (layers->as_array().size() > kMostLayers)
    return bad(fmt::format("{} layers; {} at most", layers->as_array().size(), kMostLayers));
  for (const auto& layer : layers->as_array()) {
    SOUK_ASSIGN(auto blob, blob_of(layer, "layer"));
    out.manifest.layers.push_back(std::move(blob));
  }
  return out;
}

Result<ImageConfig> read_image_config(std::string_view text) {
  SOUK_ASSIGN(const auto object, parse(text, "config"));
  ImageConfig out;
  const auto* config = object_in(object, "config");
  if (config == nullptr) return out;
  out.env = texts_in(*config, "Env");
  std::erase_if(out.env, [](const std::string& v) { return v.find('=') == v.npos || v[0] == '='; });
  out.entrypoint = texts_in(*config, "Entrypoint");
  out.cmd = texts_in(*config, "Cmd");
  out.workdir = text_in(*config, "WorkingDir");
  if (out.workdir.contains('\0')) out.workdir.clear();
  return out;
}

std::string token_address(std::string_view challenge, const std::string& repository) {
  constexpr std::string_view scheme = "bearer ";
  if (challenge.size() < scheme.size() ||
      !net::equal_ignoring_case(challenge.substr(0, scheme.size()), scheme))
    return "";
  challenge.remove_prefix(scheme.size());
  std::string realm, service;
  while (!challenge.empty()) {
    const auto equals = challenge.find('=');
    if (equals == challenge.npos || equals + 1 >= challenge.size() || challenge[equals + 1] != '"')
      break;
    const auto key = base::trim(challenge.substr(0, equals));
    const auto end = challenge.find('"', equals + 2);
    if (end == challenge.npos) break;
    const auto value = challenge.substr(equals + 2, end - equals - 2);
    if (key == "realm") realm = value;
    if (key == "service") service = value;
    challenge.remove_prefix(end + 1);
    challenge = base::trim(challenge);
    if (challenge.starts_with(',')) challenge.remove_prefix(1);
  }
  if (realm.empty()) return "";
  return fmt::format("{}{}service={}&scope={}", realm, realm.contains('?') ? "&" : "?",
                     net::percent_encode(service),
                     net::percent_encode(fmt::format("repository:{}:pull", repository)));
}

WebRequest RegistryImage::request(const std::string& path) const {
  WebRequest out{.address = {plain_, api_host(name_.registry), path}, .give_up = give_up_};
  if (!token_.empty()) out.headers.emplace_back("Authorization", "Bearer " + token_);
  return out;
}

Result<> RegistryImage::take_token(std::string_view challenge) {
  const auto refused = [&](std::string why) {
    return fail(Code::forbidden,
                fmt::format("{} does not give {} to everybody{}", name_.registry, name_.repository,
                            std::move(why)),
                "lenders pull public images only");
  };
  const auto url = token_address(challenge, name_.repository);
  if (url.empty()) return refused("");
  SOUK_ASSIGN(const auto address, parse_web_address(url));
  if (address.plain && !plain_) return refused(", and asks for a token without TLS");
  SOUK_ASSIGN(const auto answer, web_get({.address = address, .give_up = give_up_}, kMostToken));
  if (answer.status != 200) return refused(fmt::format(" ({})", answer.status));
  SOUK_ASSIGN(const auto object, parse(answer.body, "token"));
  token_ = text_in(object, "token");
  if (token_.empty()) token_ = text_in(object, "access_token");
  const bool good = !token_.empty() &&
                    std::ranges::all_of(token_, [](unsigned char c) { return c > 32 && c < 127; });
  return good ? Result<>() : refused("");
}

// A document that must have this digest.
Result<std::string> RegistryImage::document(const std::string& path, const std::string& sha256,
                                            std::size_t most) {
  for (int i = 0;; ++i) {
    auto asked = request(path);
    asked.headers.emplace_back("Accept", kAccept);
    SOUK_ASSIGN(auto answer, web_get(asked, most));
    if (answer.status == 401 && i == 0) {
      challenge_ = answer.header("WWW-Authenticate");
      SOUK_TRY(take_token(challenge_));
      continue;
    }
    if (answer.status != 200) return std::unexpected(refusal(asked.address, answer.status));
    if (sha256_hex(answer.body) == sha256) return std::move(answer.body);
    return fail(Code::damaged, fmt::format("{} is not what has the digest sha256:{}",
                                           asked.address.text(), sha256));
  }
}

Result<ImageManifest> RegistryImage::manifest(std::string_view arch) {
  auto sha256 = name_.sha256;
  for (int i = 0; i < 2; ++i) {
    const auto path = fmt::format("/v2/{}/manifests/sha256:{}", name_.repository, sha256);
    SOUK_ASSIGN(const auto text, document(path, sha256, kMostManifest));
    SOUK_ASSIGN(auto read, read_image_manifest(text, arch));
    if (read.chosen.empty()) return std::move(read.manifest);
    sha256 = read.chosen;
  }
  return bad("its list names another list");
}

Result<std::string> RegistryImage::config(const Blob& blob) {
  const auto path = fmt::format("/v2/{}/blobs/sha256:{}", name_.repository, blob.sha256);
  return document(path, blob.sha256, kMostConfig);
}

Result<> RegistryImage::layer(const Blob& blob, const std::string& path, const OnBytes& on_bytes) {
  const auto address = fmt::format("/v2/{}/blobs/sha256:{}", name_.repository, blob.sha256);
  auto done = web_fetch(request(address), {blob.sha256, blob.size}, path, on_bytes);
  // Tokens last for minutes, a large image takes longer.
  if (done || done.error().code != Code::forbidden || challenge_.empty()) return done;
  SOUK_TRY(take_token(challenge_));
  return web_fetch(request(address), {blob.sha256, blob.size}, path, on_bytes);
}

}  // namespace souk::agent
