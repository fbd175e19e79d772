#include "cli/commands/upload.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "agent/fetch/sha256.h"
#include "agent/fetch/web.h"
#include "agent/remote.h"
#include "blob/transfer.h"
#include "cli/commands/datasets.h"
#include "cli/commands/environment.h"
#include "cli/shell/human.h"
#include "cli/shell/progress.h"
#include "job/packing.h"

namespace souk::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kCacheBytes = 20ull << 30;

// BLAKE2b-256 and SHA-256 of a file, in hex.
Result<std::pair<std::string, std::string>> hashes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  crypto_generichash_state blake;
  crypto_generichash_init(&blake, nullptr, 0, crypto_generichash_BYTES);
  agent::Sha256 sha;
  std::string piece(1 << 20, '\0');
  while (in.read(piece.data(), std::ssize(piece)) || in.gcount() > 0) {
    const auto read = std::string_view(piece).substr(0, static_cast<std::size_t>(in.gcount()));
    crypto_generichash_update(&blake, reinterpret_cast<const unsigned char*>(read.data()),
                              read.size());
    sha.add(read);
  }
  if (!in.eof()) return failed(fmt::format("cannot read {}", path), "check the disk");
  std::string of_blake(crypto_generichash_BYTES, '\0');
  crypto_generichash_final(&blake, reinterpret_cast<unsigned char*>(of_blake.data()),
                           of_blake.size());
  return std::pair(base::to_hex(of_blake), sha.hex());
}

// Fetched here, by the borrower, and checked.
Result<std::string> fetch(Context& c, const job::LocalInput& input, const fs::path& folder) {
  SOUK_ASSIGN(const auto address, agent::parse_web_address(input.source));
  std::error_code error;
  fs::create_directories(folder, error);
  const auto file = (folder / fs::path(input.path).filename()).string();
  fs::remove(file, error);  // Of a run that was interrupted.
  c.note(fmt::format("fetching {}", input.source));
  SOUK_TRY(agent::web_fetch({.address = address}, {}, file,
                            [](std::int64_t) -> Result<> { return {}; }));
  SOUK_ASSIGN(const auto hashes, hashes_of(file));
  if (input.hash == hashes.first || input.hash == hashes.second) return file;
  fs::remove(file, error);
  return failed(fmt::format("{} is not what its hash names", input.source),
                fmt::format("its SHA-256 is {}", hashes.second));
}

// Shows how far `what` has come, while it lives.
class Bar {
 public:
  Bar(Context& c, std::string what) : c_(c), what_(std::move(what)) {}
  [[nodiscard]] blob::OnProgress on_progress() {
    return [this](const blob::Progress& p) {
      if (!bar_) bar_.emplace(what_, "bytes", p.bytes_total, c_.err());
      bar_->update(p.bytes_done);
    };
  }

 private:
  Context& c_;
  const std::string what_;
  std::optional<Progress> bar_;
};

// The names and sizes of a folder's chunks, each once.
std::map<blob::Digest, std::uint64_t> chunks_of(const blob::Manifest& manifest) {
  std::map<blob::Digest, std::uint64_t> out;
  for (const auto& entry : manifest.entries)
    for (std::size_t i = 0; i < entry.chunks.size(); ++i)
      out[entry.chunks[i]] = entry.chunk_bytes(i);
  return out;
}

// What is in the store since the environment was packed. Nothing: not all of it is there.
std::optional<blob::Packed> packed_before(const BuiltEnvironment& built, blob::Store& store) {
  std::string name;
  if (std::ifstream in(built.packed); !(in && in >> name)) return std::nullopt;
  const auto root = blob::parse_digest(name);
  if (!root) return std::nullopt;
  auto manifest = blob::read_manifest(*root, store);
  if (!manifest) return std::nullopt;
  auto names = manifest->chunks();
  names.push_back(*root);
  auto pin = store.pin(names);
  if (!std::ranges::all_of(names, [&](const auto& chunk) { return store.has(chunk); }))
    return std::nullopt;
  return blob::Packed{
      .root = *root, .manifest = *std::move(manifest), .warnings = {}, .pin = std::move(pin)};
}

}  // namespace

Result<std::unique_ptr<blob::Store>> user_store(const Context& c) {
  const auto folder = cache_folder(c.env());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return failed(fmt::format("cannot make {}: {}", folder, error.message()),
                  "set XDG_CACHE_HOME to a folder that can be written to");
  return blob::Store::open(folder + "/blobs", {.max_bytes = kCacheBytes});
}

agent::LinkOptions link_to(const Target& target) {
  return {
      .servers = {target.server}, .token = target.token, .ca_file = target.ca, .pin = target.pin};
}

// Shows what is read and cut, and keeps what was packed, to be sent.
class JobFiles::Packer final : public job::Packer {
 public:
  Packer(Context& c, blob::Store& store, std::vector<Item>& items)
      : c_(c), store_(store), items_(items) {}

  blob::Store& store() override { return store_; }
  blob::OnProgress reading(const std::string& path) override {
    splitting_.reset();
    return reading_.emplace(c_, "reading " + path).on_progress();
  }
  void splitting(std::string_view what, std::size_t done, std::size_t total) override {
    if (done == 0)
      splitting_.emplace(fmt::format("splitting the {} data", what), "shards", total, c_.err());
    else
      splitting_->update(done);
    if (done == total) splitting_.reset();
  }
  void packed(std::string what, blob::Packed packed) override {
    reading_.reset();
    for (const auto& warning : packed.warnings) c_.note(warning);
    items_.push_back({std::move(what), std::move(packed)});
  }
  base::Result<job::Shards> shards(const job::DataSource& data,
                                   const job::DataSplit& split) override {
    auto out = [&]() -> base::Result<job::Shards> {
      SOUK_ASSIGN(const auto loaded, job::load_data(data, fetcher(c_)));
      return job::split_data(loaded, split, *this);
    }();
    if (!out) out.error().code = base::Code::conflict;  // Not a mistake in how souk was called.
    return out;
  }
  base::Result<std::string> python_package() override { return sdk_folder(c_.env()); }
  base::Result<wire::BatchEnvironment> environment(const job::EnvironmentFile& file) override {
    SOUK_ASSIGN(auto built, build_environment(c_, file));
    if (built.folder.empty()) {
      c_.note(fmt::format("environment: {} for Python {}, built by the lender",
                          plural(built.work.count, "package"), built.work.python));
      return built.work;
    }
    auto known = packed_before(built, store_);
    if (!known) {
      SOUK_ASSIGN(known, blob::pack(built.folder, store_,
                                    {.ignore = "__pycache__\n",
                                     .on_progress = reading("the environment")}));
      std::ofstream(built.packed, std::ios::trunc) << to_string(known->root) << '\n';
    }
    built.work.blob = to_string(known->root);
    c_.note(fmt::format("environment: {} for Python {}, {}{}", plural(built.work.count, "package"),
                        built.work.python, bytes_text(known->manifest.total_bytes()),
                        built.kept ? ", built before" : ""));
    packed("the environment", *std::move(known));
    return built.work;
  }

 private:
  Context& c_;
  blob::Store& store_;
  std::vector<Item>& items_;
  std::optional<Bar> reading_;
  std::optional<Progress> splitting_;
};

Result<JobFiles> JobFiles::pack(Context& c, job::JobFile& job) {
  JobFiles out;
  if (!job.job.batch) return out;
  SOUK_ASSIGN(out.store_, user_store(c));
  Packer packer(c, *out.store_, out.items_);
  const auto fetched = fs::path(out.store_->path()).parent_path() / "fetched";
  for (auto& input : job.inputs) {
    if (input.hash.empty() || input.by_lender) continue;
    SOUK_ASSIGN(input.source, fetch(c, input, fetched / input.hash));
  }
  const auto packed = job::pack_files(job, packer);
  std::error_code ignored;
  for (const auto& input : job.inputs)
    if (!input.hash.empty() && !input.by_lender) fs::remove_all(fetched / input.hash, ignored);
  SOUK_TRY(packed);
  return out;
}

std::uint64_t JobFiles::bytes() const {
  std::uint64_t out = 0;
  for (const auto& item : items_) out += item.packed.manifest.total_bytes();
  return out;
}

Result<std::uint64_t> JobFiles::bytes_to_send(Context& c) const {
  std::map<blob::Digest, std::uint64_t> chunks;
  for (const auto& item : items_) chunks.merge(chunks_of(item.packed.manifest));
  std::vector<blob::Digest> names;
  for (const auto& [name, size] : chunks) names.push_back(name);
  SOUK_ASSIGN(const auto* target, c.target());
  SOUK_ASSIGN(const auto remote, agent::blobs_at(link_to(*target))());
  std::uint64_t out = 0;
  for (std::span rest(names); !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), blob::kMostNamesAsked));
    SOUK_ASSIGN(const auto missing, remote->missing(some));
    for (const auto& name : missing) out += chunks[name];
    rest = rest.subspan(some.size());
  }
  return out;
}

Result<> JobFiles::send(Context& c) const {
  SOUK_ASSIGN(const auto* target, c.target());
  for (const auto& item : items_) {
    Bar bar(c, "sending " + item.path);
    SOUK_TRY(blob::upload(item.packed.root, *store_, agent::blobs_at(link_to(*target)),
                          {.on_progress = bar.on_progress()}));
  }
  return {};
}

}  // namespace souk::cli
