#include "cli/lend/lend_fetch.h"

#include <fmt/format.h>

#include <algorithm>

#include "job/packages.h"

namespace souk::cli {
namespace {

constexpr std::size_t kMostHosts = 32;
constexpr const char* kPyPi = "files.pythonhosted.org";

Result<agent::WebHost> web_host(const std::string& text) {
  auto read = job::parse_registry(text);
  if (!read || !read->prefix.empty())
    return failed(fmt::format("'{}' is not a host", text),
                  "name where the files are, such as files.pythonhosted.org or "
                  "http://localhost:8080");
  return agent::WebHost{read->host, read->plain};
}

// The hosts, and a word for each.
Result<std::vector<agent::WebHost>> hosts_of(const std::vector<std::string>& texts,
                                             std::string_view word,
                                             std::vector<std::string>& features) {
  std::vector<agent::WebHost> out;
  for (const auto& text : texts) {
    SOUK_ASSIGN(auto host, web_host(text));
    features.push_back(fmt::format("{}:{}", word, host.host));
    out.push_back(std::move(host));
  }
  return out;
}

}  // namespace

Result<FetchRules> fetch_rules(const Lend& o, std::vector<std::string>& features) {
  FetchRules out;
  const bool any = !o.registries.empty() || o.build_environments || !o.fetch.empty();
  if (any && o.unsafe)
    return failed("--registry, --build-environments and --fetch need a sandbox",
                  "drop --unsafe-no-sandbox, or them");
  if (!o.indexes.empty() && !o.build_environments)
    return failed("--index means nothing by itself", "add --build-environments");
  if (std::max({o.registries.size(), o.indexes.size(), o.fetch.size()}) > kMostHosts)
    return failed("too many registries, indexes or hosts", fmt::format("{} at most", kMostHosts));
  for (const auto& text : o.registries) {
    SOUK_ASSIGN(auto registry, job::parse_registry(text));
    features.push_back(job::image_offer(registry));
    out.registries.push_back(std::move(registry));
  }
  SOUK_ASSIGN(out.hosts, hosts_of(o.fetch, job::kFetch, features));
  if (!o.build_environments) return out;
  const auto indexes = o.indexes.empty() ? std::vector<std::string>{kPyPi} : o.indexes;
  SOUK_ASSIGN(out.indexes, hosts_of(indexes, job::kIndex, features));
  return out;
}

}  // namespace souk::cli
