#include "job/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "job/environment.h"
#include "job/image.h"
#include "job/packages.h"
#include "job/web_input.h"
#include "wire/spellings.h"

namespace souk::job {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kPathMax = 1'000;
constexpr std::size_t kPaths = 64;
constexpr std::size_t kVariables = 256;
constexpr std::int64_t kMostScratchMib = std::int64_t{16} << 20;
constexpr auto kShortestCheckpoint = base::seconds(1);

// "data", or {path: data, folder: ../data}, {path: .., blob: ..}, {path: .., url: .., hash: ..},
// the last with `fetch: lender` or without.
struct FileInput {
  std::optional<std::string> path;
  std::optional<std::string> folder;
  std::optional<std::string> file;
  std::optional<std::string> blob;
  std::optional<std::string> url;
  std::optional<std::string> hash;
  std::optional<std::string> fetch;  // "lender"
  SOUK_FIELDS(FileInput, path, folder, file, blob, url, hash, fetch)
};

// Who fetches it, if not the borrower.
base::Result<> check_fetch(const FileInput& in, const std::string& field) {
  if (!in.fetch) return {};
  if (*in.fetch != "lender")
    return std::unexpected(at({base::Code::invalid, fmt::format("fetch: {}", *in.fetch),
                               "use fetch: lender, or leave it out: then you fetch it"},
                              field));
  if (!in.url || !is_sha256(*in.hash))
    return std::unexpected(at({base::Code::invalid, "lenders fetch a URL with a SHA-256",
                               "give url, and as hash what `sha256sum FILE` prints"},
                              field));
  return {};
}

base::Result<LocalInput> input_of(const wire::AnyJson& json, std::size_t i,
                                  const PathRules& rules) {
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
  SOUK_TRY(check_fetch(in, field));
  LocalInput out{.source = in.folder.value_or(in.file.value_or(in.url.value_or(""))),
                 .hash = in.hash.value_or(""),
                 .blob = in.blob.value_or(""),
                 .by_lender = in.fetch.has_value()};
  auto name = out.source;
  while (name.ends_with('/')) name.pop_back();
  name = std::filesystem::path(name.substr(0, name.find_first_of("?#"))).filename().string();
  out.path = in.path.value_or(name);
  if (out.path.empty() || out.path == "." || out.path == "..")
    return std::unexpected(at(
        {base::Code::invalid, "it has no name of its own", "say where it goes with path:"}, field));
  if (in.url) {
    auto url = web_url(*in.url);
    if (!url) return std::unexpected(at(std::move(url).error(), field));
    out.source = *std::move(url);
    if (rules.allow_url && !out.by_lender)
      if (auto allowed = rules.allow_url(out.source); !allowed)
        return std::unexpected(at(std::move(allowed).error(), field));
  }
  if (in.folder || in.file) {
    SOUK_ASSIGN(out.source, placed(rules, out.source, field));
  }
  return out;
}

base::Failure bad(std::string message, std::string hint, std::string field) {
  return fail(Code::invalid, std::move(message), std::move(hint), "batch." + std::move(field));
}

// Relative, without "..", and not the folder itself.
base::Result<> check_path(std::string_view path, std::string field) {
  bool good = !path.empty() && path.size() <= kPathMax && path.front() != '/' &&
              path.find('\0') == std::string_view::npos;
  for (std::size_t at = 0; good && at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    const auto name = path.substr(at, end - at);
    good = name != ".." && name != "." && (!name.empty() || end == path.size());
    at = end + 1;
  }
  if (good) return {};
  return bad(fmt::format("'{}' is not a path inside the working folder", path.substr(0, 80)),
             "use a relative path without '..', such as data/train", std::move(field));
}

base::Result<> check_variable(std::string_view name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (!name.empty() && name.size() <= 100 &&
      std::isdigit(static_cast<unsigned char>(name[0])) == 0 && std::ranges::all_of(name, fits))
    return {};
  return bad(fmt::format("'{}' is not a name of an environment variable", name.substr(0, 80)),
             "use letters, digits and _", "env");
}

// They lie below the working folder, where nothing else may be under their names.
base::Result<> check_volumes(const wire::Batch& work) {
  if (work.volumes.size() > kPaths)
    return bad(fmt::format("{} volumes", work.volumes.size()), fmt::format("{} at most", kPaths),
               "volumes");
  for (const auto& name : work.volumes) {
    SOUK_TRY(check_path(name, "volumes"));
    for (const auto& input : work.inputs)
      if (input.path == name || input.path.starts_with(name + "/"))
        return bad(fmt::format("input '{}' lies in volume '{}'", input.path, name),
                   "put it elsewhere", "volumes");
  }
  return {};
}

}  // namespace

base::Result<> read_program(ProgramKeys keys, const PathRules& rules, JobFile& out) {
  wire::Batch work{.run = keys.run ? plain(*keys.run) : "",
                   .setup = keys.setup ? plain(*keys.setup) : "",
                   .outputs = std::move(keys.outputs),
                   .image = std::move(keys.image),
                   .checkpoint = std::move(keys.checkpoint),
                   .network = keys.network,
                   .retry = std::move(keys.retry),
                   .volumes = std::move(keys.volumes)};
  if (keys.replicate) {
    if (*keys.replicate != 1 && *keys.replicate != 2)
      return std::unexpected(
          at({Code::invalid, fmt::format("replicate is {}", *keys.replicate), "use 1 or 2"},
             "replicate"));
    work.replicate = static_cast<std::int32_t>(*keys.replicate);
  }
  for (const auto& [name, value] : keys.env) work.env[name] = plain(value);
  if (keys.scratch) {
    auto size = wire::parse_memory(*keys.scratch);
    if (!size) return std::unexpected(at(std::move(size).error(), "scratch"));
    work.scratch_mib = size->mib;
  }
  for (std::size_t i = 0; i < keys.inputs.size(); ++i) {
    SOUK_ASSIGN(auto input, input_of(keys.inputs[i], i, rules));
    out.inputs.push_back(std::move(input));
  }
  if (keys.workdir) {
    SOUK_ASSIGN(out.workdir, placed(rules, *keys.workdir, "workdir"));
  }
  if (keys.environment) {
    SOUK_ASSIGN(out.environment, read_environment(*keys.environment, rules));
    // What it stands on must be there, in the same place as the Python.
    auto& packages = out.job.constraints.packages;
    packages.insert(packages.end(), out.environment->on.begin(), out.environment->on.end());
  }
  out.job.batch = std::move(work);
  return {};
}

base::Result<> check_program(const wire::Batch& work) {
  // Without a command an image runs its own program; only one that is known by its digest has one.
  const bool own_program = work.image && names_digest(*work.image);
  if (work.run.empty() && !own_program)
    return bad("there is nothing to run", "give a command", "run");
  const std::initializer_list<std::pair<std::string_view, std::size_t>> lists{
      {"inputs", work.inputs.size()}, {"outputs", work.outputs.size()}};
  for (const auto& [name, size] : lists)
    if (size > kPaths)
      return bad(fmt::format("{} {}", size, name), fmt::format("{} at most", kPaths),
                 std::string(name));
  if (work.env.size() > kVariables)
    return bad(fmt::format("{} variables", work.env.size()), fmt::format("{} at most", kVariables),
               "env");
  for (const auto& input : work.inputs) {
    SOUK_TRY(check_path(input.path, "inputs"));
    SOUK_TRY(check_input(input));
  }
  for (const auto& path : work.outputs) SOUK_TRY(check_path(path, "outputs"));
  SOUK_TRY(check_volumes(work));
  for (const auto& [name, value] : work.env) SOUK_TRY(check_variable(name));
  if (const auto& c = work.checkpoint) {
    SOUK_TRY(check_path(c->path, "checkpoint.path"));
    if (c->every < kShortestCheckpoint)
      return bad(fmt::format("a checkpoint every {}", to_string(c->every)), "use 1s or more",
                 "checkpoint.every");
  }
  if (const auto owners = work.replicate.value_or(1); owners != 1) {
    if (owners != 2) return bad(fmt::format("replicate is {}", owners), "use 1 or 2", "replicate");
    if (work.outputs.empty())
      return bad("replicate without outputs", "name the outputs that are to be compared",
                 "replicate");
    if (work.checkpoint)
      return bad("replicate with checkpoints",
                 "drop one: who goes on from another's checkpoint repeats its lies", "replicate");
  }
  if (work.scratch_mib && (*work.scratch_mib < 1 || *work.scratch_mib > kMostScratchMib))
    return bad(fmt::format("a scratch of {} MiB", *work.scratch_mib), "use 1M to 16T",
               "scratch_mib");
  if (work.image && (work.image->empty() || work.image->front() == '-'))
    return bad(fmt::format("'{}' is not an image", work.image->substr(0, 80)),
               "use a name such as docker.io/library/python@sha256:...", "image");
  if (work.image && names_digest(*work.image)) SOUK_TRY(parse_image(*work.image));
  return check_environment(work);
}

std::vector<std::string> program_demands(const wire::Batch& work) {
  std::vector<std::string> out;
  if (work.network == wire::Network::internet) out.emplace_back(kInternet);
  if (work.image) {
    const auto image = parse_image(*work.image);
    out.push_back(image ? image_demand(*image) : std::string(kContainers));
  }
  if (work.scratch_mib) out.push_back(size_demanded(kScratch, *work.scratch_mib));
  for (auto& demand : fetch_demands(work)) out.push_back(std::move(demand));
  if (work.environment)
    for (auto& demand : environment_demands(*work.environment)) out.push_back(std::move(demand));
  return out;
}

base::Result<> check_own_network(const wire::Batch& work) {
  if (!work.image || names_digest(*work.image)) return {};
  return bad(fmt::format("the image '{}' is named by a tag", work.image->substr(0, 80)),
             "name it by its digest (NAME@sha256:...): only then its programs get a network of "
             "their own",
             "image");
}

std::vector<std::string> program_blobs(const wire::Batch& work) {
  std::vector<std::string> out;
  if (work.workdir) out.push_back(*work.workdir);
  for (const auto& input : work.inputs)
    if (input.url.empty()) out.push_back(input.blob);
  if (work.environment && !work.environment->blob.empty()) out.push_back(work.environment->blob);
  return out;
}

}  // namespace souk::job
