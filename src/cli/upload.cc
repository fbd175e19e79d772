#include "cli/upload.h"

#include <fmt/format.h>
#include <sodium.h>

#include <filesystem>
#include <fstream>

#include "agent/remote.h"
#include "blob/folder.h"
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

Result<std::string> send_folder(Context& c, blob::Store& store, const std::string& path) {
  SOUK_ASSIGN(const auto* target, c.target());
  std::optional<Progress> bar;
  const auto show = [&](std::string what) {
    return [&bar, &c, what](const blob::Progress& p) {
      if (!bar) bar.emplace(what, "bytes", p.bytes_total, c.err());
      bar->update(p.bytes_done);
    };
  };
  SOUK_ASSIGN(const auto packed, blob::pack(path, store, {.on_progress = show("reading " + path)}));
  bar.reset();
  for (const auto& warning : packed.warnings) c.note(warning);
  const agent::LinkOptions link{.servers = {target->server},
                                .token = target->token,
                                .ca_file = target->ca,
                                .pin = target->pin,
                                .timeout = base::minutes(2)};
  SOUK_ASSIGN(const auto stats, blob::upload(packed.root, store, agent::blobs_at(link),
                                             {.on_progress = show("sending " + path)}));
  bar.reset();
  if (!c.json())
    c.note(fmt::format("{}: {} in {}, {} sent", path, bytes_text(packed.manifest.total_bytes()),
                       plural(std::ssize(packed.manifest.entries), "file"),
                       bytes_text(stats.bytes_moved)));
  return base::to_string(packed.root);
}

}  // namespace

Result<std::unique_ptr<blob::Store>> user_store(const Context& c) {
  auto folder = c.env()("XDG_CACHE_HOME").value_or("");
  if (folder.empty()) folder = c.env()("HOME").value_or("/tmp") + "/.cache";
  folder += "/souk";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return failed(fmt::format("cannot make {}: {}", folder, error.message()),
                  "set XDG_CACHE_HOME to a folder that can be written to");
  return blob::Store::open(folder + "/blobs", {.max_bytes = kCacheBytes});
}

Result<std::uint64_t> bytes_to_bring(const JobFile& file) {
  std::uint64_t out = 0;
  const auto add = [&](const std::string& path) -> Result<> {
    SOUK_ASSIGN(const auto plan, blob::plan(path));
    out += plan.total_bytes;
    return {};
  };
  if (file.workdir) SOUK_TRY(add(*file.workdir));
  for (const auto& input : file.inputs)
    if (!input.source.empty() && input.hash.empty()) SOUK_TRY(add(input.source));
  return out;
}

Result<> upload_files(Context& c, JobFile& job) {
  if (!job.job.batch) return {};
  SOUK_ASSIGN(const auto store, user_store(c));
  auto& batch = *job.job.batch;
  if (job.workdir) {
    SOUK_ASSIGN(batch.workdir, send_folder(c, *store, *job.workdir));
  }
  for (const auto& input : job.inputs) {
    auto blob = input.blob;
    bool file = false;
    if (blob.empty()) {
      auto source = input.source;
      const auto folder = fs::path(store->path()).parent_path() / "fetched" / input.hash;
      if (!input.hash.empty()) {
        SOUK_ASSIGN(source, fetch(c, input, folder));
      }
      file = fs::is_regular_file(source);
      SOUK_ASSIGN(blob, send_folder(c, *store, source));
      std::error_code ignored;
      if (!input.hash.empty()) fs::remove_all(folder, ignored);
    }
    batch.inputs.push_back({input.path, std::move(blob), file});
  }
  return {};
}

}  // namespace souk::cli
