#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "wire/api/job.h"

// From the text of a job file to a job.

namespace souk::wire {

struct JobDraft {
  std::string yaml;                  // A job file (job/job_file.h).
  std::optional<std::string> files;  // The digest of the uploaded folder that its paths are in.
  SOUK_FIELDS(JobDraft, yaml, files)
};

struct PreparedJob {
  NewJob job;                      // Its files are on the server.
  std::vector<std::string> notes;  // What was chosen, and what to look out for.
  SOUK_FIELDS(PreparedJob, job, notes)
};

struct Sample {
  std::string name;
  std::string title;
  std::string description;
  std::string yaml;
  SOUK_FIELDS(Sample, name, title, description, yaml)
};

struct Samples {
  std::vector<Sample> items;
  SOUK_FIELDS(Samples, items)
};

}  // namespace souk::wire
