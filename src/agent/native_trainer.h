#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/link.h"
#include "agent/trees.h"
#include "base/result.h"

// The built-in trainer, souk-torch, as a machine has it.

namespace souk::agent {

struct NativeTrainer {
  std::string path;     // Of the program or the folder; empty: there is none.
  bool folder = false;  // It brings its own libraries, C library and loader (scripts/package).

  // The words that start it when it is shown at `at`.
  [[nodiscard]] std::vector<std::string> command(const std::string& at) const;
  // The same as one program, for those who start it themselves. A folder's needs a shell.
  [[nodiscard]] std::string program(const std::string& at) const;
};

// What lies at a path that a person gave: a program, or a folder as it was unpacked, or the
// program in such a folder.
[[nodiscard]] NativeTrainer trainer_at(const std::string& path);

// A trainer that the market gives to lenders: GET /v1/agent/trainer.
struct OfferedTrainer {
  std::string sha256;      // 64 hex digits.
  std::int64_t bytes = 0;  // Of the archive.
};

// Fetches it into the file `path`, from where it stopped if some of it is there. `link` need not
// have a token. Waits and asks again a few times when the market is busy or the line breaks.
//   damaged       it is another one; nothing of it is kept
//   unavailable   it cannot be had now
//   conflict      give_up() said so
[[nodiscard]] base::Result<> fetch_trainer(const LinkOptions& link, const OfferedTrainer& wanted,
                                           const std::string& path,
                                           const std::function<bool()>& give_up);

struct KeptTrainer {
  Trees::Use use;
  NativeTrainer trainer;
};

// The offered trainer from `trees`, fetched first if it is not there; `before_fetching` is called
// then. Its archive is in `folder` only meanwhile.
[[nodiscard]] base::Result<KeptTrainer> get_trainer(Trees& trees, const LinkOptions& link,
                                                    const OfferedTrainer& wanted,
                                                    const std::string& folder,
                                                    const std::function<void()>& before_fetching,
                                                    const std::function<bool()>& give_up);

// The trainer that was unpacked last below this folder of trees, if there is one: for other
// programs than the agent, which may remove it.
[[nodiscard]] std::optional<NativeTrainer> find_kept_trainer(const std::string& trees);

}  // namespace souk::agent
