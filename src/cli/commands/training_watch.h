#pragma once

#include <optional>

#include "cli/shell/context.h"
#include "cli/shell/progress.h"
#include "wire/api/job.h"

namespace souk::cli {

// Follows a training on the terminal: a line for each epoch, and a bar for the rest.
class TrainingWatch {
 public:
  Result<> step(Context& c, const wire::Job& job, std::optional<Progress>& progress);

 private:
  std::size_t told_ = 0;  // Rows.
};

}  // namespace souk::cli
