#include "job/batch/batch.h"

#include "job/file_keys.h"
#include "job/image.h"
#include "job/program.h"

namespace souk::job {

std::span<const std::string_view> batch_keys() { return wire::field_names<ProgramKeys>; }

base::Result<> read_batch(const boost::json::object& file, const PathRules& rules, JobFile& out) {
  SOUK_ASSIGN(auto keys, read_keys<ProgramKeys>(file));
  // An image that is named by its digest may run its own program.
  if (keys.run || (keys.image && names_digest(*keys.image)))
    return read_program(std::move(keys), rules, out);
  const std::initializer_list<std::pair<std::string_view, bool>> useless{
      {"setup", keys.setup.has_value()},
      {"workdir", keys.workdir.has_value()},
      {"inputs", !keys.inputs.empty()},
      {"outputs", !keys.outputs.empty()},
      {"env", !keys.env.empty()},
      {"image", keys.image.has_value()},
      {"checkpoint", keys.checkpoint.has_value()},
      {"scratch", keys.scratch.has_value()},
      {"environment", keys.environment.has_value()},
      {"volumes", !keys.volumes.empty()}};
  for (const auto& [name, given] : useless)
    if (given)
      return std::unexpected(at(
          {base::Code::invalid, "it means nothing without a command", "add run: with the command"},
          std::string(name)));
  return {};
}

Intent describe_batch(const JobFile& file) {
  const auto& work = *file.job.batch;
  if (work.run.empty()) return {"runs", "the program of " + work.image->substr(0, 100)};
  return {"runs", work.run.substr(0, 100)};
}

base::Result<> check_batch(const wire::NewJob& job) {
  if (!job.batch) return {};
  if (job.batch->train)
    return base::fail(base::Code::invalid, "a job of kind 'batch' with training",
                      "drop batch.train, or use kind train", "batch");
  return check_program(*job.batch);
}

}  // namespace souk::job
