#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/check.h"
#include "blob/s3/bucket.h"
#include "net/aws/xml.h"

// Objects that are too large for one request. The store keeps the parts of an upload that was never
// finished; whoever sends the same object again finds it there and sends only what is absent. A
// part counts as sent when its MD5, which the store has as its ETag, is that of our bytes.

namespace souk::blob {
namespace {

using base::Code;
using base::fail;
using base::Result;

std::string md5_hex(std::string_view bytes) {
  std::array<unsigned char, 16> out{};
  CHECK(EVP_Digest(bytes.data(), bytes.size(), out.data(), nullptr, EVP_md5(), nullptr) == 1);
  return base::to_hex({reinterpret_cast<const char*>(out.data()), out.size()});
}

std::string bare(std::string_view etag) {
  while (etag.starts_with('"')) etag.remove_prefix(1);
  while (etag.ends_with('"')) etag.remove_suffix(1);
  return std::string(etag);
}

int small_number(std::string_view text) {
  int out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

}  // namespace

// The upload of that very key that was begun last; empty without one.
Result<std::string> Bucket::unfinished(const std::string& key) {
  const Call call{.query = {{"uploads", ""}, {"prefix", key}}};
  SOUK_ASSIGN(const auto answer, send(call));
  if (answer.status / 100 != 2) return refusal(call, answer);
  SOUK_ASSIGN(const auto xml, net::parse_xml(answer.body));
  std::string id, when;
  for (const auto* upload : xml.all("Upload")) {
    if (upload->at("Key").text != key || upload->at("Initiated").text < when) continue;
    id = upload->at("UploadId").text;
    when = upload->at("Initiated").text;
  }
  return id;
}

Result<std::vector<Bucket::Part>> Bucket::parts_of(const std::string& key,
                                                   const std::string& upload) {
  std::vector<Part> out;
  std::string marker;
  for (int page = 0; page < 100; ++page) {
    Call call{.key = key, .query = {{"uploadId", upload}, {"max-parts", "1000"}}};
    if (!marker.empty()) call.query.emplace_back("part-number-marker", marker);
    SOUK_ASSIGN(const auto answer, send(call));
    if (answer.status == 404) return out;  // Ended meanwhile.
    SOUK_ASSIGN(const auto xml, net::parse_xml(answer.body));
    for (const auto* part : xml.all("Part"))
      out.push_back({small_number(part->at("PartNumber").text), bare(part->at("ETag").text)});
    marker = xml.at("NextPartNumberMarker").text;
    if (xml.at("IsTruncated").text != "true" || marker.empty()) break;
  }
  return out;
}

Result<std::string> Bucket::begin(const std::string& key) {
  const Call call{.method = "POST", .key = key, .query = {{"uploads", ""}}};
  SOUK_ASSIGN(const auto answer, send(call));
  if (answer.status / 100 != 2) return refusal(call, answer);
  SOUK_ASSIGN(const auto xml, net::parse_xml(answer.body));
  auto id = xml.at("UploadId").text;
  if (id.empty()) return fail(Code::unavailable, "the store began an upload and did not name it");
  return id;
}

Result<> Bucket::finish(const std::string& key, const std::string& upload,
                        const std::vector<Part>& parts) {
  std::string body = "<CompleteMultipartUpload>";
  for (const auto& part : parts)
    body += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>&quot;{}&quot;</ETag></Part>",
                        part.number, part.etag);
  body += "</CompleteMultipartUpload>";
  const Call call{.method = "POST", .key = key, .query = {{"uploadId", upload}}, .body = body};
  SOUK_ASSIGN(const auto answer, send(call));
  if (answer.status / 100 != 2) return refusal(call, answer);
  // It may begin with 200 and turn out badly.
  const auto xml = net::parse_xml(answer.body);
  if (xml && xml->name == "Error")
    return fail(Code::unavailable, fmt::format("the store could not put the parts together: {}",
                                               xml->at("Message").text));
  return {};
}

Result<> Bucket::put_large(std::string_view name, std::uint64_t bytes, const Read& read) {
  if (bytes <= kPartBytes) {
    SOUK_ASSIGN(const auto all, read(0, bytes));
    return put(name, all);
  }
  if (bytes > kPartBytes * 10'000)
    return fail(Code::too_large, fmt::format("an object of {} bytes", bytes),
                fmt::format("{} at most", kPartBytes * 10'000));
  const auto key = address_.prefix + std::string(name);
  SOUK_ASSIGN(auto upload, unfinished(key));
  std::map<int, std::string> sent;
  if (!upload.empty()) {
    SOUK_ASSIGN(const auto there, parts_of(key, upload));
    for (const auto& part : there) sent[part.number] = part.etag;
  } else {
    SOUK_ASSIGN(upload, begin(key));
  }
  std::vector<Part> parts;
  for (std::uint64_t at = 0; at < bytes; at += kPartBytes) {
    const int n = static_cast<int>(parts.size()) + 1;
    SOUK_ASSIGN(const auto piece, read(at, std::min(kPartBytes, bytes - at)));
    const auto md5 = md5_hex(piece);
    if (const auto it = sent.find(n); it != sent.end() && it->second == md5) {
      parts.push_back({n, md5, piece.size()});
      continue;
    }
    const Call call{.method = "PUT",
                    .key = key,
                    .query = {{"partNumber", std::to_string(n)}, {"uploadId", upload}},
                    .body = piece};
    SOUK_ASSIGN(const auto answer, send(call));
    if (answer.status / 100 != 2) return refusal(call, answer);
    parts.push_back({n, bare(answer.header("ETag")), piece.size()});
  }
  SOUK_TRY(finish(key, upload, parts));
  SOUK_ASSIGN(const auto size, size_of(name));
  if (size != bytes)
    return fail(Code::damaged, fmt::format("{}/{} has {} bytes after an upload of {}",
                                           address_.name(), name, size.value_or(0), bytes));
  return {};
}

}  // namespace souk::blob
