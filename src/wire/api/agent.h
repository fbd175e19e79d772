#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fields.h"

namespace souk::wire {

// The built-in trainer, for a machine that lends and has none: GET /v1/agent/trainer.
struct AgentTrainer {
  std::string sha256;      // 64 hex digits.
  std::int64_t bytes = 0;  // Its size.
  SOUK_FIELDS(AgentTrainer, sha256, bytes)
};

// What a computer fetches that has no souk: GET /lend is a shell script, which fetches the bundle.
struct AgentBundle {
  bool available = false;  // Does this market have one?
  std::string version;     // Of souk in it.
  std::string sha256;      // Of the bundle, as in the script: 64 hex digits.
  std::int64_t bytes = 0;  // Its size.
  std::string public_url;  // Of the market, as its operator set it; empty: where it was found.
  std::optional<AgentTrainer> trainer;  // Absent: this market has none to give.
  SOUK_FIELDS(AgentBundle, available, version, sha256, bytes, public_url, trainer)
};

}  // namespace souk::wire
