#include "server/core/parsed_works.h"

#include "wire/json.h"

namespace souk::server {

std::shared_ptr<const wire::Batch> ParsedWorks::of(const market::Job& job) {
  if (job.work.empty()) return nullptr;
  if (const auto it = by_job_.find(job.id); it != by_job_.end()) {
    entries_.splice(entries_.end(), entries_, it->second);
    return it->second->batch;
  }
  ++parsed_;
  auto batch = wire::from_json<wire::Batch>(job.work);
  auto out = batch ? std::make_shared<const wire::Batch>(*std::move(batch)) : nullptr;
  by_job_[job.id] = entries_.insert(entries_.end(), Entry{job.id, job.work.size(), out});
  bytes_ += job.work.size();
  while (bytes_ > most_bytes_ && entries_.size() > 1) drop(entries_.begin());
  return out;
}

void ParsedWorks::forget(base::JobId job) {
  if (const auto it = by_job_.find(job); it != by_job_.end()) drop(it->second);
}

void ParsedWorks::drop(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_job_.erase(entry->job);
  entries_.erase(entry);
}

}  // namespace souk::server
