#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/hash.h"
#include "blob/s3/bucket.h"
#include "net/server.h"

namespace souk::blob::testing {

// As much of an S3 store as it takes to fail in chosen ways, on loopback: what a real one does only
// on bad days. That requests are right, a real one says (tests/test_s3.py). Thread-safe.
class FaultS3 {
 public:
  FaultS3() { start(0); }

  // "PUT bucket/key" and so on, in order.
  [[nodiscard]] std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  [[nodiscard]] std::size_t count(std::string_view beginning) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count_if(
        asked_, [&](const auto& what) { return what.starts_with(beginning); }));
  }
  [[nodiscard]] std::map<std::string, std::string> objects() const {
    const std::lock_guard lock(mutex_);
    return objects_;
  }
  void set(const std::string& key, std::string bytes) {
    const std::lock_guard lock(mutex_);
    objects_[key] = std::move(bytes);
  }
  void erase(const std::string& key) {
    const std::lock_guard lock(mutex_);
    objects_.erase(key);
  }
  // The next requests get these answers: a status and an S3 error code.
  void refuse(std::vector<std::pair<int, std::string>> answers) {
    const std::lock_guard lock(mutex_);
    refusals_.insert(refusals_.end(), answers.begin(), answers.end());
  }
  // So many objects in a page of a listing.
  std::atomic<std::size_t> page = 1'000;
  std::atomic<int> damages = 0;  // So many GETs of objects give other bytes.
  // Only this key is taken; empty: any.
  void set_key(std::string id) {
    const std::lock_guard lock(mutex_);
    key_ = std::move(id);
  }
  void stop() {
    port_ = server_->port();
    server_.reset();
  }
  void start_again() { start(port_); }

  [[nodiscard]] std::string url(std::string_view rest = "") const {
    return fmt::format("s3://bucket/pre?endpoint=http://127.0.0.1:{}{}", server_->port(), rest);
  }
  // A bucket that waits little between its tries.
  [[nodiscard]] std::unique_ptr<Bucket> bucket(Bucket::ReadKey key = {}) const {
    if (!key) key = [] { return net::AwsKey{"id", "secret", ""}; };
    auto made = Bucket::make(*parse_s3(url()), std::move(key), clock_,
                             {.timeout = base::seconds(20), .first_wait = base::milliseconds(1)});
    CHECK(made.has_value());
    return *std::move(made);
  }

 private:
  void start(std::uint16_t port) {
    auto made = net::Server::start(
        {.address = "127.0.0.1", .port = port, .threads = 2, .max_body_bytes = 64 << 20},
        [this](const net::Request& r, net::Reply reply) { reply.send(answer(r)); });
    CHECK(made.has_value());
    server_ = *std::move(made);
  }

  static net::Response xml(std::string body, int status = 200) {
    return {.status = status, .content_type = "application/xml", .body = std::move(body)};
  }
  static net::Response error(int status, std::string_view code) {
    return xml(fmt::format("<Error><Code>{}</Code><Message>no</Message></Error>", code), status);
  }

  net::Response answer(const net::Request& r) {
    const std::lock_guard lock(mutex_);
    asked_.push_back(r.method + " " + r.target.substr(1));
    if (!refusals_.empty()) {
      const auto [status, code] = refusals_.front();
      refusals_.pop_front();
      return error(status, code);
    }
    if (!key_.empty() && !r.header("Authorization").contains("Credential=" + key_ + "/"))
      return error(403, "InvalidAccessKeyId");
    const auto slash = r.path.find('/', 1);
    if (slash == r.path.npos) return r.param("uploads") ? list_uploads() : list(r);
    const auto key = r.path.substr(slash + 1);
    if (r.param("uploads")) return begin(key);
    if (r.param("uploadId")) return upload(r, key, std::string(*r.param("uploadId")));
    if (r.method == "PUT") {
      objects_[key] = r.body;
      return {.status = 200};
    }
    if (r.method == "DELETE") {
      objects_.erase(key);
      return {.status = 204};
    }
    const auto it = objects_.find(key);
    if (it == objects_.end()) return error(404, "NoSuchKey");
    net::Response out{.content_type = "application/octet-stream", .body = it->second};
    if (r.method == "GET" && damages > 0) {
      --damages;
      out.body.back() = static_cast<char>(out.body.back() ^ 1);
    }
    if (const auto range = r.header("Range"); !range.empty()) {
      std::uint64_t from = 0, to = 0;
      CHECK(std::sscanf(std::string(range).c_str(), "bytes=%lu-%lu", &from, &to) == 2);
      out.status = 206;
      out.body = out.body.substr(from, to - from + 1);
    }
    return out;
  }

  net::Response list(const net::Request& r) {
    const std::string prefix(r.param("prefix").value_or(""));
    const std::string after(r.param("continuation-token").value_or(""));
    std::string items;
    std::size_t n = 0;
    std::string last;
    for (auto it = objects_.upper_bound(std::max(prefix, after)); it != objects_.end(); ++it) {
      if (!it->first.starts_with(prefix)) break;
      if (n++ == page)
        return xml(
            fmt::format("<R>{}<IsTruncated>true</IsTruncated>"
                        "<NextContinuationToken>{}</NextContinuationToken></R>",
                        items, last));
      last = it->first;
      items += fmt::format(
          "<Contents><Key>{}</Key><Size>{}</Size><LastModified>2026-11-01T00:00:00"
          ".000Z</LastModified></Contents>",
          it->first, it->second.size());
    }
    return xml(fmt::format("<R>{}<IsTruncated>false</IsTruncated></R>", items));
  }

  net::Response list_uploads() {
    std::string items;
    for (const auto& [id, upload] : uploads_)
      items += fmt::format(
          "<Upload><Key>{}</Key><UploadId>{}</UploadId><Initiated>2026-11-01T00:00:"
          "0{}Z</Initiated></Upload>",
          upload.key, id, id);
    return xml("<R>" + items + "</R>");
  }
  net::Response begin(const std::string& key) {
    const auto id = std::to_string(uploads_.size() + 1);
    uploads_[id].key = key;
    return xml("<R><UploadId>" + id + "</UploadId></R>");
  }
  // Not MD5, which only those can know who look: so whoever compares sends again.
  static std::string etag(std::string_view bytes) { return to_string(base::blake2b(bytes)); }

  net::Response upload(const net::Request& r, const std::string& key, const std::string& id) {
    const auto it = uploads_.find(id);
    if (it == uploads_.end()) return error(404, "NoSuchUpload");
    auto& parts = it->second.parts;
    if (r.method == "PUT") {
      const auto n = std::stoi(std::string(*r.param("partNumber")));
      parts[n] = r.body;
      return {.headers = {{"ETag", "\"" + etag(r.body) + "\""}}};
    }
    if (r.method == "GET") {
      std::string items;
      for (const auto& [n, bytes] : parts)
        items += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>&quot;{}&quot;</ETag></Part>",
                             n, etag(bytes));
      return xml("<R>" + items + "</R>");
    }
    std::string whole;
    for (const auto& [n, bytes] : parts) whole += bytes;
    objects_[key] = whole;
    uploads_.erase(it);
    return xml("<CompleteMultipartUploadResult/>");
  }

  struct Upload {
    std::string key;
    std::map<int, std::string> parts;
  };
  const base::SystemClock clock_;
  mutable std::mutex mutex_;
  std::vector<std::string> asked_;
  std::map<std::string, std::string> objects_;
  std::map<std::string, Upload> uploads_;
  std::deque<std::pair<int, std::string>> refusals_;
  std::string key_;
  std::uint16_t port_ = 0;
  std::unique_ptr<net::Server> server_;
};

}  // namespace souk::blob::testing
