#include "cli/upload.h"
#include "base/file.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "agent/remote.h"
#include "blob/transfer.h"
#include "cli/human.h"
#include "cli/progress.h"
#include "net/client.h"

namespace souk::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kCacheBytes = 20ull << 30;
constexpr auto kDownload = base::minutes(60);

std::string sha256_hex(std::string_view data) {
  std::string out(crypto_hash_sha256_BYTES, '\0');
  crypto_hash_sha256(reinterpret_cast<unsigned char*>(out.data()),
                     reinterpret_cast<const unsigned char*>(data.data()), data.size());
  return base::to_hex(out);
}

// Fetched here, by the borrower, and checked: no lender's machine visits addresses for strangers.
Result<std::string> fetch(Context& c, const LocalInput& input, const fs::path& folder) {
  const auto slash = input.source.find('/', input.source.find("://") + 3);
  const auto host = input.source.substr(0, slash);
  const auto path = slash == std::string::npos ? "/" : input.source.substr(slash);
  SOUK_ASSIGN(auto client, net::Client::make({.base_url = host, .total_timeout = kDownload}));
  c.note(fmt::format("fetching {}", input.source));
  SOUK_ASSIGN(const auto response, client.send("GET", path));
  if (response.status != 200)
    return failed(fmt::format("{} answered with status {}", input.source, response.status),
                  "check the address; redirects are not followed");
  const auto blake = base::to_string(base::blake2b(response.body));
  if (input.hash != blake && input.hash != sha256_hex(response.body))
    return failed(fmt::format("{} is not what its hash names", input.source),
                  fmt::format("its BLAKE2b-256 is {}", blake));
  std::error_code error;
  fs::create_directories(folder, error);
  const auto file = (folder / fs::path(input.path).filename()).string();
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (!(out << response.body) || !out.flush())
    return failed(fmt::format("cannot write {}", file), "check the disk");
  return file;
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
      out[entry.chunks[i]] =
          std::min<std::uint64_t>(blob::kChunkBytes, entry.size - i * blob::kChunkBytes);
  return out;
}

std::optional<std::int64_t> number_in(const std::string& json) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), out);
  return error == std::errc{} ? std::optional(out) : std::nullopt;
}

// As the trainer counts them: text is read in windows of the model's context, 64 unless given.
std::int64_t samples_of(const train::Dataset& shard, const wire::Train& train) {
  if (!shard.shape.empty()) return shard.samples();
  std::int64_t context = 64;
  if (const auto it = train.config.find("context"); it != train.config.end())
    if (const auto given = number_in(it->second); given && *given > 0) context = *given;
  return std::max<std::int64_t>(1, (shard.samples() - 1) / context);
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

std::string JobFiles::keep(std::string what, blob::Packed packed) {
  items_.push_back({std::move(what), std::move(packed)});
  return base::to_string(items_.back().packed.root);
}

Result<> JobFiles::add_training(Context& c, JobFile& job) {
  auto& local = *job.train;
  auto& train = local.train;
  SOUK_ASSIGN(const auto data, load_data(c, local.data));
  // Text has no shape. Numbers are scaled by the trainer, so that `souk predict` takes them raw.
  if (!data.train.shape.empty()) train.config.try_emplace("input", wire::to_json(data.train.shape));
  if (data.train.dtype == "F32") {
    const auto scaling = train::scaling_of(data.train);
    train.config.try_emplace("mean", wire::to_json(scaling.mean));
    train.config.try_emplace("std", wire::to_json(scaling.deviation));
  }
  if (!data.train.names.empty())
    train.config.try_emplace("labels", wire::to_json(data.train.names));
  train.config.try_emplace("classes",
                           std::to_string(std::max(data.train.classes(), data.test.classes())));
  const auto cut = [&](const train::Dataset& set, std::int32_t count, std::string_view what,
                       std::vector<wire::TrainShard>& out) -> Result<> {
    Progress bar(fmt::format("splitting the {} data", what), "shards",
                 static_cast<std::uint64_t>(count), c.err());
    for (const auto& shard : train::split(set, count, static_cast<std::uint64_t>(train.seed))) {
      SOUK_ASSIGN(auto packed, blob::pack_files({{"shard", shard_file(shard)}}, *store_));
      out.push_back(
          {keep(fmt::format("{} data", what), std::move(packed)), samples_of(shard, train)});
      bar.update(out.size());
    }
    return {};
  };
  // Enough for each worker to have some of its own, each big enough to be worth a transfer.
  const auto chosen = std::clamp<std::int64_t>(4 * job.job.workers.max, 4, 64);
  SOUK_TRY(cut(data.train, local.shards > 0 ? local.shards : static_cast<std::int32_t>(chosen),
               "training", train.shards));
  SOUK_TRY(cut(data.test, local.validation_shards, "validation", train.validation));
  auto& batch = *job.job.batch;
  if (!local.script.empty()) {
    const auto sdk = sdk_folder(c.env());
    if (!sdk) return failed(sdk.error().message, sdk.error().hint);
    SOUK_ASSIGN(auto packed, blob::pack(*sdk, *store_, {.ignore = "__pycache__\n"}));
    batch.inputs.push_back({".souk/python", keep("Python package", std::move(packed)), false});
    SOUK_ASSIGN(auto text, base::read_file(local.script, "script: names a Python file"));
    SOUK_ASSIGN(auto script, blob::pack_files({{"trainer.py", std::move(text)}}, *store_));
    batch.inputs.push_back({"trainer.py", keep(local.script, std::move(script)), true});
    batch.env.try_emplace("PYTHONPATH", "/work/.souk/python");
    batch.env.try_emplace("PYTHONDONTWRITEBYTECODE", "1");
  }
  batch.train = train;
  return {};
}

Result<JobFiles> JobFiles::pack(Context& c, JobFile& job) {
  JobFiles out;
  if (!job.job.batch) return out;
  SOUK_ASSIGN(out.store_, user_store(c));
  const auto add = [&](const std::string& path) -> Result<std::string> {
    Bar bar(c, "reading " + path);
    SOUK_ASSIGN(auto packed, blob::pack(path, *out.store_, {.on_progress = bar.on_progress()}));
    for (const auto& warning : packed.warnings) c.note(warning);
    out.items_.push_back({path, std::move(packed)});
    return base::to_string(out.items_.back().packed.root);
  };
  auto& batch = *job.job.batch;
  if (job.train) SOUK_TRY(out.add_training(c, job));
  if (job.workdir) {
    SOUK_ASSIGN(batch.workdir, add(*job.workdir));
  }
  for (const auto& input : job.inputs) {
    if (!input.blob.empty()) {
      batch.inputs.push_back({input.path, input.blob, false});
      continue;
    }
    auto source = input.source;
    const auto fetched = fs::path(out.store_->path()).parent_path() / "fetched" / input.hash;
    if (!input.hash.empty()) {
      SOUK_ASSIGN(source, fetch(c, input, fetched));
    }
    const bool file = fs::is_regular_file(source);
    SOUK_ASSIGN(auto name, add(source));
    batch.inputs.push_back({input.path, std::move(name), file});
    std::error_code ignored;
    if (!input.hash.empty()) fs::remove_all(fetched, ignored);
  }
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
