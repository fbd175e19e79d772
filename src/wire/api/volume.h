#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"

// Folders of an account's that outlive the jobs that use them.

namespace souk::wire {

// What is in a volume of a lease's job from now on.
struct VolumeSave {
  std::int32_t epoch = 0;
  std::string name;
  std::string blob;
  SOUK_FIELDS(VolumeSave, epoch, name, blob)
};

struct VolumeRow {
  std::string name;
  std::string blob;
  base::Time saved;
  base::JobId job;                    // That changed it last.
  std::optional<base::JobId> in_use;  // By a live job.
  SOUK_FIELDS(VolumeRow, name, blob, saved, job, in_use)
};

struct VolumeList {
  std::vector<VolumeRow> items;
  SOUK_FIELDS(VolumeList, items)
};

}  // namespace souk::wire
