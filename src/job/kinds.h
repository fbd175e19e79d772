#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/job_file.h"
#include "job/packing.h"
#include "market/types.h"
#include "wire/api/batch.h"
#include "wire/api/job.h"

// The kinds of jobs. All that differs between two kinds is a row of the table in kinds.cc, whose
// functions are in the folder src/job/<kind>/. Nobody else compares names of kinds: whoever must
// know asks the row. The market knows no kinds at all; it keeps the name and follows the terms.

namespace souk::job {

// What a job does, in two words and more for whoever is asked before it is submitted: "runs",
// "sort".
struct Intent {
  std::string verb, object;
};

// The functions are pure but for `pack`. A null function means: nothing beside what the program of
// every job (program.h) has.
struct Kind {
  std::string_view name;
  std::string_view summary;  // One sentence, for people.
  std::string_view example;  // A small job file.

  // How its workers are paid. A job that is paid by accepted work loses nothing with a worker, so
  // it may name several slot classes and move between them.
  market::Pay pay = market::Pay::time;
  // A hub gives out its work and says when it has ended; other jobs end when every part is done.
  // Its progress and its model can be shown, its time forecast, and a coach leads its program.
  bool trains = false;

  // Its work is done by trials: jobs of another kind, which are paid from its budget.
  bool sweeps = false;

  // Its workers are granted, started and ended together, in a network of their own.
  bool together = false;
  // Its program is there to be talked to, and ends when the job does: that it ends is a failure.
  bool serves = false;
  // Its owner talks to its program, and it ends when nobody does.
  bool attended = false;

  // The keys of its file beside the common ones.
  std::span<const std::string_view> keys;
  base::Result<> (*read)(const boost::json::object& file, const PathRules& rules, JobFile& out);
  // Puts what its file names beside the working folder and the inputs into the store, and into the
  // job's work.
  base::Result<> (*pack)(JobFile& file, Packer& packer) = nullptr;
  // Requires file.job.batch, and that it is packed.
  Intent (*describe)(const JobFile& file);

  // May a job with this work be submitted?
  base::Result<> (*check)(const wire::NewJob& job);
  // What its work demands of machines: names of packages.h.
  std::vector<std::string_view> (*demands)(const wire::Batch& work) = nullptr;
  // Folders that its work names.
  std::vector<std::string> (*blobs)(const wire::Batch& work) = nullptr;

  [[nodiscard]] bool may_move() const { return pay == market::Pay::work; }
};

// The first is the kind of a job that names none.
[[nodiscard]] std::span<const Kind> kinds();

// Null: there is none of that name here; a newer server may know it.
[[nodiscard]] const Kind* find_kind(std::string_view name);
// The same, or an error of the field `kind` that lists the kinds.
[[nodiscard]] base::Result<const Kind*> kind_named(std::string_view name);
// False for a kind that is not known here.
[[nodiscard]] bool trains(std::string_view kind);

// "batch or train", of the kinds that `matches` is true for; for hints and help.
[[nodiscard]] std::string kind_names(bool (*matches)(const Kind& kind) = nullptr);

}  // namespace souk::job
