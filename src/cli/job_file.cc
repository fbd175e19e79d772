#include "cli/job_file.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "cli/values.h"
#include "wire/yaml.h"

namespace souk::cli {
namespace {

using wire::AnyJson;

struct FileResources {
  std::optional<AnyJson> cores;  // 2, or "2.." for at least two: which is what it means anyway.
  std::optional<std::string> memory;
  std::optional<AnyJson> gpus;
  std::optional<std::string> gpu_memory;
  SOUK_FIELDS(FileResources, cores, memory, gpus, gpu_memory)
};

struct FilePrice {
  std::optional<base::Credits> limit;
  std::optional<base::Credits> budget;
  SOUK_FIELDS(FilePrice, limit, budget)
};

// "data", or {path: data, folder: ../data}, {path: .., blob: ..}, {path: .., url: .., hash: ..}.
struct FileInput {
  std::optional<std::string> path;
  std::optional<std::string> folder;
  std::optional<std::string> file;
  std::optional<std::string> blob;
  std::optional<std::string> url;
  std::optional<std::string> hash;
  SOUK_FIELDS(FileInput, path, folder, file, blob, url, hash)
};

struct File {
  std::string name;
  std::string kind = "batch";
  std::optional<std::string> class_;
  std::optional<FileResources> resources;
  std::optional<AnyJson> workers;  // 2 or "1..4".
  FilePrice price;
  std::optional<std::string> deadline;
  std::int32_t priority = 0;
  wire::Constraints constraints;
  std::vector<std::string> packages;  // Short for constraints.packages.
  std::optional<AnyJson> run;         // As it is written: `run: true` is a command.
  std::optional<AnyJson> setup;
  std::optional<std::string> workdir;
  std::vector<AnyJson> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, AnyJson> env;  // Numbers too.
  std::optional<std::string> image;
  std::optional<wire::BatchCheckpoint> checkpoint;
  std::string network = "none";
  wire::Retry retry;
  static constexpr auto optional_fields = std::array<std::string_view, 7>{
      "name", "kind", "price", "priority", "constraints", "network", "retry"};
  SOUK_FIELDS(File, name, kind, class_, resources, workers, price, deadline, priority, constraints,
              packages, run, setup, workdir, inputs, outputs, env, image, checkpoint, network,
              retry)
};

base::Error at(base::Error error, std::string field) {
  error.message = field + ": " + error.message;
  error.field = std::move(field);
  return error;
}

// A scalar as it was written.
std::string plain(const AnyJson& json) {
  if (const auto text = wire::from_json<std::string>(json.text)) return *text;
  return json.text;
}

std::string_view at_least(std::string_view text) {
  if (text.ends_with("..")) text.remove_suffix(2);
  return text;
}

base::Result<std::int64_t> memory_of(const std::optional<std::string>& text, std::string field) {
  if (!text) return 0;
  auto memory = parse_memory(at_least(*text));
  if (!memory) return std::unexpected(at(std::move(memory).error(), std::move(field)));
  return memory->mib;
}

base::Result<std::int32_t> count_of(const std::optional<AnyJson>& json, std::int32_t otherwise,
                                    std::string field) {
  if (!json) return otherwise;
  std::int32_t out = 0;
  if (auto read = read_value(at_least(plain(*json)), out); !read)
    return std::unexpected(at(std::move(read).error(), std::move(field)));
  return out;
}

base::Result<LocalInput> input_of(const AnyJson& json, std::size_t i) {
  const auto field = fmt::format("inputs[{}]", i);
  FileInput in;
  if (const auto text = wire::from_json<std::string>(json.text)) {
    in.folder = *text;
  } else {
    auto read = wire::from_json<FileInput>(json.text);
    if (!read) return std::unexpected(at(std::move(read).error(), field));
    in = *std::move(read);
  }
  const auto given =
      in.folder.has_value() + in.file.has_value() + in.blob.has_value() + in.url.has_value();
  if (given != 1)
    return std::unexpected(at({base::Code::invalid, "an input comes from one place",
                               "give one of folder, file, blob and url"},
                              field));
  if (in.url.has_value() != in.hash.has_value())
    return std::unexpected(at({base::Code::invalid, "a URL and the hash of what it gives",
                               "give both url and hash (BLAKE2b-256 or SHA-256 in hex)"},
                              field));
  LocalInput out{.source = in.folder.value_or(in.file.value_or(in.url.value_or(""))),
                 .hash = in.hash.value_or(""),
                 .blob = in.blob.value_or("")};
  auto name = out.source;
  while (name.ends_with('/')) name.pop_back();
  name = std::filesystem::path(name.substr(0, name.find_first_of("?#"))).filename().string();
  out.path = in.path.value_or(name);
  if (out.path.empty() || out.path == "." || out.path == "..")
    return std::unexpected(at(
        {base::Code::invalid, "it has no name of its own", "say where it goes with path:"}, field));
  return out;
}

base::Result<> convert_batch(File& f, JobFile& out) {
  if (!f.run) {
    const std::initializer_list<std::pair<std::string_view, bool>> useless{
        {"setup", f.setup.has_value()},
        {"workdir", f.workdir.has_value()},
        {"inputs", !f.inputs.empty()},
        {"outputs", !f.outputs.empty()},
        {"env", !f.env.empty()},
        {"image", f.image.has_value()},
        {"checkpoint", f.checkpoint.has_value()}};
    for (const auto& [name, given] : useless)
      if (given)
        return std::unexpected(at({base::Code::invalid, "it means nothing without a command",
                                   "add run: with the command"},
                                  std::string(name)));
    return {};
  }
  wire::Batch batch{.run = plain(*f.run),
                    .setup = f.setup ? plain(*f.setup) : "",
                    .outputs = std::move(f.outputs),
                    .image = f.image,
                    .checkpoint = f.checkpoint,
                    .network = f.network,
                    .retry = f.retry};
  for (const auto& [name, value] : f.env) batch.env[name] = plain(value);
  for (std::size_t i = 0; i < f.inputs.size(); ++i) {
    SOUK_ASSIGN(auto input, input_of(f.inputs[i], i));
    out.inputs.push_back(std::move(input));
  }
  out.workdir = f.workdir;
  out.job.batch = std::move(batch);
  return {};
}

base::Result<JobFile> convert(File f, base::Time now) {
  JobFile out;
  auto& job = out.job;
  job = {.name = std::move(f.name), .kind = std::move(f.kind), .class_ = f.class_};
  if (f.resources) {
    const auto& r = *f.resources;
    job.resources.emplace();
    SOUK_ASSIGN(job.resources->cores, count_of(r.cores, 1, "resources.cores"));
    SOUK_ASSIGN(job.resources->memory_mib, memory_of(r.memory, "resources.memory"));
    SOUK_ASSIGN(job.resources->gpus, count_of(r.gpus, 0, "resources.gpus"));
    SOUK_ASSIGN(job.resources->gpu_memory_mib, memory_of(r.gpu_memory, "resources.gpu_memory"));
  }
  if (f.workers) {
    auto workers = parse_workers(plain(*f.workers));
    if (!workers) return std::unexpected(at(std::move(workers).error(), "workers"));
    job.workers = *workers;
  }
  if (f.deadline) {
    auto deadline = parse_when(*f.deadline, now);
    if (!deadline) return std::unexpected(at(std::move(deadline).error(), "deadline"));
    job.deadline = *deadline;
  }
  job.limit = f.price.limit;
  job.budget = f.price.budget.value_or(base::Credits());
  job.priority = f.priority;
  job.constraints = std::move(f.constraints);
  for (auto& package : f.packages) job.constraints.packages.push_back(std::move(package));
  SOUK_TRY(convert_batch(f, out));
  return out;
}

// Paths in a job file are relative to the file, not to where somebody happens to be.
std::string beside(const std::string& file, const std::string& path) {
  return (std::filesystem::path(file).parent_path() / path).string();
}

}  // namespace

base::Result<JobFile> read_job_file(std::string_view text, std::string_view file, base::Time now) {
  SOUK_ASSIGN(const auto document, wire::parse_yaml(text, file));
  const auto read = [&]() -> base::Result<JobFile> {
    SOUK_ASSIGN(auto described, wire::from_value<File>(document.value));
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

base::Result<JobFile> load_job_file(const std::string& path, base::Time now) {
  SOUK_ASSIGN(const auto text, wire::read_yaml_text(path));
  SOUK_ASSIGN(auto out, read_job_file(text, path, now));
  if (out.workdir) out.workdir = beside(path, *out.workdir);
  for (auto& input : out.inputs)
    if (!input.source.empty() && input.hash.empty()) input.source = beside(path, input.source);
  return out;
}

}  // namespace souk::cli
