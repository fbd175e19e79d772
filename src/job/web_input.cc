#include "job/web_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "job/packages.h"
#include "market/limits.h"

namespace souk::job {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kUrlMax = 2'000;

base::Failure bad_url(std::string_view url, std::string hint) {
  return fail(Code::invalid, fmt::format("'{}' is not an address of a file", url.substr(0, 80)),
              std::move(hint), "url");
}

base::Result<std::string> s3_url(std::string_view url) {
  const auto rest = url.substr(5);
  const auto slash = rest.find('/');
  if (slash == 0 || slash >= rest.size() - 1) return bad_url(url, "use s3://BUCKET/KEY");
  return fmt::format("https://{}.s3.amazonaws.com{}", rest.substr(0, slash), rest.substr(slash));
}

// [datasets/]OWNER/NAME[@REVISION]/FILE
base::Result<std::string> hf_url(std::string_view url) {
  auto rest = url.substr(5);
  std::string_view kind;
  if (rest.starts_with("datasets/")) {
    kind = rest.substr(0, 9);
    rest.remove_prefix(9);
  }
  const auto owner = rest.find('/');
  const auto name = owner == rest.npos ? rest.npos : rest.find('/', owner + 1);
  if (owner == 0 || name == rest.npos || name == owner + 1 || name + 1 == rest.size())
    return bad_url(url, "use hf://OWNER/NAME/FILE or hf://datasets/OWNER/NAME/FILE");
  const auto repository = rest.substr(0, name);
  const auto at = repository.find('@');
  const auto revision = at == repository.npos ? "main" : repository.substr(at + 1);
  return fmt::format("https://huggingface.co/{}{}/resolve/{}/{}", kind, repository.substr(0, at),
                     revision, rest.substr(name + 1));
}

}  // namespace

std::string host_of(std::string_view url) {
  const auto after = url.find("://");
  if (after == url.npos || (url.substr(0, after) != "https" && url.substr(0, after) != "http"))
    return "";
  auto host = std::string(url.substr(after + 3));
  host.resize(std::min(host.find('/'), host.size()));
  const auto fits = [](unsigned char c) {
    return (std::isalnum(c) != 0 && std::isupper(c) == 0) || c == '.' || c == '-' || c == ':';
  };
  const bool good = !host.empty() && host.size() < url.size() - after - 3 &&
                    host.size() + kIndex.size() < market::kWordMax &&
                    std::ranges::all_of(host, fits);
  return good ? host : "";
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

base::Result<std::string> web_url(std::string_view url) {
  auto out = base::Result<std::string>(std::string(url));
  if (url.starts_with("s3://")) out = s3_url(url);
  if (url.starts_with("hf://")) out = hf_url(url);
  if (out && (out->size() > kUrlMax || host_of(*out).empty()))
    return bad_url(url, "use https://HOST/PATH, s3://BUCKET/KEY or hf://OWNER/NAME/FILE");
  return out;
}

base::Result<> check_input(const wire::BatchInput& input) {
  if (input.url.empty() && input.sha256.empty()) return {};
  const bool good = input.blob.empty() && input.file && input.url.size() <= kUrlMax &&
                    !host_of(input.url).empty() && is_sha256(input.sha256);
  if (good) return {};
  return fail(Code::invalid, fmt::format("input '{}' cannot be fetched", input.path.substr(0, 80)),
              "give https://HOST/PATH and its SHA-256, file: true and no blob", "batch.inputs");
}

std::vector<std::string> fetch_demands(const wire::Batch& work) {
  std::vector<std::string> out;
  for (const auto& input : work.inputs) {
    if (input.url.empty()) continue;
    auto demand = fmt::format("{}:{}", kFetch, host_of(input.url));
    if (std::ranges::find(out, demand) == out.end()) out.push_back(std::move(demand));
  }
  return out;
}

}  // namespace souk::job
