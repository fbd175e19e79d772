#include "blob/s3/bucket.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <thread>

#include "base/text.h"
#include "net/aws/xml.h"

namespace souk::blob {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kMostIdle = 16;          // Connections.
constexpr std::size_t kMostAnswer = 64 << 20;  // Bytes of one answer.
constexpr int kMostPages = 100'000;            // A hundred million objects.
constexpr std::int64_t kQuiet_ns = 1'000'000'000;

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::uint64_t number(std::string_view text) {
  std::uint64_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

// The authority of a URL: what follows "://".
std::string host_of(const std::string& origin) { return origin.substr(origin.find("://") + 3); }

// What the store says when the same request may be granted in a moment.
bool asks_to_wait(int status, std::string_view code) {
  constexpr std::array<std::string_view, 5> kWords{"SlowDown", "RequestTimeout", "InternalError",
                                                   "ServiceUnavailable", "OperationAborted"};
  return status >= 500 || status == 429 || status == 408 ||
         std::ranges::find(kWords, code) != kWords.end();
}

bool is_good(const net::Response& answer) { return answer.status / 100 == 2; }

}  // namespace

Bucket::Bucket(S3Address address, ReadKey key, const base::Clock& clock, Options options)
    : address_(std::move(address)), read_key_(std::move(key)), clock_(clock), options_(options) {}

Result<std::unique_ptr<Bucket>> Bucket::make(S3Address address, ReadKey key,
                                             const base::Clock& clock, Options options) {
  std::unique_ptr<Bucket> out(new Bucket(std::move(address), std::move(key), clock, options));
  SOUK_ASSIGN(out->key_, out->read_key_());
  return out;
}

net::AwsKey Bucket::key() const {
  const std::lock_guard lock(mutex_);
  return key_;
}

bool Bucket::renew_key(const net::AwsKey& refused) {
  auto fresh = read_key_();
  if (!fresh || *fresh == refused) return false;
  const std::lock_guard lock(mutex_);
  key_ = *std::move(fresh);
  return true;
}

bool Bucket::quiet() const {
  const std::lock_guard lock(mutex_);
  return cancelled_ || steady_ns() < quiet_until_ns_;
}

void Bucket::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  for (auto* client : busy_) client->cancel();
}

net::AwsRequest Bucket::request_of(const Call& call, const std::string& endpoint) const {
  // Of the bucket itself: its path ends without a '/', or is one.
  const bool whole = call.key.empty();
  auto path = whole ? (address_.path_style ? "/" + address_.bucket : "/")
                    : fmt::format("/{}{}{}", address_.path_style ? address_.bucket : "",
                                  address_.path_style ? "/" : "", call.key);
  return {.method = call.method,
          .host = host_of(address_.origin(endpoint)),
          .path = net::aws_path(path),
          .query = call.query,
          .headers = call.headers,
          .payload_sha256 = call.body.empty() ? std::string() : net::sha256_hex(call.body),
          .region = address_.region};
}

// A client that cancel() reaches, until the call is over, however it ends.
class Bucket::Busy {
 public:
  Busy(Bucket& bucket, net::Client& client) : bucket_(bucket), client_(client) {
    const std::lock_guard lock(bucket_.mutex_);
    if (bucket_.cancelled_) client_.cancel();
    bucket_.busy_.push_back(&client_);
  }
  ~Busy() {
    const std::lock_guard lock(bucket_.mutex_);
    std::erase(bucket_.busy_, &client_);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  Bucket& bucket_;
  net::Client& client_;
};

Result<net::Response> Bucket::try_once(const Call& call) {
  std::optional<net::Client> client;
  net::AwsKey key;
  {
    const std::lock_guard lock(mutex_);
    key = key_;
    if (!idle_.empty()) {
      client = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!client) {
    SOUK_ASSIGN(client, net::Client::make({.base_url = address_.origin(address_.endpoint),
                                           .connect_timeout = base::seconds(5),
                                           .total_timeout = options_.timeout,
                                           .max_response_bytes = kMostAnswer,
                                           .ca_file = address_.ca_file}));
  }
  const auto request = request_of(call, address_.endpoint);
  auto headers = net::aws_signed(request, key, clock_.now());
  if (!call.body.empty()) headers.emplace_back("Content-Type", "application/octet-stream");
  auto answer = [&] {
    const Busy busy(*this, *client);
    return client->send(call.method, request.path + net::aws_query(request), headers, call.body);
  }();
  const std::lock_guard lock(mutex_);
  if (answer) {
    quiet_until_ns_ = 0;
    if (idle_.size() < kMostIdle) idle_.push_back(*std::move(client));
  } else {
    // Without the address that was asked, whose query is nobody's business.
    const std::string_view said = answer.error().message;
    const auto why = said.rfind(": ");
    answer.error().message = fmt::format("the store of {} does not answer: {}", address_.name(),
                                         why == said.npos ? said : said.substr(why + 2));
  }
  return answer;
}

Result<net::Response> Bucket::send(const Call& call) {
  auto wait = options_.first_wait;
  bool renewed = false;
  for (int tries = 1;; ++tries, wait = wait * 2) {
    if (quiet())
      return fail(Code::unavailable,
                  fmt::format("the store of {} did not answer a moment ago", address_.name()),
                  "try again in a few seconds");
    const auto used = key();
    auto answer = try_once(call);
    if (answer && (is_good(*answer) || answer->status == 404)) return answer;
    auto error = answer ? refusal(call, *answer).error() : std::move(answer).error();
    if (error.code == Code::forbidden && !renewed && renew_key(used)) {
      renewed = true;
      continue;
    }
    if (error.code != Code::unavailable || tries >= options_.tries) {
      const std::lock_guard lock(mutex_);
      if (!answer) quiet_until_ns_ = steady_ns() + kQuiet_ns;
      return std::unexpected(std::move(error));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(wait.us));
  }
}

base::Failure Bucket::refusal(const Call& call, const net::Response& answer) {
  const auto parsed = net::parse_xml(answer.body);
  const auto code = parsed ? parsed->at("Code").text : std::string();
  const auto what = fmt::format(
      "{} {}{}: {}", call.method, address_.name(), call.key.empty() ? "" : " (an object)",
      code.empty() ? fmt::format("status {}", answer.status)
                   : fmt::format("{}: {}", code, parsed->at("Message").text));
  if (asks_to_wait(answer.status, code)) return fail(Code::unavailable, what, "try again");
  if (code == "RequestTimeTooSkewed")
    return fail(Code::forbidden, what, "set the clock of this computer right");
  if (answer.status == 401 || answer.status == 403)
    return fail(
        Code::forbidden, what,
        "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, the region and what the key may do");
  if (answer.status == 404)
    return fail(Code::not_found, what,
                code == "NoSuchBucket" ? "make the bucket first: this never does" : "");
  if (answer.status / 100 == 3)
    return fail(Code::invalid, what, "the bucket is in another region: give region= or endpoint=");
  return fail(Code::invalid, what);
}

Result<> Bucket::put(std::string_view key, std::string_view bytes) {
  const Call call{.method = "PUT", .key = address_.prefix + std::string(key), .body = bytes};
  SOUK_ASSIGN(const auto answer, send(call));
  if (!is_good(answer)) return refusal(call, answer);
  return {};
}

Result<base::Bytes> Bucket::get(std::string_view key) {
  const Call call{.key = address_.prefix + std::string(key)};
  SOUK_ASSIGN(auto answer, send(call));
  if (!is_good(answer)) return refusal(call, answer);
  return std::move(answer.body);
}

Result<base::Bytes> Bucket::get(std::string_view key, std::uint64_t from, std::uint64_t bytes) {
  if (bytes == 0) return base::Bytes();
  const Call call{.key = address_.prefix + std::string(key),
                  .headers = {{"Range", fmt::format("bytes={}-{}", from, from + bytes - 1)}}};
  SOUK_ASSIGN(auto answer, send(call));
  if (!is_good(answer)) return refusal(call, answer);
  if (answer.status != 206 && (from > 0 || answer.body.size() > bytes))
    return fail(Code::invalid, fmt::format("the store of {} knows no ranges", address_.name()));
  return std::move(answer.body);
}

Result<std::optional<std::uint64_t>> Bucket::size_of(std::string_view key) {
  const Call call{.method = "HEAD", .key = address_.prefix + std::string(key)};
  SOUK_ASSIGN(const auto answer, send(call));
  if (answer.status == 404) return std::nullopt;
  return number(answer.header("Content-Length"));
}

Result<> Bucket::remove(std::string_view key) {
  SOUK_TRY(send({.method = "DELETE", .key = address_.prefix + std::string(key)}));
  return {};
}

Result<std::vector<Bucket::Object>> Bucket::list(std::string_view start) {
  std::vector<Object> out;
  std::string next;
  for (int page = 0; page < kMostPages; ++page) {
    Call call{.query = {{"list-type", "2"},
                        {"max-keys", "1000"},
                        {"prefix", address_.prefix + std::string(start)}}};
    if (!next.empty()) call.query.emplace_back("continuation-token", next);
    SOUK_ASSIGN(const auto answer, send(call));
    if (!is_good(answer)) return refusal(call, answer);
    SOUK_ASSIGN(const auto xml, net::parse_xml(answer.body));
    for (const auto* item : xml.all("Contents")) {
      const auto& key = item->at("Key").text;
      if (!key.starts_with(address_.prefix)) continue;
      out.push_back({key.substr(address_.prefix.size()), number(item->at("Size").text),
                     base::parse_time(item->at("LastModified").text).value_or(base::Time())});
    }
    next = xml.at("NextContinuationToken").text;
    if (xml.at("IsTruncated").text != "true" || next.empty()) return out;
  }
  return fail(Code::too_large, fmt::format("{} has too many objects", address_.name()));
}

std::string Bucket::direct_url(std::string_view key, base::Duration lasts) const {
  if (address_.direct.empty()) return "";
  const auto request = request_of({.key = address_.prefix + std::string(key)}, address_.direct);
  return address_.origin(address_.direct) +
         net::aws_presigned(request, this->key(), clock_.now(), lasts);
}

}  // namespace souk::blob
