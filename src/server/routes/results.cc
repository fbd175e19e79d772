#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "blob/folder.h"
#include "market/limits.h"
#include "server/http/router.h"
#include "server/routes/lookups.h"
#include "wire/api/results.h"

// What a job left, one file at a time: for browsers, which know no chunks and manifests. `souk
// results` fetches whole folders.

namespace souk::server {
namespace {

using base::Code;
using base::fail;

constexpr std::int64_t kListed = 1'000, kMostListed = 10'000;
constexpr std::uint64_t kMostBytes = 256 << 20;  // For browsers; a connection may break.

// A folder of results: the job's own or that of one of its parts.
struct ResultFolder {
  std::optional<std::int32_t> part;
  std::string blob;
};

bool is_file(const blob::Entry& entry) {
  return entry.kind == blob::Kind::file || entry.kind == blob::Kind::executable;
}

Result<blob::Manifest> manifest_of(const ResultFolder& folder, const blob::Store& store) {
  const auto whose = folder.part ? fmt::format("worker {}", *folder.part) : std::string("the job");
  SOUK_ASSIGN(const auto root, blob::parse_digest(folder.blob));
  auto manifest = blob::read_manifest(root, store);
  if (manifest) return manifest;
  if (manifest.error().code == Code::not_found)
    return fail(Code::not_found, fmt::format("what {} left is no longer here", whose),
                "files are kept until the server needs their room: fetch them sooner");
  if (manifest.error().code == Code::invalid)  // A lender's agent may name anything.
    return fail(Code::not_found, fmt::format("what {} left is not a folder", whose));
  return manifest;
}

std::vector<ResultFolder> all_folders(const market::Job& job) {
  std::vector<ResultFolder> out;
  if (!job.result.empty()) out.push_back({{}, job.result});
  for (const auto& part : job.parts)
    if (!part.result.empty()) out.push_back({part.index, part.result});
  return out;
}

// The job's own folder, or that of the part that the query names.
Result<ResultFolder> one_folder(const market::Job& job, const net::Request& http) {
  const auto id = to_string(job.id);
  if (!http.param("part")) {
    if (!job.result.empty()) return ResultFolder{{}, job.result};
    return fail(Code::not_found, fmt::format("job {} left nothing as a whole", id),
                fmt::format("its workers may have: /v1/jobs/{}/files lists what there is", id));
  }
  SOUK_ASSIGN(const auto part, number_in(http, "part", 0));
  if (part < market::kPartsMax)
    if (const auto* known = job.part(static_cast<std::int32_t>(part));
        known != nullptr && !known->result.empty())
      return ResultFolder{known->index, known->result};
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

// --- The list ------------------------------------------------------------------------------------

struct ListRequest {
  std::vector<ResultFolder> folders;
  std::int64_t after, limit;
};

Result<ListRequest> list_request(Context& c) {
  SOUK_ASSIGN(const auto* job, job_for(c));
  SOUK_ASSIGN(const auto after, number_in(c.http(), "after", 0));
  SOUK_ASSIGN(const auto limit, number_in(c.http(), "limit", kListed));
  if (limit < 1 || limit > kMostListed)
    return fail(Code::invalid, fmt::format("'limit' is '{}'", limit),
                fmt::format("use a whole number from 1 to {}", kMostListed), "limit");
  return ListRequest{all_folders(*job), after, limit};
}

Result<wire::ResultFiles> list_files(PoolContext& p, const ListRequest& request) {
  wire::ResultFiles out;
  std::int64_t at = 0;
  for (const auto& folder : request.folders) {
    const auto manifest = manifest_of(folder, *p.services().blobs);
    if (!manifest && manifest.error().code != Code::not_found)
      return std::unexpected(manifest.error());
    if (!manifest) {
      out.gone.push_back(manifest.error().message);
      continue;
    }
    for (const auto& entry : manifest->entries) {
      if (!is_file(entry) || at++ < request.after) continue;
      if (std::ssize(out.items) == request.limit) {
        out.next = std::to_string(at - 1);
        return out;
      }
      out.items.push_back({entry.path, static_cast<std::int64_t>(entry.size), folder.part});
    }
  }
  return out;
}

// --- One file ------------------------------------------------------------------------------------

struct FileRequest {
  base::JobId job;
  ResultFolder folder;
  std::string path;
};

Result<FileRequest> file_request(Context& c) {
  SOUK_ASSIGN(const auto* job, job_for(c));
  const auto path = c.query("path");
  if (path.empty())
    return fail(Code::invalid, "the request does not say which file",
                "give path=NAME, as the list of files has it", "path");
  SOUK_ASSIGN(auto folder, one_folder(*job, c.http()));
  return FileRequest{job->id, std::move(folder), std::string(path)};
}

// A file on its way to somebody who may read slowly: one chunk of it is in memory, and the next is
// read when that has left. Its callbacks own it: on I/O threads, and on file threads, one at a
// time.
class Download : public std::enable_shared_from_this<Download> {
 public:
  Download(Pool& files, const blob::Store& blobs, std::vector<blob::Digest> chunks,
           base::BudgetShare share)
      : files_(files),
        blobs_(blobs),
        chunks_(std::move(chunks)),
        pin_(blobs.pin(chunks_)),
        share_(std::move(share)) {}

  // On a file thread, before the answer begins: whatever is wrong with the first chunk is told.
  Result<> read_next() {
    sent_ = 0;
    chunk_.clear();
    if (next_ == chunks_.size()) return {};
    SOUK_ASSIGN(chunk_, blobs_.content(chunks_[next_++]));
    return {};
  }

  void send_to(net::Stream stream) {
    stream_ = std::move(stream);
    go_on();
  }

 private:
  static constexpr std::size_t kPiece = 512 << 10;  // What one write may queue is limited.

  void go_on() {
    if (!stream_.open()) return;
    if (sent_ < chunk_.size()) {
      stream_.write(std::make_shared<const std::string>(chunk_.substr(sent_, kPiece)));
      sent_ = std::min(chunk_.size(), sent_ + kPiece);
      return stream_.when_sent([self = shared_from_this()] { self->go_on(); });
    }
    if (next_ == chunks_.size()) return stream_.close();
    const bool posted = files_.post([self = shared_from_this()] {
      if (self->read_next())
        self->go_on();
      else
        self->stream_.cut();
    });
    if (!posted) stream_.cut();
  }

  Pool& files_;
  const blob::Store& blobs_;
  const std::vector<blob::Digest> chunks_;
  const blob::Store::Pin pin_;
  const base::BudgetShare share_;  // Of downloads.
  net::Stream stream_;
  std::size_t next_ = 0;  // Of chunks_, to be read.
  std::string chunk_;
  std::size_t sent_ = 0;  // Of chunk_.
};

Result<blob::Entry> entry_of(const FileRequest& request, const blob::Store& blobs) {
  SOUK_ASSIGN(const auto manifest, manifest_of(request.folder, blobs));
  const auto it = std::ranges::find(manifest.entries, request.path, &blob::Entry::path);
  if (it == manifest.entries.end() || !is_file(*it)) return Context::no_such("file", request.path);
  if (it->size > kMostBytes)
    return fail(Code::too_large,
                fmt::format("'{}' has {}, more than the {} that are sent at once", request.path,
                            base::bytes_text(it->size), base::bytes_text(kMostBytes)),
                fmt::format("fetch it with: souk results {}", to_string(request.job)));
  return *it;
}

// On a file thread.
void send_file(ServerContext& server, ApiCallPtr call, const FileRequest& request,
               base::BudgetShare share) {
  const auto& blobs = *server.services.blobs;
  auto entry = entry_of(request, blobs);
  if (!entry) return call->reply.send(problem(entry.error()));
  const auto download =
      std::make_shared<Download>(server.files, blobs, std::move(entry->chunks), std::move(share));
  if (const auto first = download->read_next(); !first)
    return call->reply.send(problem(first.error()));
  auto head = bytes_response("");
  head.headers.emplace_back("Content-Disposition", attachment(request.path));
  download->send_to(call->reply.stream(std::move(head)));
}

Result<Continuation> get_file(Context& c) {
  SOUK_ASSIGN(auto request, file_request(c));
  SOUK_ASSIGN(auto share,
              base::BudgetShare::take(c.services().budgets.downloads, party(c.actor.account), 1));
  return [&server = c.server(), request = std::move(request), share = std::move(share)](
             Core::Turn&, ApiCallPtr call) mutable {
    to_pool(
        server.files, std::move(call),
        [&server, request = std::move(request), share = std::move(share)](ApiCallPtr own) mutable {
          send_file(server, std::move(own), request, std::move(share));
        });
  };
}

}  // namespace

void add_result_routes(Routes& routes) {
  auto& list = routes.on_files("GET", "/v1/jobs/{id}/files", "listFiles",
                               "The files that a job and its workers left", Access::user,
                               &list_request, &list_files);
  list.doc.query = {{"limit",
                     "integer",
                     "Files in an answer: 1 to 10000, 1000 by default.",
                     false,
                     {},
                     1,
                     kMostListed},
                    {"after", "string", "The `next` of the answer before.", false}};
  auto& file = routes.waiting<net::Response>("/v1/jobs/{id}/file", "getFile",
                                             "One of these files, of 256 MiB at most", Access::user,
                                             &get_file);
  file.doc.media = "application/octet-stream";
  file.doc.query = {{"path", "string", "As in the list.", true},
                    {"part", "integer", "As in the list: of this worker.", false}};
}

}  // namespace souk::server
