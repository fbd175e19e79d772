#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "market/commands.h"
#include "market/state.h"
#include "wire/api/batch.h"
#include "wire/api/job.h"

// From the work of a job, as the API has it, to the terms that the market follows and to the tasks
// that agents carry out. The market keeps the work as text that it does not read. Pure.

namespace souk::job {

struct Kind;

// A command with all that follows from the job's kind alone: name, kind and pay. The kind is known,
// and may name as many classes as it does.
[[nodiscard]] base::Result<market::SubmitJob> command_for(const wire::NewJob& job);

// Checks the work, and adds it to the command with its retries and with what it demands of
// machines.
[[nodiscard]] base::Result<> add_work(const wire::NewJob& job, market::SubmitJob& command);

// What the work itself demands of machines: without it none could do it.
[[nodiscard]] std::vector<std::string> demands_of(std::string_view kind, const wire::Batch& work);

// The folders that a job's work names, which must be on the server while it lives.
[[nodiscard]] std::vector<std::string> blobs_of(std::string_view kind, const wire::Batch& work);

// The task of a lease whose job has this work.
[[nodiscard]] wire::BatchAssignment task_of(const market::State& s, const market::Lease& l,
                                            const wire::Batch& work);

// What an agent must do for a task is what its kind says. An error if the kind is not known here,
// as that of a newer server may be, or its work lacks what it needs.
[[nodiscard]] base::Result<const Kind*> kind_of(const wire::BatchAssignment& task);

}  // namespace souk::job
