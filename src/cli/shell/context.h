#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "cli/shell/api.h"
#include "cli/shell/config.h"
#include "cli/shell/error.h"
#include "cli/shell/table.h"
#include "cli/shell/terminal.h"

namespace souk::cli {

// What a command has in its hands while it runs: the streams, the configuration and, once asked
// for, a connection. Results go to stdout, remarks to stderr, so that output can be piped.
class Context {
 public:
  Context(Globals globals, Environment env)
      : globals_(std::move(globals)),
        env_(std::move(env)),
        out_(terminal_of(1, env_)),
        err_(terminal_of(2, env_)) {}

  [[nodiscard]] bool json() const { return globals_.json; }
  [[nodiscard]] const Environment& env() const { return env_; }
  [[nodiscard]] const Terminal& out() const { return out_; }
  [[nodiscard]] const Terminal& err() const { return err_; }
  [[nodiscard]] base::Time now() const;

  // A whole text with its newline at the end, to stdout; made printable_lines(), as most of it is
  // from others.
  void print(std::string_view text) const;
  // The same as it is: for those who asked for it.
  void print_raw(std::string_view text) const;
  void print(const Table& table) const { print(table.render(out_)); }
  // One line to stderr, made printable_lines().
  void note(std::string_view line) const;

  // The connection; made at the first call.
  Result<Api*> api();
  // Where it goes. Reads the config file at the first call.
  Result<const Target*> target();

  // Changes the config file: `edit` gets the entry of the target's server, and the whole.
  Result<> remember(const std::function<void(KnownServer&, Config&)>& edit);
  // Is a token stored for the target's server? What the environment says does not count.
  Result<bool> has_stored_token();

  // With --json prints `body` as it came; else passes the T in it to `show`.
  template <class T, class Show>
  Result<> show(std::string_view body, Show&& show_it) {
    if (json()) return print_json(body);
    auto value = parse_body<T>(body);
    if (!value) return std::unexpected(std::move(value).error());
    show_it(*value);
    return {};
  }
  // For commands whose answer is all that matters: the line, or the body with --json.
  Result<> done(std::string_view body, std::string_view line);
  Result<> print_json(std::string_view body) const;

 private:
  Globals globals_;
  Environment env_;
  Terminal out_;
  Terminal err_;
  std::optional<Target> target_;
  std::unique_ptr<Api> api_;
};

// "souk: MESSAGE" and, below it, "  hint: ..." on stderr.
void report(const base::Error& error, const Terminal& terminal);

}  // namespace souk::cli
