#include "cli/lend/lend_trainer.h"

#include <fmt/format.h>

#include <csignal>

#include "agent/probe/command_output.h"
#include "base/text.h"
#include "cli/commands/upload.h"
#include "cli/shell/config.h"
#include "wire/api/agent.h"

namespace souk::cli {
namespace {

// What the machine's own trainer needs and the machine lacks; empty: nothing. Its libraries are
// hundreds, and loading them takes half a second of a core: the loader alone tells whether they are
// there.
std::string lacks(const agent::NativeTrainer& torch) {
  if (torch.path.empty()) return "souk-torch is not installed";
  if (torch.folder) return "";
  const auto tried = agent::run_command({"env", "LD_TRACE_LOADED_OBJECTS=1", torch.path},
                                        base::seconds(60), std::size_t{1} << 20);
  if (!tried || !tried->good()) return "souk-torch does not run here";
  for (const auto line : base::split(tried->out, '\n'))
    if (const auto at = line.find(" => not found"); at != std::string_view::npos)
      return fmt::format("souk-torch needs {}, which is not installed",
                         base::trim(line.substr(0, at)));
  return "";
}

// Signals wait while a machine gets ready.
bool is_to_end() {
  sigset_t pending;
  return sigpending(&pending) == 0 &&
         (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

// What the market has for lenders without a trainer. An older market says nothing of it.
std::optional<wire::AgentTrainer> trainer_of_market(Context& c) {
  const auto api = c.api();
  if (!api) return std::nullopt;
  const auto about = parsed<wire::AgentBundle>((*api)->get("/v1/agent"));
  return about ? about->trainer : std::nullopt;
}

Result<> fetch_for(Context& c, const wire::AgentTrainer& trainer, const std::string& folder,
                   agent::Workshop& shop) {
  SOUK_ASSIGN(const auto* market, c.target());
  const auto say = [&] {
    c.note(
        fmt::format("fetching the built-in trainer from the market ({}); --no-trainer refuses it",
                    base::bytes_text(static_cast<std::uint64_t>(trainer.bytes))));
  };
  auto got = agent::get_trainer(*shop.trees, link_to(*market), {trainer.sha256, trainer.bytes},
                                folder, say, is_to_end);
  if (!got) return std::unexpected(got.error());
  shop.torch = std::move(got->trainer);
  shop.torch_tree.emplace(std::move(got->use));
  return {};
}

}  // namespace

bool open_trainer(Context& c, const Lend& o, const std::string& arch, const std::string& folder,
                  agent::Workshop& shop) {
  shop.torch = agent::trainer_at(torch_trainer(c.env()));
  auto missing = lacks(shop.torch);
  if (missing.empty()) return true;
  shop.torch = {};
  const auto trainer = o.no_trainer || arch != "x86_64" ? std::nullopt : trainer_of_market(c);
  if (trainer) {
    const auto got = fetch_for(c, *trainer, folder, shop);
    if (got) return true;
    missing = "the market's trainer cannot be used: " + got.error().message;
  }
  c.note(fmt::format("built-in trainings cannot run here: {} (see docs/lending.md)", missing));
  return false;
}

}  // namespace souk::cli
