#include "job/job_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "job/file_keys.h"
#include "job/kinds.h"
#include "job/packages.h"
#include "wire/spellings.h"
#include "wire/yaml.h"

namespace souk::job {
namespace {

// What each worker's GPUs must be, whatever class their lender chose for them.
struct GpuKeys {
  std::optional<wire::AnyJson> count;
  std::optional<std::string> memory;
  std::optional<std::string> model;
  SOUK_FIELDS(GpuKeys, count, memory, model)
};

struct ResourceKeys {
  // 2, or "2.." for at least two: which is what it means anyway.
  std::optional<wire::AnyJson> cores;
  std::optional<std::string> memory;
  std::optional<wire::AnyJson> gpus;
  std::optional<std::string> gpu_memory;
  std::optional<GpuKeys> gpu;
  SOUK_FIELDS(ResourceKeys, cores, memory, gpus, gpu_memory, gpu)
};

struct PriceKeys {
  std::optional<base::Credits> limit;
  std::optional<base::Credits> budget;
  std::optional<base::Credits> request;  // Of a service.
  SOUK_FIELDS(PriceKeys, limit, budget, request)
};

// The keys that a file of any kind may have.
struct CommonKeys {
  std::string name;
  std::string kind;
  std::optional<wire::AnyJson> class_;  // "c1", or several: [c1, c4].
  std::optional<ResourceKeys> resources;
  std::optional<wire::AnyJson> workers;  // 2 or "1..4".
  PriceKeys price;
  std::optional<std::string> deadline;
  std::int32_t priority = 0;
  wire::Constraints constraints;
  std::vector<std::string> packages;  // Short for constraints.packages.
  static constexpr auto optional_fields =
      std::array<std::string_view, 5>{"name", "kind", "price", "priority", "constraints"};
  SOUK_FIELDS(CommonKeys, name, kind, class_, resources, workers, price, deadline, priority,
              constraints, packages)
};

std::string_view at_least(std::string_view text) {
  if (text.ends_with("..")) text.remove_suffix(2);
  return text;
}

base::Result<std::int64_t> memory_of(const std::optional<std::string>& text, std::string field) {
  if (!text) return 0;
  auto memory = wire::parse_memory(at_least(*text));
  if (!memory) return std::unexpected(at(std::move(memory).error(), std::move(field)));
  return memory->mib;
}

base::Result<std::int32_t> count_of(const std::optional<wire::AnyJson>& json,
                                    std::int32_t otherwise, std::string field) {
  if (!json) return otherwise;
  auto count = wire::parse_whole<std::int32_t>(at_least(plain(*json)));
  if (!count) return std::unexpected(at(std::move(count).error(), std::move(field)));
  return count;
}

base::Result<> read_classes(const wire::AnyJson& json, wire::NewJob& job) {
  auto names = one_or_several(json);
  if (names.empty())
    return std::unexpected(
        at({base::Code::invalid, "it is not a slot class",
            fmt::format("give a class, or for kind {} several: [c1, c4]",
                        kind_names([](const Kind& kind) { return kind.may_move(); }))},
           "class"));
  job.class_ = names.front();
  job.also_classes.assign(names.begin() + 1, names.end());
  return {};
}

base::Result<wire::Resources> read_resources(const ResourceKeys& keys) {
  wire::Resources out;
  SOUK_ASSIGN(out.cores, count_of(keys.cores, 1, "resources.cores"));
  SOUK_ASSIGN(out.memory_mib, memory_of(keys.memory, "resources.memory"));
  SOUK_ASSIGN(out.gpus, count_of(keys.gpus, 0, "resources.gpus"));
  SOUK_ASSIGN(out.gpu_memory_mib, memory_of(keys.gpu_memory, "resources.gpu_memory"));
  return out;
}

// Memory and model are demanded of the machine: one class may hold GPUs of many sizes.
base::Result<> read_gpu(const ResourceKeys& keys, wire::NewJob& job) {
  if (!keys.gpu) return {};
  if (keys.gpus || keys.gpu_memory)
    return std::unexpected(at({base::Code::invalid, "it says gpu, and gpus or gpu_memory as well",
                               "say all in gpu: {count: 1, memory: 40G, model: H200}"},
                              "resources.gpu"));
  SOUK_ASSIGN(job.resources->gpus, count_of(keys.gpu->count, 1, "resources.gpu.count"));
  SOUK_ASSIGN(const auto memory, memory_of(keys.gpu->memory, "resources.gpu.memory"));
  auto& demands = job.constraints.packages;
  if (memory > 0) demands.push_back(size_demanded(kGpuMemory, memory));
  if (!keys.gpu->model) return {};
  const auto words = model_words(*keys.gpu->model);
  if (words.empty())
    return std::unexpected(
        at({base::Code::invalid, "it names no model", "a part of its name: H200"},
           "resources.gpu.model"));
  demands.insert(demands.end(), words.begin(), words.end());
  return {};
}

base::Result<wire::NewJob> read_terms(CommonKeys keys, const Kind& kind, base::Time now) {
  wire::NewJob job{.name = std::move(keys.name), .kind = std::string(kind.name)};
  if (keys.class_) SOUK_TRY(read_classes(*keys.class_, job));
  if (keys.resources) {
    SOUK_ASSIGN(job.resources, read_resources(*keys.resources));
  }
  if (keys.workers) {
    auto workers = wire::parse_workers(plain(*keys.workers));
    if (!workers) return std::unexpected(at(std::move(workers).error(), "workers"));
    job.workers = *workers;
  }
  if (keys.deadline) {
    auto deadline = wire::parse_when(*keys.deadline, now);
    if (!deadline) return std::unexpected(at(std::move(deadline).error(), "deadline"));
    job.deadline = *deadline;
  }
  job.limit = keys.price.limit;
  job.budget = keys.price.budget.value_or(base::Credits());
  if (keys.price.request && !kind.serves)
    return std::unexpected(at(
        {base::Code::invalid, "only a service answers requests", "drop it, or use kind: service"},
        "price.request"));
  job.per_request = keys.price.request;
  job.priority = keys.priority;
  job.constraints = std::move(keys.constraints);
  for (auto& package : keys.packages) job.constraints.packages.push_back(std::move(package));
  if (keys.resources) SOUK_TRY(read_gpu(*keys.resources, job));
  return job;
}

base::Result<const Kind*> kind_of(const boost::json::object& file) {
  const auto* value = file.if_contains("kind");
  if (value == nullptr) return &kinds().front();
  constexpr wire::Path document;
  SOUK_ASSIGN(const auto name, wire::from_value<std::string>(*value, {&document, "kind"}));
  auto kind = kind_named(name);
  if (!kind) return std::unexpected(at(std::move(kind).error(), "kind"));
  return kind;
}

// Every key is a common one or one of its kind. Of another kind's it says so.
base::Result<> check_keys(const boost::json::object& file, const Kind& kind) {
  std::vector<std::string_view> known(kind.keys.begin(), kind.keys.end());
  std::ranges::copy(wire::field_names<CommonKeys>, std::back_inserter(known));
  for (const auto& member : file) {
    const std::string_view key(member.key().data(), member.key().size());
    if (std::ranges::find(known, key) != known.end()) continue;
    for (const auto& other : kinds())
      if (std::ranges::find(other.keys, key) != other.keys.end())
        return std::unexpected(
            at({base::Code::invalid, fmt::format("it belongs to jobs of kind {}", other.name),
                fmt::format("add kind: {}", other.name)},
               std::string(key)));
  }
  base::Error error;
  if (!wire::detail::refuse_unknown(file, {}, known, error))
    return std::unexpected(std::move(error));
  return {};
}

base::Result<JobFile> read_document(const boost::json::value& document, base::Time now,
                                    const PathRules& rules) {
  const auto* file = document.if_object();
  if (file == nullptr) return std::unexpected(wire::from_value<CommonKeys>(document).error());
  SOUK_ASSIGN(const auto* kind, kind_of(*file));
  SOUK_TRY(check_keys(*file, *kind));
  SOUK_ASSIGN(auto keys, read_keys<CommonKeys>(*file));
  JobFile out;
  SOUK_ASSIGN(out.job, read_terms(std::move(keys), *kind, now));
  SOUK_TRY(kind->read(*file, rules, out));
  return out;
}

}  // namespace

base::Result<JobFile> read_job_file(std::string_view text, std::string_view file, base::Time now,
                                    const PathRules& rules) {
  SOUK_ASSIGN(const auto document, wire::parse_yaml(text, file));
  auto out = read_document(document.value, now, rules);
  if (!out) {
    auto error = wire::locate(std::move(out).error(), document, file);
    error.field.clear();  // The line says it better.
    return std::unexpected(std::move(error));
  }
  return out;
}

base::Result<JobFile> load_job_file(const std::string& path, base::Time now) {
  SOUK_ASSIGN(const auto text, wire::read_yaml_text(path));
  // Not to where somebody happens to be.
  const auto folder = std::filesystem::path(path).parent_path();
  return read_job_file(text, path, now, {.place = [&](const std::string& relative) {
                         return base::Result<std::string>((folder / relative).string());
                       }});
}

}  // namespace souk::job
