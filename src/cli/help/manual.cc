#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/help/completion.h"
#include "cli/help/man.h"
#include "cli/shell/build_info.h"
#include "cli/shell/parse.h"
#include "server/http/version.h"

// What this program says of itself: version, completion, man.

namespace souk::cli {
namespace {

Result<> print_completion(const Context& c, const std::string& shell) {
  Globals globals;
  const auto script = completion_script(shell, root_command(), global_options(globals));
  if (script.empty())
    return usage(fmt::format("there is no completion for '{}'", printable(shell)),
                 base::suggest(shell, kShells));
  c.print_raw(script);
  return {};
}

Result<> write_pages(const std::vector<ManPage>& pages, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const auto& page : pages) {
    const auto path = folder + "/" + page.file;
    std::ofstream out(path, std::ios::trunc);
    out << page.text;
    out.close();
    if (!out) return failed(fmt::format("cannot write {}", path), "choose another --out");
  }
  return {};
}

Result<> print_manual(const Context& c, const std::string& command, const std::string& folder) {
  Globals globals;
  const auto pages = man_pages(root_command(), global_options(globals), server::kVersion);
  if (!folder.empty()) return write_pages(pages, folder);
  const auto file = (command.empty() ? "souk" : "souk-" + command) + ".1";
  const auto page = std::ranges::find(pages, file, &ManPage::file);
  if (page == pages.end())
    return usage(fmt::format("there is no command '{}'", printable(command)),
                 "`souk --help` lists them");
  c.print_raw(page->text);
  return {};
}

}  // namespace

Command version_command() {
  Command out{.name = "version",
              .summary = "the version of this program",
              .examples = {"version", "version --json"}};
  out.common = Common::local;
  out.run = [](Context& c) -> Result<> {
    const auto [commit, build] = build_info();
    return c.done(
        fmt::format(R"({{"version":"{}","commit":"{}","build":"{}"}})", server::kVersion, commit,
                    build),
        fmt::format("souk {} ({}; {})", server::kVersion,
                    commit.empty() ? "no commit" : fmt::format("commit {}", commit), build));
  };
  return out;
}

Command completion_command() {
  auto shell = std::make_shared<std::string>();
  Command out{.name = "completion",
              .summary = "a script that completes commands in your shell",
              .examples = {"completion bash > ~/.local/share/bash-completion/completions/souk",
                           "completion zsh > ~/.zfunc/_souk",
                           "completion fish > ~/.config/fish/completions/souk.fish"},
              .options = {argument("SHELL", "bash, zsh or fish", *shell)}};
  out.common = Common::none;
  out.run = [shell](Context& c) { return print_completion(c, *shell); };
  return out;
}

Command man_command() {
  struct Options {
    std::string command, folder;
  };
  auto o = std::make_shared<Options>();
  Command out{
      .name = "man",
      .summary = "the manual, for `man -l -`",
      .examples = {"man lend | man -l -", "man --out ~/.local/share/man/man1"},
      .options = {optional(argument("COMMAND", "its page; default: souk's own", o->command)),
                  flag("--out FOLDER", "write all pages there", o->folder)}};
  out.common = Common::none;
  out.run = [o](Context& c) { return print_manual(c, o->command, o->folder); };
  return out;
}

}  // namespace souk::cli
