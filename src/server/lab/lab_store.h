#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "server/lab/lab_run.h"

namespace souk::server {

// Experiments on disk, so that a restart of the server loses none: a file "r7.json" that says what
// a run is, and "r7.result.json" with what came of it, written before the first says that it is
// done.
//
// Whoever owns it bounds how many there are. Not thread-safe.
class LabStore {
 public:
  // What a run is, and how its requests are known when they are repeated.
  struct Record {
    base::AccountId owner;
    std::string key;                // Of the request that made it,
    std::uint64_t fingerprint = 0;  // and what that said.
    std::string cancelled_key;      // Of the request that cancelled it; empty: none did.
    LabRun run;                     // With its scenario, without what came of it.

    SOUK_FIELDS(Record, owner, key, fingerprint, cancelled_key, run)
  };

  // Below `folder`, which is made when there is something to keep; empty: nothing is kept.
  explicit LabStore(std::string folder) : folder_(std::move(folder)) {}

  // All there are, by their ids. A file that cannot be read is left as it is, and the log names it.
  [[nodiscard]] std::vector<Record> load() const;
  // At least as large as the id of every run that has a file, readable or not.
  [[nodiscard]] std::uint64_t last_id() const;

  [[nodiscard]] Result<> save(const Record& record) const;
  [[nodiscard]] Result<> save_result(wire::LabRunId id, const LabResult& result) const;
  [[nodiscard]] Result<LabResult> result(wire::LabRunId id) const;
  [[nodiscard]] std::size_t result_bytes(wire::LabRunId id) const;
  void remove(wire::LabRunId id) const;

 private:
  [[nodiscard]] std::string path(wire::LabRunId id, std::string_view end) const;
  [[nodiscard]] std::vector<wire::LabRunId> ids() const;
  [[nodiscard]] Result<> write(const std::string& path, std::string_view bytes) const;

  const std::string folder_;
};

}  // namespace souk::server
