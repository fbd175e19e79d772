#include "server/files/prepare.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ranges>

#include "base/text.h"
#include "blob/folder.h"
#include "job/job_terms.h"

namespace souk::server {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;
using base::Result;

constexpr const char* kFile = "job.yaml";  // In messages.
constexpr std::size_t kMostCuts = 100;

// `path` without "." and doubled slashes; empty: the folder itself.
Result<std::string> inside(std::string_view path) {
  const auto bad = [&] {
    return fail(Code::invalid,
                fmt::format("'{}' is not a path inside the uploaded folder", path.substr(0, 80)),
                "use a path relative to that folder, without '..'");
  };
  if (path.empty() || path.front() == '/') return bad();
  std::string out;
  for (const auto piece : std::views::split(path, '/')) {
    const std::string_view name(piece);
    if (name == "..") return bad();
    if (!name.empty() && name != ".") out += fmt::format("{}{}", out.empty() ? "" : "/", name);
  }
  if (!out.empty() && !blob::check_path(out)) return bad();
  return out;
}

bool contains(const blob::Manifest& manifest, const std::string& path) {
  return path.empty() || std::ranges::any_of(manifest.entries, [&](const blob::Entry& entry) {
           return entry.path == path || entry.path.starts_with(path + "/");
         });
}

// What is missing is missing from a request, not from this server.
base::Error as_invalid(base::Error error, std::string_view field) {
  if (error.code == Code::not_found) error.code = Code::invalid;
  error.field = field;
  return error;
}

Result<> check_size(const job::DataSource& data) {
  const auto most = data.format == "csv" ? Prepare::kMostCsvBytes : Prepare::kMostDataBytes;
  std::uint64_t bytes = 0;
  for (const auto* files : {&data.train, &data.test})
    for (const auto& file : *files) {
      std::error_code error;
      const auto size = fs::file_size(file, error);  // A folder has none; reading it says so.
      if (!error) bytes += size;
    }
  if (bytes <= most) return {};
  return fail(
      Code::too_large, fmt::format("the data has {}", base::bytes_text(bytes)),
      fmt::format("{} at most are cut here; `souk run` takes any amount", base::bytes_text(most)),
      "data");
}

std::int64_t samples_in(const std::vector<wire::TrainShard>& shards) {
  std::int64_t out = 0;
  for (const auto& shard : shards) out += shard.samples;
  return out;
}

}  // namespace

// The uploaded folder of one call: first only its list of files; on disk once a path asks for it.
class Prepare::Folder {
 public:
  Folder(std::string path, const blob::Store& store) : path_(std::move(path)), store_(store) {}
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
    if (error) spdlog::warn("cannot remove {}: {}", path_, error.message());
  }

  Result<> open(const std::string& digest) {
    const auto root = blob::parse_digest(digest);
    if (!root) return std::unexpected(as_invalid(root.error(), "files"));
    auto manifest = blob::read_manifest(*root, store_);
    if (!manifest && manifest.error().code == Code::not_found)
      return fail(Code::invalid, fmt::format("the server does not have the folder '{}'", digest),
                  "upload it first", "files");
    if (!manifest) return std::unexpected(as_invalid(manifest.error(), "files"));
    if (manifest->total_bytes() > kMostBytes || manifest->entries.size() > kMostFiles)
      return fail(Code::too_large,
                  fmt::format("the folder has {} in {} files",
                              base::bytes_text(manifest->total_bytes()), manifest->entries.size()),
                  fmt::format("{} and {} files at most; `souk run` takes any amount",
                              base::bytes_text(kMostBytes), kMostFiles),
                  "files");
    manifest_ = *std::move(manifest);
    return {};
  }

  // Where the path of a job file will be.
  Result<std::string> place(const std::string& path) {
    SOUK_ASSIGN(const auto within, inside(path));
    if (!manifest_)
      return fail(Code::invalid, fmt::format("the server does not have '{}'", path),
                  "upload the folder first");
    if (!contains(*manifest_, within))
      return fail(Code::invalid, fmt::format("there is no '{}' in the uploaded folder", path),
                  "paths are relative to that folder");
    needed_ = true;
    return within.empty() ? path_ : path_ + "/" + within;
  }

  // Writes the files to disk, if any was asked for.
  Result<> write() const {
    if (!needed_) return {};
    const auto written = blob::unpack(*manifest_, store_, path_);
    if (written) return {};
    return std::unexpected(as_invalid(shown(written.error()), "files"));
  }

  // Nobody's business is where on this machine it was.
  [[nodiscard]] std::string shown(std::string text) const {
    for (std::size_t at; (at = text.find(path_)) != std::string::npos;)
      text.replace(at, path_.size() + (text.compare(at + path_.size(), 1, "/") == 0 ? 1 : 0), "");
    return text;
  }
  [[nodiscard]] base::Error shown(base::Error error) const {
    error.message = shown(std::move(error.message));
    error.hint = shown(std::move(error.hint));
    return error;
  }

 private:
  const std::string path_;
  const blob::Store& store_;
  std::optional<blob::Manifest> manifest_;
  bool needed_ = false;
};

// Keeps what was packed, and gathers what is to be said.
class Prepare::Notes final : public job::Packing {
 public:
  Notes(PinnedFolders& kept, base::Time now) : kept_(kept), now_(now) {}

  blob::OnProgress reading(const std::string&) override { return {}; }
  void cut(std::string_view, std::size_t, std::size_t) override {}
  void packed(std::string, blob::Packed packed) override {
    // Its own pin holds it until now, so it is there.
    kept_.add(packed.root, packed.manifest, now_);
    for (auto& warning : packed.warnings) add(std::move(warning));
  }
  void add(std::string note) { notes_.push_back(std::move(note)); }
  [[nodiscard]] const std::vector<std::string>& all() const { return notes_; }

 private:
  PinnedFolders& kept_;
  const base::Time now_;
  std::vector<std::string> notes_;
};

Prepare::Prepare(blob::Store& store, std::string scratch, const base::Clock& clock,
                 PrepareOptions options)
    : store_(store),
      scratch_(std::move(scratch)),
      clock_(clock),
      options_(std::move(options)),
      kept_(store, options_.keep_bytes) {
  std::error_code error;
  fs::remove_all(scratch_, error);  // What a crash left.
  if (!error) fs::create_directories(scratch_, error);
  if (error) spdlog::warn("cannot make {}: {}", scratch_, error.message());
}

Result<wire::PreparedJob> Prepare::job(const wire::JobDraft& draft, const Asker& asker) {
  Folder folder(fmt::format("{}/{}", scratch_, ++calls_), store_);
  if (draft.files) SOUK_TRY(folder.open(*draft.files));
  const job::PathRules rules{
      .place = [&](const std::string& path) { return folder.place(path); },
      .allow_url = [](const std::string& url) -> Result<> {
        return fail(Code::invalid, fmt::format("this server fetches nothing from '{}'", url),
                    "upload the file, or use `souk run`, which fetches it for you");
      }};
  SOUK_ASSIGN(auto file, job::read_job_file(draft.yaml, kFile, clock_.now(), rules));
  if (!file.job.batch)
    return fail(Code::invalid, fmt::format("{}:1: it does not say what to run", kFile),
                "add run: with the command");
  Notes notes(kept_, clock_.now());
  const auto pack = [&]() -> Result<> {
    SOUK_TRY(folder.write());
    if (file.train) SOUK_TRY(add_training(file, notes));
    SOUK_TRY(job::add_folders(file, store_, notes));
    return {};
  };
  if (const auto packed = pack(); !packed)
    return std::unexpected(folder.shown(as_invalid(packed.error(), packed.error().field)));
  if (file.job.budget == base::Credits()) {
    file.job.budget = job::likely_budget(file.job, asker.classes, asker.account);
    notes.add(file.job.budget > base::Credits()
                  ? fmt::format("the file names no budget: {} credits, an hour of all workers at "
                                "the limit price or what you have",
                                to_string(file.job.budget))
                  : "you have no credits to spend: lend a machine, or ask the operator");
  }
  wire::PreparedJob out{.job = std::move(file.job)};
  for (const auto& note : notes.all()) out.notes.push_back(folder.shown(note));
  return out;
}

Result<> Prepare::add_training(job::JobFile& job, Notes& notes) {
  SOUK_ASSIGN(const auto cut, job::cut_of(job));
  SOUK_ASSIGN(const auto shards, shards_of(job, cut, notes));
  job::add_shards(job, shards);
  notes.add(fmt::format("trains on {} samples in {} shards, and is checked on {}",
                        samples_in(shards.training), shards.training.size(),
                        samples_in(shards.validation)));
  if (!job.train->script.empty() && !options_.python_package)
    return fail(Code::conflict, "this server has no Python package for scripts", "use `souk run`",
                "script");
  return job::add_script(job, options_.python_package, store_, notes);
}

Result<job::Shards> Prepare::shards_of(const job::JobFile& job, const job::Cut& cut, Notes& notes) {
  const auto& data = job.train->data;
  const std::lock_guard lock(cutting_);
  if (!data.built_in.empty()) return built_in_shards(data.built_in, cut, notes);
  SOUK_TRY(check_size(data));
  SOUK_ASSIGN(const auto loaded, job::load_data(data, {}));
  return job::cut_data(loaded, cut, store_, notes);
}

Result<job::Shards> Prepare::built_in_shards(const std::string& name, const job::Cut& cut,
                                             Notes& notes) {
  SOUK_TRY(job::find_built_in(name));
  const Data key{name, cut};
  if (const auto known = cut_.find(key); known != cut_.end() && keep(known->second))
    return known->second;
  if (!options_.built_in_data)
    return fail(Code::conflict, "this server has no built-in data",
                "upload files of your own: data: {format: csv, train: FILE}", "data");
  const auto loaded = job::load_data({.built_in = name}, options_.built_in_data);
  if (!loaded) {  // With paths, and with what its operator could do.
    spdlog::warn("{}: {} ({})", name, loaded.error().message, loaded.error().hint);
    return fail(Code::unavailable, fmt::format("the data '{}' cannot be had now", name),
                "ask the operator of this market: the server's log says why", "data");
  }
  SOUK_ASSIGN(auto shards, job::cut_data(*loaded, cut, store_, notes));
  if (cut_.size() >= kMostCuts) cut_.clear();
  return cut_[key] = std::move(shards);
}

// False: some of it made room for others since.
bool Prepare::keep(const job::Shards& shards) {
  for (const auto* list : {&shards.training, &shards.validation})
    for (const auto& shard : *list) {
      const auto root = blob::parse_digest(shard.blob);
      if (!root) return false;
      const auto manifest = blob::read_manifest(*root, store_);
      if (!manifest || !kept_.add(*root, *manifest, clock_.now())) return false;
    }
  return true;
}

}  // namespace souk::server
