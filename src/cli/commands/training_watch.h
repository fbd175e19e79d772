#pragma once

#include <optional>
#include <string>

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
  bool missed_ = false;
};

// "fp32 (3 workers), int8 (1 worker)": what their updates travel in. Empty: nothing was sent.
std::string codecs_in_use(const wire::Training& training);

// What the last check measured: "rmse 12.3000, mae 9.1000". Empty: there was none.
std::string figures(const wire::Training& training);

// Empty, unless the target is of something that the trainer does not measure.
std::string unmeasured(const wire::Training& training);

// The same with the target, and whether others came to the same.
std::string measured(const wire::Training& training);

}  // namespace souk::cli
