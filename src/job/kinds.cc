#include "job/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "job/batch/batch.h"
#include "job/gang/gang.h"
#include "job/service/service.h"
#include "job/session/session.h"
#include "job/sweep/sweep_file.h"
#include "job/sweep/sweep_work.h"
#include "job/train/training_file.h"
#include "job/train/training_pack.h"
#include "job/train/training_work.h"

namespace souk::job {
namespace {

const std::array kKinds{
    Kind{.name = "batch",
         .summary = "Each worker runs one program once; the job ends when all have.",
         .example = kBatchExample,
         .pay = market::Pay::time,
         .keys = batch_keys(),
         .read = read_batch,
         .describe = describe_batch,
         .check = check_batch},
    Kind{.name = "train",
         .summary =
             "Workers train one model on shards of data; it ends at its target or last epoch.",
         .example = kTrainingExample,
         .pay = market::Pay::work,
         .trains = true,
         .keys = training_keys(),
         .read = read_training,
         .pack = pack_training,
         .describe = describe_training,
         .check = check_training,
         .demands = training_demands,
         .blobs = training_blobs},
    Kind{.name = "sweep",
         .summary = "Tries settings of a training or of a program within one budget, and stops "
                    "what does badly.",
         .example = kSweepExample,
         .sweeps = true,
         .keys = sweep_keys(),
         .read = read_sweep,
         .pack = pack_sweep,
         .describe = describe_sweep,
         .check = check_sweep,
         .demands = sweep_demands,
         .blobs = sweep_blobs},
    Kind{.name = "gang",
         .summary = "All workers run at the same time and talk to each other; they begin and end "
                    "together.",
         .example = kGangExample,
         .together = true,
         .keys = gang_keys(),
         .read = read_gang,
         .describe = describe_gang,
         .check = check_gang,
         .demands = gang_demands},
    Kind{.name = "service",
         .summary = "A program that answers requests at an address of the market, on one to many "
                    "machines.",
         .example = kServiceExample,
         .serves = true,
         .keys = service_keys(),
         .read = read_service,
         .describe = describe_service,
         .check = check_service,
         .demands = service_demands},
    Kind{.name = "session",
         .summary = "A terminal, or a notebook, on a leased machine, until you leave it.",
         .example = kSessionExample,
         .attended = true,
         .keys = session_keys(),
         .read = read_session,
         .describe = describe_session,
         .check = check_session,
         .demands = port_demands},
};

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

const Kind* find_kind(std::string_view name) {
  const auto all = kinds();
  const auto it = std::ranges::find(all, name, &Kind::name);
  return it == all.end() ? nullptr : &*it;
}

base::Result<const Kind*> kind_named(std::string_view name) {
  if (const auto* kind = find_kind(name)) return kind;
  return base::fail(base::Code::invalid,
                    fmt::format("'{}' is not a kind of job", name.substr(0, 80)),
                    fmt::format("use {}", kind_names()), "kind");
}

bool trains(std::string_view kind) {
  const auto* const known = find_kind(kind);
  return known != nullptr && known->trains;
}

std::string kind_names(bool (*matches)(const Kind& kind)) {
  std::vector<std::string_view> names;
  for (const auto& kind : kinds())
    if (matches == nullptr || matches(kind)) names.push_back(kind.name);
  std::string out(names.front());
  for (std::size_t i = 1; i < names.size(); ++i)
    out += fmt::format("{}{}", i + 1 == names.size() ? " or " : ", ", names[i]);
  return out;
}

}  // namespace souk::job
