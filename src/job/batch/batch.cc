#include "job/batch/batch.h"

#include "job/file_keys.h"
#include "job/program.h"

namespace souk::job {

std::span<const std::string_view> batch_keys() { return wire::field_names<ProgramKeys>; }

base::Result<> read_batch(const boost::json::object& file, const PathRules& rules, JobFile& out) {
  SOUK_ASSIGN(auto keys, read_keys<ProgramKeys>(file));
  if (keys.run) return read_program(std::move(keys), rules, out);
  const std::initializer_list<std::pair<std::string_view, bool>> useless{
      {"setup", keys.setup.has_value()},
      {"workdir", keys.workdir.has_value()},
      {"inputs", !keys.inputs.empty()},
      {"outputs", !keys.outputs.empty()},
      {"env", !keys.env.empty()},
      {"image", keys.image.has_value()},
      {"checkpoint", keys.checkpoint.has_value()},
      {"scratch", keys.scratch.has_value()},
      {"environment", keys.environment.has_value()}};
  for (const auto& [name, given] : useless)
    if (given)
      return std::unexpected(at(
          {base::Code::invalid, "it means nothing without a command", "add run: with the command"},
          std::string(name)));
  return {};
}

Intent describe_batch(const JobFile& file) { return {"runs", file.job.batch->run.substr(0, 100)}; }

base::Result<> check_batch(const wire::NewJob& job) {
  if (!job.batch) return {};
  if (job.batch->train)
    return base::fail(base::Code::invalid, "a job of kind 'batch' with training",
                      "drop batch.train, or use kind train", "batch");
  return check_program(*job.batch);
}

}  // namespace souk::job
