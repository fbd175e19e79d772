#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/link.h"
#include "blob/folder.h"
#include "blob/store.h"
#include "cli/shell/context.h"
#include "job/job_file.h"

namespace souk::cli {

// The chunks this user has packed or fetched before: cache_folder()/blobs. What is in it
// need not be read or sent again.
Result<std::unique_ptr<blob::Store>> user_store(const Context& c);

// The same market, for transfers and agents.
agent::LinkOptions link_to(const Target& target);

// The files that a job brings along: first read and named, then, when all is agreed, sent.
class JobFiles {
 public:
  // Reads what the job file names, with progress, and writes the names into the job's batch. A job
  // without a batch has none.
  static Result<JobFiles> pack(Context& c, job::JobFile& job);

  [[nodiscard]] std::uint64_t bytes() const;
  // Of these, what the server lacks.
  Result<std::uint64_t> bytes_to_send(Context& c) const;
  // Sends that, with progress.
  Result<> send(Context& c) const;

 private:
  struct Item {
    std::string path;
    blob::Packed packed;
  };
  class Packer;
  std::unique_ptr<blob::Store> store_;
  std::vector<Item> items_;
};

}  // namespace souk::cli
