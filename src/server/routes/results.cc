#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "blob/folder.h"
#include "market/limits.h"
#include "server/http/app_on_files.h"
#include "wire/api/results.h"

// What a job left, one file at a time: for browsers, which know no chunks and manifests. `souk
// results` fetches whole folders.

namespace souk::server {
namespace {

using base::Code;
using base::fail;
using market::Actor;

constexpr std::int64_t kListed = 1'000, kMostListed = 10'000;
constexpr std::uint64_t kMostBytes = 256 << 20;  // It is in memory while it is sent.

// A folder of results: the job's own or that of one of its parts.
struct Left {
  std::optional<std::int32_t> part;
  std::string blob;
};

bool is_file(const blob::Entry& entry) {
  return entry.kind == blob::Kind::file || entry.kind == blob::Kind::executable;
}

Result<blob::Manifest> manifest_of(const Left& left, const blob::Store& store) {
  const auto whose = left.part ? fmt::format("worker {}", *left.part) : std::string("the job");
  SOUK_ASSIGN(const auto root, blob::parse_digest(left.blob));
  auto manifest = blob::read_manifest(root, store);
  if (manifest) return manifest;
  if (manifest.error().code == Code::not_found)
    return fail(Code::not_found, fmt::format("what {} left is no longer here", whose),
                "files are kept until the server needs their room: fetch them sooner");
  if (manifest.error().code == Code::invalid)  // A lender's agent may name anything.
    return fail(Code::not_found, fmt::format("what {} left is not a folder", whose));
  return manifest;
}

std::vector<Left> all_left(const market::Job& job) {
  std::vector<Left> out;
  if (!job.result.empty()) out.push_back({{}, job.result});
  for (const auto& part : job.parts)
    if (!part.result.empty()) out.push_back({part.index, part.result});
  return out;
}

// The job's own folder, or that of the part that the query names.
Result<Left> one_left(const market::Job& job, const net::Request& http) {
  const auto id = to_string(job.id);
  if (!http.param("part")) {
    if (!job.result.empty()) return Left{{}, job.result};
    return fail(Code::not_found, fmt::format("job {} left nothing as a whole", id),
                fmt::format("its workers may have: /v1/jobs/{}/files lists what there is", id));
  }
  SOUK_ASSIGN(const auto part, number_in(http, "part", 0));
  if (part < market::kPartsMax)
    if (const auto* known = job.part(static_cast<std::int32_t>(part));
        known != nullptr && !known->result.empty())
      return Left{known->index, known->result};
  return fail(Code::not_found, fmt::format("worker {} of job {} left nothing", part, id));
}

// A header's value that saves the file under its own name, whatever that name is (RFC 6266).
std::string attachment(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  std::string plain(name);
  std::ranges::replace_if(
      plain, [](unsigned char c) { return c < 32 || c > 126 || c == '"' || c == '\\'; }, '_');
  auto out = fmt::format("attachment; filename=\"{}\"", plain);
  if (plain != name) out += "; filename*=UTF-8''" + net::percent_encode(name);
  return out;
}

}  // namespace

void App::serve_result_files(CallPtr call) {
  struct Seen {
    std::vector<Left> left;
    std::int64_t after, limit;
  };
  on_files(
      std::move(call),
      [](const market::State& s, const Actor& actor, Call& c) -> Result<Seen> {
        SOUK_ASSIGN(const auto* job, job_for(s, actor, c.params[0]));
        SOUK_ASSIGN(const auto after, number_in(c.http, "after", 0));
        SOUK_ASSIGN(const auto limit, number_in(c.http, "limit", kListed));
        if (limit < 1 || limit > kMostListed)
          return fail(Code::invalid, fmt::format("'limit' is '{}'", limit),
                      fmt::format("use a whole number from 1 to {}", kMostListed), "limit");
        return Seen{all_left(*job), after, limit};
      },
      [this](Call&, const Seen& seen) -> Result<net::Response> {
        wire::ResultFiles out;
        std::int64_t at = 0;
        for (const auto& left : seen.left) {
          const auto manifest = manifest_of(left, *services_.blobs);
          if (!manifest && manifest.error().code != Code::not_found)
            return std::unexpected(manifest.error());
          if (!manifest) {
            out.gone.push_back(manifest.error().message);
            continue;
          }
          for (const auto& entry : manifest->entries) {
            if (!is_file(entry) || at++ < seen.after) continue;
            if (std::ssize(out.items) == seen.limit) {
              out.next = std::to_string(at - 1);
              return as_json(wire::to_json(out));
            }
            out.items.push_back({entry.path, static_cast<std::int64_t>(entry.size), left.part});
          }
        }
        return as_json(wire::to_json(out));
      });
}

void App::serve_result_file(CallPtr call) {
  struct Seen {
    base::JobId job;
    Left left;
    std::string path;
  };
  on_files(
      std::move(call),
      [](const market::State& s, const Actor& actor, Call& c) -> Result<Seen> {
        SOUK_ASSIGN(const auto* job, job_for(s, actor, c.params[0]));
        const auto path = c.http.param("path");
        if (!path || path->empty())
          return fail(Code::invalid, "which file?", "give path=NAME, as the list of files has it",
                      "path");
        SOUK_ASSIGN(auto left, one_left(*job, c.http));
        return Seen{job->id, std::move(left), std::string(*path)};
      },
      [this](Call&, const Seen& seen) -> Result<net::Response> {
        SOUK_ASSIGN(const auto manifest, manifest_of(seen.left, *services_.blobs));
        const auto it = std::ranges::find(manifest.entries, seen.path, &blob::Entry::path);
        if (it == manifest.entries.end() || !is_file(*it))
          return Context::no_such("file", seen.path);
        if (it->size > kMostBytes)
          return fail(Code::too_large,
                      fmt::format("'{}' has {}, more than the {} that are sent at once", seen.path,
                                  base::bytes_text(it->size), base::bytes_text(kMostBytes)),
                      fmt::format("fetch it with: souk results {}", to_string(seen.job)));
        SOUK_ASSIGN(auto bytes, blob::read_file(manifest, seen.path, *services_.blobs));
        auto out = as_bytes(std::move(bytes));
        out.headers.emplace_back("Content-Disposition", attachment(seen.path));
        return out;
      });
}

void add_result_routes(Routes& routes) {
  auto& list = routes.special<void, wire::ResultFiles>("GET", "/v1/jobs/{id}/files", "listFiles",
                                                       "The files that a job and its workers left",
                                                       Access::user, 200);
  list.doc.query = {{"limit", "integer", "Files in an answer: 1 to 10000, 1000 by default.", false},
                    {"after", "string", "The `next` of the answer before.", false}};
  auto& file =
      routes.special<void, void>("GET", "/v1/jobs/{id}/file", "getFile",
                                 "One of these files, of 256 MiB at most", Access::user, 200);
  file.doc.media = "application/octet-stream";
  file.doc.query = {{"path", "string", "As in the list.", true},
                    {"part", "integer", "As in the list: of this worker.", false}};
}

}  // namespace souk::server
