#include "blob/s3/address.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "net/http.h"

namespace souk::blob {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::string_view kScheme = "s3://";
constexpr std::array<std::string_view, 5> kParameters{"endpoint", "region", "style", "direct",
                                                      "ca"};

base::Failure wrong(std::string_view url, std::string message, std::string hint) {
  return fail(Code::invalid, fmt::format("{}: {}", url.substr(0, url.find('?')), message),
              std::move(hint), "blobs");
}

// As Amazon says: 3 to 63 of a-z, 0-9, '-' and '.'; so it can be part of a host's name.
bool is_bucket(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 && std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
         });
}

// Letters that need no encoding anywhere.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.~/").find(c) != std::string_view::npos;
  });
}

bool is_endpoint(std::string_view url) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!url.starts_with(scheme)) continue;
    url.remove_prefix(scheme.size());
    return !url.empty() && url.find_first_of("/?#@ ") == url.npos;
  }
  return false;
}

Result<std::string> endpoint_in(std::string_view url, std::string_view name, std::string value) {
  while (value.ends_with('/')) value.pop_back();
  if (!is_endpoint(value))
    return wrong(url, fmt::format("{} is '{}'", name, value),
                 fmt::format("{}=https://store.example:9000", name));
  // As `Host:` will say it, which is signed.
  const bool tls = value.starts_with("https");
  if (const std::string_view usual = tls ? ":443" : ":80"; value.ends_with(usual))
    value.resize(value.size() - usual.size());
  return value;
}

}  // namespace

std::string S3Address::origin(const std::string& at) const {
  if (path_style) return at;
  const auto host = at.find("://") + 3;
  return at.substr(0, host) + bucket + "." + at.substr(host);
}

std::string S3Address::path_of(std::string_view key) const {
  return fmt::format("/{}{}{}{}", path_style ? bucket : "", path_style ? "/" : "", prefix, key);
}

std::string S3Address::name() const {
  return fmt::format("s3://{}/{}", bucket, prefix.substr(0, prefix.size() - !prefix.empty()));
}

bool is_s3(std::string_view text) { return text.starts_with(kScheme); }

Result<S3Address> parse_s3(std::string_view url) {
  if (!is_s3(url)) return wrong(url, "this is no address of a bucket", "s3://BUCKET/PREFIX");
  const auto question = url.find('?');
  const auto place = url.substr(kScheme.size(), question - kScheme.size());
  const auto slash = place.find('/');
  S3Address out{.bucket = std::string(place.substr(0, slash)), .region = "us-east-1"};
  if (!is_bucket(out.bucket))
    return wrong(url, fmt::format("'{}' is no name of a bucket", out.bucket),
                 "3 to 63 letters a-z, digits, '-' and '.'");
  if (slash != place.npos) out.prefix = std::string(place.substr(slash + 1));
  while (out.prefix.ends_with('/')) out.prefix.pop_back();
  if (!is_plain(out.prefix) || out.prefix.starts_with('/') || out.prefix.contains("//") ||
      out.prefix.size() > 200)
    return wrong(url, fmt::format("'{}' cannot begin the names of objects", out.prefix),
                 "letters, digits and -_.~ with single '/' between them");
  if (!out.prefix.empty()) out.prefix += '/';

  const auto query = net::parse_query(question == url.npos ? "" : url.substr(question + 1));
  if (!query) return wrong(url, "a broken escape in its parameters", "%2F for '/'");
  std::string style, direct;
  for (const auto& [name, value] : *query) {
    if (name == "region") {
      out.region = value;
    } else if (name == "endpoint") {
      SOUK_ASSIGN(out.endpoint, endpoint_in(url, name, value));
    } else if (name == "direct") {
      direct = value;
    } else if (name == "style") {
      style = value;
    } else if (name == "ca") {
      out.ca_file = value;
    } else {
      return wrong(url, fmt::format("there is no parameter '{}'", name),
                   base::suggest(name, kParameters));
    }
  }
  if (!style.empty() && style != "path" && style != "host")
    return wrong(url, fmt::format("style is '{}'", style), "path or host");
  if (!is_plain(out.region) || out.region.empty())
    return wrong(url, fmt::format("region is '{}'", out.region), "region=eu-central-1");
  out.path_style = style.empty() ? !out.endpoint.empty() : style == "path";
  if (out.endpoint.empty()) out.endpoint = fmt::format("https://s3.{}.amazonaws.com", out.region);
  if (direct.empty()) {
    out.direct = out.endpoint;
  } else if (direct != "off") {
    SOUK_ASSIGN(out.direct, endpoint_in(url, "direct", direct));
  }
  return out;
}

}  // namespace souk::blob
