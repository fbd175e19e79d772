#include "job/job_file.h"

#include "fuzz/target.h"
#include "job/train/training_file.h"
#include "wire/json.h"
#include "wire/yaml.h"

// A job file in YAML: as the command line reads it, and as a server that prepares a job does.
// Accepted files make a request that the API's own reader accepts.

using namespace souk;

SOUK_FUZZ(job_file, .input_bytes = 4096, .malloc_mb = 8) {
  const auto document = wire::parse_yaml(input, "job.yaml");
  const job::PathRules rules{
      .place = [](const std::string& path) { return base::Result<std::string>("/srv/" + path); },
      .allow_url = [](const std::string&) { return base::Result<>(); }};
  const auto file = job::read_job_file(input, "job.yaml", base::Time(1'767'571'200'000'000), rules);
  if (!file) return;
  CHECK(document.has_value());
  const auto text = wire::to_json(file->job);
  const auto again = wire::from_json<wire::NewJob>(text);
  CHECK(again.has_value() && wire::to_json(*again) == text);
}
