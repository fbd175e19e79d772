#include "cli/provide/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "agent/probe/command_output.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "wire/json.h"

namespace souk::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kProgramTime = base::seconds(60);
constexpr std::size_t kProgramOutput = 8 << 20;

provider::RunProgram program_runner() {
  return [](const std::vector<std::string>& argv) -> base::Result<provider::ProgramOutput> {
    SOUK_ASSIGN(auto out, agent::run_command(argv, kProgramTime, kProgramOutput));
    if (out.truncated)
      return base::fail(base::Code::too_large, argv.front() + " said more than can be read");
    return provider::ProgramOutput{out.status, std::move(out.out), std::move(out.err),
                                   out.timed_out};
  };
}

struct ProviderRow {
  std::string_view name;
  bool (*has)(const PoolSettings&);
  Result<std::unique_ptr<provider::Provider>> (*make)(const Context&, const PoolSettings&,
                                                      const provider::MachineName&);
};

// The providers. Each is one file of src/provider and one of this folder.
const ProviderRow kProviders[] = {
    {"slurm", [](const PoolSettings& s) { return s.slurm.has_value(); },
     [](const Context&, const PoolSettings& s,
        const provider::MachineName& pool) -> Result<std::unique_ptr<provider::Provider>> {
       return std::make_unique<provider::Slurm>(*s.slurm, pool, program_runner());
     }},
    {"ec2", [](const PoolSettings& s) { return s.ec2.has_value(); },
     [](const Context& c, const PoolSettings& s,
        const provider::MachineName& pool) -> Result<std::unique_ptr<provider::Provider>> {
       static const base::SystemClock clock;
       SOUK_ASSIGN(auto key, net::aws_key(c.env()));
       return std::make_unique<provider::Ec2>(*s.ec2, pool, std::move(key), clock);
     }},
    {"kubernetes", [](const PoolSettings& s) { return s.kubernetes.has_value(); },
     [](const Context&, const PoolSettings& s,
        const provider::MachineName& pool) -> Result<std::unique_ptr<provider::Provider>> {
       return std::make_unique<provider::Kubernetes>(*s.kubernetes, pool);
     }},
};

const ProviderRow* row_of(const PoolSettings& settings) {
  const auto* it =
      std::ranges::find_if(kProviders, [&](const ProviderRow& r) { return r.has(settings); });
  return it == std::end(kProviders) ? nullptr : it;
}

}  // namespace

std::string provider_name(const PoolSettings& settings) {
  const auto* row = row_of(settings);
  return row == nullptr ? "unknown" : std::string(row->name);
}

Result<std::unique_ptr<provider::Provider>> make_provider(const Context& c,
                                                          const PoolSettings& settings) {
  const auto* row = row_of(settings);
  if (row == nullptr)
    return failed(
        fmt::format("pool {} is of a provider that this souk does not know", settings.pool),
        "use the souk that started it");
  return row->make(c, settings, {settings.owner, settings.pool, ""});
}

Result<std::string> pools_folder(const Context& c, const std::string& given) {
  if (!given.empty()) return fs::absolute(given).string();
  if (const auto state = c.env()("XDG_STATE_HOME")) return *state + "/souk/provide";
  if (const auto home = c.env()("HOME")) return *home + "/.local/state/souk/provide";
  return failed("there is no home folder to keep the journal in", "give one with --state");
}

std::vector<std::string> pools_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (fs::exists(entry.path() / "intents.log", error)) out.push_back(entry.path().filename());
  std::ranges::sort(out);
  return out;
}

std::string owner_tag(const std::string& account, const std::string& server) {
  const auto hash = base::short_hash(account + "\n" + server);
  return fmt::format("{}-{:08x}", provider::clean_name(account).substr(0, 30), hash & 0xffffffff);
}

std::string stop_file(const std::string& pool_folder) { return pool_folder + "/stop"; }

bool stop_wanted(const std::string& pool_folder) {
  std::error_code error;
  return fs::exists(stop_file(pool_folder), error);
}

}  // namespace souk::cli
