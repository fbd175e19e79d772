#include "cli/job_file.h"

#include <array>

#include "cli/values.h"
#include "wire/yaml.h"

namespace souk::cli {
namespace {

struct FileResources {
  std::int32_t cores = 1;
  std::optional<std::string> memory;
  std::int32_t gpus = 0;
  std::optional<std::string> gpu_memory;
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"cores", "gpus"};
  SOUK_FIELDS(FileResources, cores, memory, gpus, gpu_memory)
};

struct FilePrice {
  std::optional<base::Credits> limit;
  std::optional<base::Credits> budget;
  SOUK_FIELDS(FilePrice, limit, budget)
};

struct JobFile {
  std::string name;
  std::string kind = "batch";
  std::optional<std::string> class_;
  std::optional<FileResources> resources;
  std::optional<wire::AnyJson> workers;  // 2 or "1..4".
  FilePrice price;
  std::optional<std::string> deadline;
  std::int32_t priority = 0;
  wire::Constraints constraints;
  static constexpr auto optional_fields =
      std::array<std::string_view, 5>{"name", "kind", "price", "priority", "constraints"};
  SOUK_FIELDS(JobFile, name, kind, class_, resources, workers, price, deadline, priority,
              constraints)
};

base::Error at(base::Error error, std::string field) {
  error.message = field + ": " + error.message;
  error.field = std::move(field);
  return error;
}

base::Result<std::int64_t> memory_of(const std::optional<std::string>& text, std::string field) {
  if (!text) return 0;
  auto memory = parse_memory(*text);
  if (!memory) return std::unexpected(at(std::move(memory).error(), std::move(field)));
  return memory->mib;
}

base::Result<wire::NewJob> convert(JobFile f, base::Time now) {
  wire::NewJob out{.name = std::move(f.name), .kind = std::move(f.kind), .class_ = f.class_};
  if (f.resources) {
    const auto& r = *f.resources;
    SOUK_ASSIGN(const auto memory, memory_of(r.memory, "resources.memory"));
    SOUK_ASSIGN(const auto gpu_memory, memory_of(r.gpu_memory, "resources.gpu_memory"));
    out.resources = wire::Resources{r.cores, memory, r.gpus, gpu_memory};
  }
  if (f.workers) {
    auto text = f.workers->text;
    std::erase(text, '"');
    auto workers = parse_workers(text);
    if (!workers) return std::unexpected(at(std::move(workers).error(), "workers"));
    out.workers = *workers;
  }
  if (f.deadline) {
    auto deadline = parse_when(*f.deadline, now);
    if (!deadline) return std::unexpected(at(std::move(deadline).error(), "deadline"));
    out.deadline = *deadline;
  }
  out.limit = f.price.limit;
  out.budget = f.price.budget.value_or(base::Credits());
  out.priority = f.priority;
  out.constraints = std::move(f.constraints);
  return out;
}

}  // namespace

base::Result<wire::NewJob> read_job_file(std::string_view text, std::string_view file,
                                         base::Time now) {
  SOUK_ASSIGN(const auto document, wire::parse_yaml(text, file));
  const auto read = [&]() -> base::Result<wire::NewJob> {
    SOUK_ASSIGN(auto described, wire::from_value<JobFile>(document.value));
    return convert(std::move(described), now);
  };
  auto out = read();
  if (!out) {
    auto error = wire::locate(std::move(out).error(), document, file);
    error.field.clear();  // The line says it better.
    return std::unexpected(std::move(error));
  }
  return out;
}

base::Result<wire::NewJob> load_job_file(const std::string& path, base::Time now) {
  SOUK_ASSIGN(const auto text, wire::read_yaml_text(path));
  return read_job_file(text, path, now);
}

}  // namespace souk::cli
