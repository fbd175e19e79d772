#include "cli/shell/config.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/text.h"
#include "server/http/version.h"
#include "wire/json.h"
#include "wire/yaml.h"

namespace souk::cli {
namespace {

namespace fs = std::filesystem;
using base::Code;

std::string host_of(std::string_view url) {
  url.remove_prefix(url.find("://") + 3);
  url = url.substr(0, url.find('/'));
  if (url.starts_with('[')) return std::string(url.substr(0, url.find(']') + 1));
  return std::string(url.substr(0, url.find(':')));
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

base::Failure disk(std::string_view what, const std::string& path) {
  return base::fail(Code::internal,
                    fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

// JSON texts are YAML texts too, so any value is quoted right.
void write_entry(std::string& out, std::string_view indent, std::string_view key,
                 const std::optional<std::string>& value) {
  if (value) out += fmt::format("{}{}: {}\n", indent, key, wire::to_json(*value));
}

std::string to_yaml(const Config& config) {
  std::string out = "# Written by souk. It holds tokens: keep it to yourself.\n";
  write_entry(out, "", "server", config.server);
  if (!config.servers.empty()) out += "servers:\n";
  for (const auto& [url, known] : config.servers) {
    out += fmt::format("  {}:", wire::to_json(url));
    std::string entries;
    write_entry(entries, "    ", "account", known.account);
    write_entry(entries, "    ", "token", known.token);
    write_entry(entries, "    ", "pin", known.pin);
    write_entry(entries, "    ", "ca", known.ca);
    out += entries.empty() ? " {}\n" : "\n" + entries;
  }
  return out;
}

base::Result<> write_private(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return disk("write", path);
  const bool good = fchmod(fd, 0600) == 0 &&  // Also when it was there, with other rights.
                    write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                    fsync(fd) == 0;
  if (close(fd) != 0 || !good) return disk("write", path);
  return {};
}

}  // namespace

std::string cache_folder(const Environment& env) {
  const auto home = env("HOME").value_or("/tmp") + "/.cache";
  return env("XDG_CACHE_HOME").value_or(home) + "/souk";
}

std::string usual_lending_folder(const Environment& env) { return cache_folder(env) + "/lend"; }

std::string trees_folder(const std::string& lending_folder) { return lending_folder + "/trees"; }

std::string own_program() {
  constexpr auto exe = "/proc/self/exe";  // Also right when its file was replaced.
  std::error_code error;
  const auto file = fs::read_symlink(exe, error);
  if (!file.filename().string().starts_with("ld-linux")) return exe;
  return (file.parent_path().parent_path() / "bin/souk").string();
}

namespace {

// The first that exists, of what the variable says or of paths relative to this program.
std::string find_beside(const Environment& env, const char* variable,
                        std::initializer_list<const char*> relative) {
  if (const auto given = env(variable); given && !given->empty()) return *given;
  std::error_code error;
  const auto folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto* path : relative)
    if (fs::exists(folder / path, error)) return fs::canonical(folder / path, error).string();
  return {};
}

base::Result<std::string> need(std::string found, std::string_view what,
                               std::string_view variable) {
  if (!found.empty()) return found;
  return base::fail(Code::not_found, fmt::format("the {} was not found beside this program", what),
                    fmt::format("set {} to its folder", variable));
}

}  // namespace

std::string torch_trainer(const Environment& env) {
  return find_beside(env, "SOUK_TORCH", {"souk-torch"});
}

std::string agent_bundle(const Environment& env) {
  const auto name = fmt::format("souk-{}-linux-x86_64.tar.gz", server::kVersion);
  const auto shared = "../share/souk/" + name, built = "../../package/" + name;
  auto found = find_beside(env, "SOUK_BUNDLE", {name.c_str(), shared.c_str(), built.c_str()});
  return found == "none" ? std::string() : found;
}

std::string trainer_archive(const Environment& env) {
  const auto name = fmt::format("souk-torch-{}-linux-x86_64.tar.zst", server::kVersion);
  const auto shared = "../share/souk/" + name, built = "../../package/" + name;
  auto found = find_beside(env, "SOUK_TRAINER", {name.c_str(), shared.c_str(), built.c_str()});
  return found == "none" ? std::string() : found;
}

base::Result<std::string> sdk_folder(const Environment& env) {
  return need(find_beside(env, "SOUK_SDK", {"../share/souk/python", "../../../sdk/python/src"}),
              "Python package", "SOUK_SDK");
}

base::Result<std::string> examples_folder(const Environment& env) {
  return need(find_beside(env, "SOUK_EXAMPLES", {"../share/souk/examples", "../../../examples"}),
              "folder of examples", "SOUK_EXAMPLES");
}

base::Result<std::string> config_path(const Environment& env) {
  if (const auto folder = env("XDG_CONFIG_HOME")) return *folder + "/souk/config.yaml";
  if (const auto home = env("HOME")) return *home + "/.config/souk/config.yaml";
  return base::fail(Code::invalid, "there is no home folder for the config file",
                    "set HOME or XDG_CONFIG_HOME");
}

base::Result<Config> load_config(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return Config{};
  SOUK_ASSIGN(const auto text, wire::read_yaml_text(path));
  if (base::trim(text).empty()) return Config{};
  SOUK_ASSIGN(auto read, wire::from_yaml<Config>(text, path));
  return read;
}

base::Result<> save_config(const std::string& path, const Config& config) {
  const auto folder = fs::path(path).parent_path();
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return disk("make", folder.string());
  if (chmod(folder.c_str(), 0700) != 0) return disk("protect", folder.string());
  const auto fresh = fmt::format("{}.{}", path, getpid());
  SOUK_TRY(write_private(fresh, to_yaml(config)));
  if (rename(fresh.c_str(), path.c_str()) != 0) return disk("replace", path);
  return {};
}

bool readable_by_others(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && (info.st_mode & 077) != 0;
}

base::Result<std::string> normal_url(std::string_view given) {
  std::string url(base::trim(given));
  const auto bad = [&](std::string hint) {
    return base::fail(Code::invalid,
                      fmt::format("'{}' is not the address of a server", printable(given)),
                      std::move(hint));
  };
  constexpr auto kHint = "write for example http://127.0.0.1:7070 or https://market.example";
  if (url.empty()) return bad(kHint);
  if (url.find("://") == std::string::npos)
    url = (is_loopback(host_of("x://" + url)) ? "http://" : "https://") + url;
  if (!url.starts_with("http://") && !url.starts_with("https://")) return bad(kHint);
  if (host_of(url).empty()) return bad(kHint);
  while (url.ends_with('/')) url.pop_back();
  if (url.find('@') != std::string::npos) return bad("leave the user out: `souk login` knows it");
  return url;
}

bool Target::loopback() const { return is_loopback(host_of(server)); }

base::Result<Target> resolve(const Globals& globals, const Environment& env, const Config& config) {
  const auto first = [](const std::optional<std::string>& flag, std::optional<std::string> variable,
                        const std::optional<std::string>& file) {
    return flag ? *flag : variable ? *variable : file.value_or("");
  };
  Target out;
  const auto server = first(globals.server, env("SOUK_SERVER"), config.server);
  SOUK_ASSIGN(out.server, normal_url(server.empty() ? kDefaultServer : server));
  const auto it = config.servers.find(out.server);
  const auto known = it == config.servers.end() ? KnownServer{} : it->second;
  out.token = first({}, env("SOUK_TOKEN"), known.token);
  // A name belongs to the token it was stored with.
  if (!env("SOUK_TOKEN")) out.account = known.account.value_or("");
  out.pin = first(globals.pin, env("SOUK_PIN"), known.pin);
  out.ca = first(globals.ca, env("SOUK_CA"), known.ca);
  return out;
}

}  // namespace souk::cli
