#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "journal/records/records.h"
#include "server/lab/lab_run.h"

namespace souk::server {

// Experiments in the records beside the journal, so that a restart of the server loses none: what a
// run is, and what came of it, written before the first says that it is done. As JSON.
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

  // Null: nothing is kept. Outlives it.
  explicit LabStore(journal::Records* records) : records_(records) {}

  // Puts the files of an earlier version into the records, and removes them: "r7.json" said what a
  // run is, "r7.result.json" what came of it.
  void take_over(const std::string& folder) const;

  // All there are, by their ids. One that cannot be read is left as it is, and the log names it.
  [[nodiscard]] std::vector<Record> load() const;
  // At least as large as the id of every run that is kept, readable or not.
  [[nodiscard]] std::uint64_t last_id() const;

  [[nodiscard]] Result<> save(const Record& record) const;
  [[nodiscard]] Result<> save_result(wire::LabRunId id, const LabResult& result) const;
  [[nodiscard]] Result<LabResult> result(wire::LabRunId id) const;
  [[nodiscard]] std::size_t result_bytes(wire::LabRunId id) const;
  void remove(wire::LabRunId id) const;

 private:
  [[nodiscard]] Result<> put(const journal::RecordKind& kind, wire::LabRunId id,
                             std::string bytes) const;

  journal::Records* const records_;
};

}  // namespace souk::server
