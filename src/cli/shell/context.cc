#include "cli/shell/context.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/clock.h"

namespace souk::cli {

base::Time Context::now() const { return base::SystemClock().now(); }

void Context::print(std::string_view text) const { print_raw(printable_lines(text)); }

void Context::print_raw(std::string_view text) const {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Context::note(std::string_view line) const {
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", printable_lines(line));
}

Result<const Target*> Context::target() {
  if (!target_) {
    // Scripts may run without a home: then there is just no file.
    Config config;
    if (const auto path = config_path(env_)) {
      SOUK_ASSIGN(config, load_config(*path));
      if (readable_by_others(*path))
        note(fmt::format("souk: others can read {}: chmod 600 it", *path));
    }
    SOUK_ASSIGN(target_, resolve(globals_, env_, config));
    if (!target_->encrypted() && !target_->loopback())
      note(fmt::format("souk: warning: {} is not encrypted: others on the way can read your token",
                       target_->server));
  }
  return &*target_;
}

Result<Api*> Context::api() {
  if (!api_) {
    SOUK_ASSIGN(const auto* where, target());
    SOUK_ASSIGN(auto made, Api::connect(*where));
    api_ = std::make_unique<Api>(std::move(made));
  }
  return api_.get();
}

Result<> Context::remember(const std::function<void(KnownServer&, Config&)>& edit) {
  SOUK_ASSIGN(const auto* where, target());
  SOUK_ASSIGN(const auto path, config_path(env_));
  SOUK_ASSIGN(auto config, load_config(path));
  edit(config.servers[where->server], config);
  SOUK_TRY(save_config(path, config));
  return {};
}

Result<bool> Context::has_stored_token() {
  SOUK_ASSIGN(const auto* where, target());
  const auto path = config_path(env_);
  if (!path) return false;
  SOUK_ASSIGN(const auto config, load_config(*path));
  const auto it = config.servers.find(where->server);
  return it != config.servers.end() && it->second.token.has_value();
}

Result<> Context::print_json(std::string_view body) const {
  const auto text = std::string(body) + (body.ends_with('\n') ? "" : "\n");
  if (out_.tty)
    print(text);
  else
    print_raw(text);  // For programs: not a byte may differ.
  return {};
}

Result<> Context::done(std::string_view body, std::string_view line) {
  if (json()) return print_json(body);
  print(std::string(line) + "\n");
  return {};
}

void report(const base::Error& error, const Terminal& terminal) {
  std::fflush(stdout);
  auto message = printable(error.message);
  if (!error.field.empty() && message.find(error.field) == std::string::npos)
    message += fmt::format(" (in '{}')", printable(error.field));
  fmt::print(stderr, "{} {}\n", paint("souk:", Tone::bad, terminal), message);
  if (!error.hint.empty()) fmt::print(stderr, "  hint: {}\n", printable(error.hint));
}

}  // namespace souk::cli
