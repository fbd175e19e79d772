#pragma once

#include <string>

#include "cli/shell/context.h"
#include "wire/api/choices.h"

// What there is to choose from, as people read it.

namespace souk::cli {

// Each with its summary, properties and parameters, one below the other.
void show_mechanisms(const Context& c, const wire::Mechanisms& mechanisms);
void show_training_choices(const Context& c, const wire::TrainingChoices& choices);

// "posted (price), k-double (kappa), mcafee": those that a market can run on, for --help.
std::string live_mechanisms_text(const wire::Mechanisms& mechanisms);

}  // namespace souk::cli
