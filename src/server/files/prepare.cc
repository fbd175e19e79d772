#include "server/files/prepare.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ranges>

#include "base/text.h"
#include "blob/folder.h"
#include "job/job_file.h"
#include "job/job_terms.h"
#include "job/packing.h"
#include "job/train/formats/format.h"

namespace souk::server {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;
using base::Result;

constexpr const char* kFile = "job.yaml";  // In messages.
constexpr std::size_t kMostSplits = 100;

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

// Of a file, or of all files below a folder. What cannot be read has none: reading it says so.
std::uint64_t bytes_in(const std::string& path) {
  std::error_code error;
  if (const auto size = fs::file_size(path, error); !error) return size;
  std::uint64_t out = 0;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code unknown;
    const auto size = it->is_symlink(unknown) ? 0 : it->file_size(unknown);
    if (!unknown) out += size;
  }
  return out;
}

Result<> check_size(const job::DataSource& data) {
  SOUK_ASSIGN(const auto* format, job::find_format(data.format));
  const auto most = format->as_text ? Prepare::kMostCsvBytes : Prepare::kMostDataBytes;
  std::uint64_t bytes = 0;
  for (const auto* files : {&data.train, &data.test})
    for (const auto& file : *files) bytes += bytes_in(file);
  if (bytes <= most) return {};
  return fail(
      Code::too_large, fmt::format("the data has {}", base::bytes_text(bytes)),
      fmt::format("{} at most are split here; `souk run` takes any amount", base::bytes_text(most)),
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
  Folder(std::string path, base::AccountId account, Prepare& prepare)
      : path_(std::move(path)),
        account_(account),
        store_(prepare.store_),
        claims_(prepare.claims_) {}
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
    const bool absent = !manifest && manifest.error().code == Code::not_found;
    // To others' files there is no way through their names.
    if (absent || !claims_.claimed(account_, {&*root, 1}) ||
        (manifest && !claims_.claimed(account_, manifest->chunks())))
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
  const base::AccountId account_;
  const blob::Store& store_;
  const BlobClaims& claims_;
  std::optional<blob::Manifest> manifest_;
  bool needed_ = false;
};

// Keeps what was packed, and gathers what is to be said.
class Prepare::Packer final : public job::Packer {
 public:
  Packer(Prepare& prepare, base::AccountId account)
      : prepare_(prepare), account_(account), now_(prepare.clock_.now()) {}

  blob::Store& store() override { return prepare_.store_; }
  blob::OnProgress reading(const std::string&) override { return {}; }
  void splitting(std::string_view, std::size_t, std::size_t) override {}
  void packed(std::string, blob::Packed packed) override {
    // Its own pin holds it until now, so it is there.
    keep(packed.root, packed.manifest);
    for (auto& warning : packed.warnings) note(std::move(warning));
  }
  Result<job::Shards> shards(const job::DataSource& data, const job::DataSplit& split) override {
    SOUK_ASSIGN(auto out, prepare_.shards_of(data, split, *this));
    note(fmt::format("trains on {} samples in {} shards, and is checked on {}",
                     samples_in(out.training), out.training.size(), samples_in(out.validation)));
    return out;
  }
  Result<std::string> python_package() override {
    if (prepare_.options_.python_package) return prepare_.options_.python_package();
    return fail(Code::conflict, "this server has no Python package for scripts", "use `souk run`",
                "script");
  }
  // False: not all of it is there.
  bool keep(const blob::Digest& root, const blob::Manifest& manifest) {
    if (!prepare_.kept_.add(root, manifest, now_)) return false;
    auto names = manifest.chunks();
    names.push_back(root);
    if (auto claimed = prepare_.claims_.claim(account_, names); !claimed && claimed_)
      claimed_ = claimed;
    return true;
  }
  // Is all that was kept the asker's?
  [[nodiscard]] const Result<>& claimed() const { return claimed_; }
  void note(std::string text) { notes_.push_back(std::move(text)); }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  Prepare& prepare_;
  const base::AccountId account_;
  const base::Time now_;
  Result<> claimed_;
  std::vector<std::string> notes_;
};

Prepare::Prepare(blob::Store& store, BlobClaims& claims, std::string scratch,
                 const base::Clock& clock, PrepareOptions options)
    : store_(store),
      claims_(claims),
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
  Folder folder(fmt::format("{}/{}", scratch_, ++calls_), asker.account.id, *this);
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
  Packer packer(*this, asker.account.id);
  const auto pack = [&]() -> Result<> {
    SOUK_TRY(folder.write());
    return job::pack_files(file, packer);
  };
  if (const auto packed = pack(); !packed)
    return std::unexpected(folder.shown(as_invalid(packed.error(), packed.error().field)));
  SOUK_TRY(packer.claimed());
  if (file.job.budget == base::Credits()) {
    SOUK_TRY(job::check_classes(file.job, asker.classes));
    file.job.budget = job::likely_budget(file.job, asker.classes, asker.account);
    packer.note(file.job.budget > base::Credits()
                    ? fmt::format("the file names no budget: {} credits, an hour of all workers at "
                                  "the limit price or what you have",
                                  to_string(file.job.budget))
                    : "you have no credits to spend: lend a machine, or ask the operator");
  }
  wire::PreparedJob out{.job = std::move(file.job)};
  for (const auto& note : packer.notes()) out.notes.push_back(folder.shown(note));
  return out;
}

Result<job::Shards> Prepare::shards_of(const job::DataSource& data, const job::DataSplit& split,
                                       Packer& packer) {
  const std::lock_guard lock(splitting_);
  if (!data.built_in.empty()) return built_in_shards(data.built_in, split, packer);
  SOUK_TRY(check_size(data));
  SOUK_ASSIGN(const auto loaded, job::load_data(data, {}));
  return job::split_data(loaded, split, packer);
}

Result<job::Shards> Prepare::built_in_shards(const std::string& name, const job::DataSplit& split,
                                             Packer& packer) {
  SOUK_TRY(job::find_built_in(name));
  const SplitSet key{name, split};
  if (const auto known = built_in_.find(key);
      known != built_in_.end() && keep(known->second, packer))
    return known->second;
  if (!options_.built_in_data)
    return fail(Code::conflict, "this server has no built-in data",
                "upload files of your own: data: {format: csv, train: FILE}", "data");
  const auto loaded = job::load_data({.built_in = name}, options_.built_in_data);
  if (!loaded) {  // With paths, and with what its operator could do.
    spdlog::warn("{}: {} ({})", name, loaded.error().message, loaded.error().hint);
    return fail(Code::unavailable, fmt::format("the data '{}' is not available now", name),
                "ask the operator of this market: the server's log says why", "data");
  }
  SOUK_ASSIGN(auto shards, job::split_data(*loaded, split, packer));
  if (built_in_.size() >= kMostSplits) built_in_.clear();
  return built_in_[key] = std::move(shards);
}

// False: some of it made room for others since.
bool Prepare::keep(const job::Shards& shards, Packer& packer) {
  for (const auto* list : {&shards.training, &shards.validation})
    for (const auto& shard : *list) {
      const auto root = blob::parse_digest(shard.blob);
      if (!root) return false;
      const auto manifest = blob::read_manifest(*root, store_);
      if (!manifest || !packer.keep(*root, *manifest)) return false;
    }
  return true;
}

}  // namespace souk::server
