#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/shell/context.h"
#include "provider/ec2.h"
#include "provider/intents.h"
#include "provider/kubernetes.h"
#include "provider/slurm.h"

// Pools of machines on demand: where their journals lie, and which provider each has.

namespace souk::cli {

// What the journal keeps of a pool, so that it can be stopped by somebody who has no flags. It
// holds no secret: credentials come from where the provider's own tools have them.
struct PoolSettings {
  std::string owner;
  std::string pool;
  std::string server;
  std::optional<provider::SlurmSettings> slurm;
  std::optional<provider::Ec2Settings> ec2;
  std::optional<provider::KubernetesSettings> kubernetes;
  SOUK_FIELDS(PoolSettings, owner, pool, server, slurm, ec2, kubernetes)
};
std::string provider_name(const PoolSettings& settings);

Result<std::unique_ptr<provider::Provider>> make_provider(const Context& c,
                                                          const PoolSettings& settings);

// --state, or a folder below the user's state folder.
Result<std::string> pools_folder(const Context& c, const std::string& given);
// The names of the pools that have a journal, in order.
std::vector<std::string> pools_in(const std::string& folder);

// The account as machines carry it: its name, and a hash of name and market, as two markets may
// have an account of one name.
std::string owner_tag(const std::string& account, const std::string& server);

// Another process asks whoever provides for the pool to stop everything and end.
std::string stop_file(const std::string& pool_folder);
bool stop_wanted(const std::string& pool_folder);

}  // namespace souk::cli
