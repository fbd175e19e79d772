#pragma once

#include <string>

#include "cli/lend/lend.h"

// The built-in trainer of a machine that lends: its own, or one that the market gives.

namespace souk::cli {

// True: `shop` has one. False: it has none, and the user was told why. Where the machine lacks one,
// it is fetched from the market, if that has one for this machine and no flag refuses it, and kept
// in shop.trees.
[[nodiscard]] bool open_trainer(Context& c, const Lend& o, const std::string& arch,
                                const std::string& folder, agent::Workshop& shop);

}  // namespace souk::cli
