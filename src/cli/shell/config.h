#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/fields.h"
#include "base/result.h"
#include "cli/shell/terminal.h"

namespace souk::cli {

inline constexpr const char* kDefaultServer = "http://127.0.0.1:7070";

// What the config file knows of one server.
struct KnownServer {
  std::optional<std::string> account;
  std::optional<std::string> token;  // A secret.
  std::optional<std::string> pin;
  std::optional<std::string> ca;
  SOUK_FIELDS(KnownServer, account, token, pin, ca)
};

// $XDG_CONFIG_HOME/souk/config.yaml, or ~/.config/souk/config.yaml. It holds tokens: the file is
// for its owner alone (0600), and so is its folder (0700).
struct Config {
  std::optional<std::string> server;  // The one to use when nothing else says.
  std::map<std::string, KnownServer> servers;
  SOUK_FIELDS(Config, server, servers)
};

// $XDG_CACHE_HOME/souk, or ~/.cache/souk: what may be deleted at any time.
std::string cache_folder(const Environment& env);

// What `souk lend` keeps, where no --folder says otherwise; and what it has unpacked, below that.
std::string usual_lending_folder(const Environment& env);
std::string trees_folder(const std::string& lending_folder);

// What starts this program again: its file, or in a bundle, which brings the loader that runs it,
// the script for it.
std::string own_program();

// What comes with souk beside its own program: next to it where it was built, below share/ and
// bin/ where it was installed; or where an environment variable says. Empty or an error when it is
// not there.
std::string torch_trainer(const Environment& env);  // SOUK_TORCH: the program souk-torch.
// SOUK_BUNDLE, which may be `none`: what `souk serve` gives to computers that have no souk.
std::string agent_bundle(const Environment& env);
// SOUK_TRAINER, which may be `none`: the trainer that it gives to lenders who have none.
std::string trainer_archive(const Environment& env);
base::Result<std::string> sdk_folder(const Environment& env);       // SOUK_SDK: the Python package.
base::Result<std::string> examples_folder(const Environment& env);  // SOUK_EXAMPLES
base::Result<std::string> config_path(const Environment& env);
// An absent file is an empty config. Unknown keys are errors with line and nearest key.
base::Result<Config> load_config(const std::string& path);
// Replaces the file whole, so that two at once cannot mix.
base::Result<> save_config(const std::string& path, const Config& config);
// Can anybody but the owner read the file?
bool readable_by_others(const std::string& path);

// What every client command takes on its command line. No secrets.
struct Globals {
  std::optional<std::string> server;
  std::optional<std::string> pin;
  std::optional<std::string> ca;
  bool json = false;
};

// Where to send requests, and as whom: flags before environment before file.
struct Target {
  std::string server;
  std::string token;  // Empty: nobody.
  std::string account;
  std::string pin;
  std::string ca;
  bool encrypted() const { return server.starts_with("https://"); }
  bool loopback() const;
};
base::Result<Target> resolve(const Globals& globals, const Environment& env, const Config& config);

// "http://host:port" without a slash at the end; a scheme is added where there is none: https, but
// http for this computer.
base::Result<std::string> normal_url(std::string_view url);

}  // namespace souk::cli
