#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/time.h"
#include "lab/worlds/external.h"
#include "market/types.h"

namespace souk::server {

// The operator's own programs that clear classes (market::kExternal). For the core thread, which
// waits for each answer as long as the class's timeout_ms says, for the first one of a process
// kStartMs more, and no longer; so the market waits with it.
class Programs {
 public:
  static constexpr int kStartMs = 1'000;

  // Only what lies in `folder` runs; empty: nothing does.
  explicit Programs(std::string folder) : folder_(std::move(folder)) {}

  // What clears this class now, if it is a program and it is there. Good until the next call for
  // the same class.
  [[nodiscard]] const mechanism::Mechanism* of(const market::SlotClass& slot_class, base::Time now);

 private:
  struct Running {
    std::map<std::string, std::string> params;
    std::unique_ptr<lab::External> program;  // Nothing where it cannot run.
    std::string complained;                  // What was logged last.
  };
  [[nodiscard]] std::unique_ptr<lab::External> start(
      const std::string& slot_class, const std::map<std::string, std::string>& params) const;

  const std::string folder_;
  std::map<market::ClassId, Running> running_;
};

}  // namespace souk::server
