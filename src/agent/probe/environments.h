#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/probe/probe.h"
#include "base/fields.h"
#include "base/result.h"

// Environments of Python that an owner lends beside the system's own (`souk lend --env`): a virtual
// environment, a prefix of conda, or a folder with bin/ or with packages. What they are and have is
// read from their files; nothing of them is run, and no file of them is believed to be small.

namespace souk::agent {

SOUK_ENUM(EnvironmentKind, venv, conda, folder)

struct LentEnvironment {
  std::string name;  // What the market and the owner call it.
  std::string path;  // Absolute.
  EnvironmentKind kind = EnvironmentKind::folder;
  std::string python;             // Its version; empty: it has none, and the system's is used.
  std::string cuda;               // Of its packages; empty: none.
  std::vector<Package> packages;  // By name, those of Python first.
  bool importable = false;        // The folder itself is one of packages (pip install --target).
  // Folders that programs must see where they are: itself, and a Python that it stands on which is
  // elsewhere, such as one of uv or pyenv below a home folder. The system's are not among them.
  std::vector<std::string> shown;
  SOUK_FIELDS(LentEnvironment, name, path, kind, python, cuda, packages, importable, shown)

  // As a market lists them: "python==3.12.3", "cuda==12.4", "torch==2.4.0". What no market would
  // take (long, or with other characters) is left out.
  [[nodiscard]] std::vector<std::string> listed() const;
};

// The environment at PATH, or NAME=PATH. An error says what is wrong with it and what to do:
// nothing that holds a home folder, or belongs to the system, is shown to strangers.
[[nodiscard]] base::Result<LentEnvironment> read_environment(std::string_view given);

// Where environments may be: what the variables VIRTUAL_ENV and CONDA_PREFIX name, the folders that
// people commonly use, and those below /opt. Only paths that are environments, each once.
struct EnvironmentPlaces {
  std::string virtual_env, conda_prefix, home, here;
  std::string opt = "/opt";
};
[[nodiscard]] std::vector<LentEnvironment> find_environments(const EnvironmentPlaces& places);

}  // namespace souk::agent
