#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

// A scratch on a disk, for jobs that ask for more than memory holds (docs/decisions/0042).

namespace souk::agent {

// One of two: a file system in a file, which root can mount and the kernel bounds; or a plain
// folder that is watched (lease_watch.h) and goes with this.
struct DiskScratch {
  DiskScratch() = default;
  DiskScratch(DiskScratch&& other) noexcept { swap(other); }
  DiskScratch& operator=(DiskScratch&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DiskScratch();

  base::Fd loop;       // Keeps the device until it is mounted; then the mount does.
  std::string device;  // "/dev/loop3".
  std::string folder;

 private:
  void swap(DiskScratch& other) noexcept {
    std::swap(loop, other.loop);
    device.swap(other.device);
    folder.swap(other.folder);
  }
};

// In `place`, a folder of the owner's. What a killed agent leaves is only ever a plain folder: the
// file of a file system has no name any more once this returns.
base::Result<DiskScratch> make_disk_scratch(const std::string& place, std::int64_t bytes,
                                            bool mountable);

// Which of the two there will be, in a sentence for the owner.
std::string disk_scratch_text();

// Removes folders in `place` whose agents no longer exist.
void sweep_disk_scratch(const std::string& place);

// The room that the files below `folder` take. No more than a million are looked at: more count as
// if there were no end to them.
std::int64_t folder_bytes(const std::string& folder);

// The room of files on the same disk that have no name any more, and that these processes have
// open.
std::int64_t unlinked_bytes(const std::string& folder, const std::vector<pid_t>& processes);

}  // namespace souk::agent
