#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

// Packages as machines list them ("numpy==1.24.2", or a bare name) and as jobs demand them
// ("numpy", "torch>=2.4", "python>=3.11,<3.12"). Names and versions are compared as Python's
// packaging does: Foo_Bar is foo-bar, 1.0 is 1.0.0, 2.10 comes after 2.9, and 2.4.0+cu124 is
// a 2.4.0. Used by the market, which matches machines, and by agents, which choose one of their
// environments. Pure; no text makes any of it fail.

namespace souk::base {

// Of "numpy==1.24.2" or "numpy>=1,<2": "numpy".
[[nodiscard]] std::string_view package_name(std::string_view text);
// Of a listed package: what follows "==", or nothing.
[[nodiscard]] std::string_view package_version(std::string_view listed);
// In lower case, with '-' for each run of '-', '_' and '.'.
[[nodiscard]] std::string normal_name(std::string_view name);
[[nodiscard]] bool same_package(std::string_view a, std::string_view b);

// Demands of a machine and not of what is installed on it: "@internet".
[[nodiscard]] inline bool is_feature(std::string_view demand) { return demand.starts_with('@'); }

// Does a machine that lists `listed` have this feature? One that ends with '/' covers all that is
// below it: "@image:docker.io/library/" has "@image:docker.io/library/python/".
[[nodiscard]] bool has_feature(std::span<const std::string> listed, std::string_view demand);

// What a list of demands asks for, for people: "the built-in trainer (@torch), packages numpy>=1".
[[nodiscard]] std::string in_words(std::span<const std::string> demands);

// Negative, 0 or positive: `a` is before, the same as, or after `b`. What is no version compares as
// text, after all versions.
[[nodiscard]] int compare_versions(std::string_view a, std::string_view b);

// Does the version of one package satisfy a demand for it? The names are not compared.
[[nodiscard]] bool version_meets(std::string_view version, std::string_view demand);

// Does whoever lists `installed` have what is demanded?
[[nodiscard]] bool has_package(std::span<const std::string> installed, std::string_view demand);
// Every one of the demands that are no features.
[[nodiscard]] bool has_packages(std::span<const std::string> installed,
                                std::span<const std::string> demands);

// Is it a name with or without versions, which could be met? ">=2.4" and "torch>=" could not.
[[nodiscard]] Result<> check_demand(std::string_view demand, std::string_view field);

}  // namespace souk::base
