#include "job/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "job/batch/batch.h"
#include "job/train/training_file.h"
#include "job/train/training_pack.h"
#include "job/train/training_work.h"

namespace souk::job {
std::span<const Kind> kinds() {
  static const std::array rows{
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
  };
  return rows;
}

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
