#include "cli/provide/kubeconfig.h"

#include <fmt/format.h>

#include <filesystem>

#include "wire/yaml.h"

namespace souk::cli {
namespace {

namespace json = boost::json;
using base::Code;

std::string text_in(const json::object& o, std::string_view key) {
  const auto* value = o.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

// The object `key` in the entry of `list` that has this name.
base::Result<json::object> named_entry(const json::object& root, std::string_view list,
                                       std::string_view key, const std::string& name,
                                       const std::string& path) {
  if (const auto* items = root.if_contains(list); items != nullptr && items->is_array())
    for (const auto& item : items->as_array()) {
      const auto* o = item.if_object();
      if (o == nullptr || text_in(*o, "name") != name) continue;
      if (const auto* found = o->if_contains(key); found != nullptr && found->is_object())
        return found->as_object();
    }
  return base::fail(Code::invalid, fmt::format("{}: no {} '{}'", path, key, name),
                    "name a context with --context");
}

base::Result<std::string> from_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    int digit = 0;
    if (c >= 'A' && c <= 'Z')
      digit = c - 'A';
    else if (c >= 'a' && c <= 'z')
      digit = c - 'a' + 26;
    else if (c >= '0' && c <= '9')
      digit = c - '0' + 52;
    else if (c == '+')
      digit = 62;
    else if (c == '/')
      digit = 63;
    else if (c == '=' || c == '\n')
      continue;
    else
      return base::fail(Code::invalid, "what should be base64 is not");
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 255);
    }
  }
  return out;
}

// NAME-data, or NAME, a file beside the kubeconfig.
base::Result<KubeSecret> secret(const json::object& o, const std::string& name,
                                const std::string& path) {
  KubeSecret out;
  if (const auto data = text_in(o, name + "-data"); !data.empty()) {
    auto decoded = from_base64(data);
    if (!decoded)
      return located(base::Result<KubeSecret>(std::unexpected(decoded.error())),
                     path + ": " + name);
    out.data = *std::move(decoded);
  } else if (const auto file = text_in(o, name); !file.empty()) {
    out.file = (std::filesystem::absolute(path).parent_path() / file).string();
  }
  return out;
}

}  // namespace

base::Result<Kubeconfig> read_kubeconfig(std::string_view text, const std::string& path,
                                         const std::string& context) {
  SOUK_ASSIGN(const auto document, wire::parse_yaml(text, path));
  if (!document.value.is_object()) return base::fail(Code::invalid, path + " is not a kubeconfig");
  const auto& root = document.value.as_object();
  const auto name = context.empty() ? text_in(root, "current-context") : context;
  SOUK_ASSIGN(const auto chosen, named_entry(root, "contexts", "context", name, path));
  SOUK_ASSIGN(const auto cluster,
              named_entry(root, "clusters", "cluster", text_in(chosen, "cluster"), path));
  SOUK_ASSIGN(const auto user, named_entry(root, "users", "user", text_in(chosen, "user"), path));
  Kubeconfig out{.server = text_in(cluster, "server"), .namespace_ = text_in(chosen, "namespace")};
  while (out.server.ends_with('/')) out.server.pop_back();
  if (!out.server.starts_with("https://") && !out.server.starts_with("http://127.0.0.1:"))
    return base::fail(Code::invalid,
                      fmt::format("{}: '{}' is not an https address", path, out.server));
  SOUK_ASSIGN(out.ca, secret(cluster, "certificate-authority", path));
  SOUK_ASSIGN(out.cert, secret(user, "client-certificate", path));
  SOUK_ASSIGN(out.key, secret(user, "client-key", path));
  out.token = {text_in(user, "tokenFile"), text_in(user, "token")};
  const bool has_cert = !out.cert.file.empty() || !out.cert.data.empty();
  const bool has_token = !out.token.file.empty() || !out.token.data.empty();
  if (!has_cert && !has_token)
    return base::fail(
        Code::invalid,
        fmt::format("{}: user '{}' has no token and no certificate", path, text_in(chosen, "user")),
        "make a service account and a token for it: docs/providers.md");
  return out;
}

}  // namespace souk::cli
