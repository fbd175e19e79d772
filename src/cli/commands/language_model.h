#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/shell/context.h"
#include "wire/api/job.h"

// Trainings of language models (trainer: transformers): what the Python package does for them here.

namespace souk::cli {

// Fetches an input of a job into a folder of the cache, once. Empty: the job has no such input.
Result<std::string> input_folder(Context& c, const wire::Job& job, std::string_view path);

// Makes of the results in `folder` what PEFT or transformers load, and says what that is. Needs
// Python, but no packages.
Result<std::string> export_language_model(Context& c, const wire::Job& job,
                                          const std::string& folder);

// The words that run `python3 -m souk.transformers predict` on the results in `folder`.
Result<std::vector<std::string>> predict_words(Context& c, const wire::Job& job,
                                               const std::string& folder);

}  // namespace souk::cli
