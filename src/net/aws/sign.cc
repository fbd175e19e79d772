#include "net/aws/sign.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "base/check.h"
#include "base/hash.h"
#include "base/text.h"

namespace souk::net {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kNoBody =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string hmac(std::string_view key, std::string_view text) {
  std::array<unsigned char, 32> out{};
  unsigned size = 0;
  CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), out.data(),
             &size) != nullptr &&
        size == out.size());
  return {reinterpret_cast<const char*>(out.data()), out.size()};
}

// "20130524T000000Z".
std::string stamp(base::Time t) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(
      std::chrono::sys_time(std::chrono::duration<std::int64_t, std::micro>(t.us)));
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(seconds - day);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", int(date.year()), unsigned(date.month()),
                     unsigned(date.day()), time.hours().count(), time.minutes().count(),
                     time.seconds().count());
}

std::string query_text(std::vector<std::pair<std::string, std::string>> query) {
  for (auto& [name, value] : query) {
    name = percent_encode(name);
    value = percent_encode(value);
  }
  std::ranges::sort(query);
  std::string out;
  for (const auto& [name, value] : query)
    out += fmt::format("{}{}={}", out.empty() ? "" : "&", name, value);
  return out;
}

// Names in lower case, in order.
std::map<std::string, std::string> canonical_headers(const Headers& headers) {
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : headers) {
    std::string lower = name;
    for (char& c : lower)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    out[lower] = base::trim(value);
  }
  return out;
}

std::string names_of(const std::map<std::string, std::string>& headers) {
  std::string out;
  for (const auto& [name, value] : headers) out += (out.empty() ? "" : ";") + name;
  return out;
}

struct Signer {
  const AwsRequest& request;
  const AwsKey& key;
  const std::string when;

  [[nodiscard]] std::string day() const { return when.substr(0, 8); }
  [[nodiscard]] std::string scope() const {
    return fmt::format("{}/{}/{}/aws4_request", day(), request.region, request.service);
  }
  [[nodiscard]] std::string signature(const std::string& query,
                                      const std::map<std::string, std::string>& headers,
                                      std::string_view payload) const {
    std::string lines;
    for (const auto& [name, value] : headers) lines += name + ":" + value + "\n";
    const auto canonical = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, request.path,
                                       query, lines, names_of(headers), payload);
    const auto text =
        fmt::format("{}\n{}\n{}\n{}", kAlgorithm, when, scope(), sha256_hex(canonical));
    auto derived = hmac("AWS4" + key.secret, day());
    for (const std::string_view part :
         {std::string_view(request.region), std::string_view(request.service),
          std::string_view("aws4_request")})
      derived = hmac(derived, part);
    return base::to_hex(hmac(derived, text));
  }
};

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, 32> out{};
  CHECK(EVP_Digest(bytes.data(), bytes.size(), out.data(), nullptr, EVP_sha256(), nullptr) == 1);
  return base::to_hex({reinterpret_cast<const char*>(out.data()), out.size()});
}

std::string aws_path(std::string_view path) {
  std::string out;
  for (std::size_t at = 0;;) {
    const auto slash = path.find('/', at);
    out += percent_encode(path.substr(at, slash - at));
    if (slash == path.npos) return out;
    out += '/';
    at = slash + 1;
  }
}

std::string aws_query(const AwsRequest& request) {
  const auto text = query_text(request.query);
  return text.empty() ? "" : "?" + text;
}

Headers aws_signed(const AwsRequest& request, const AwsKey& key, base::Time now) {
  const Signer signer{request, key, stamp(now)};
  const std::string payload(request.payload_sha256.empty() ? kNoBody : request.payload_sha256);
  auto out = request.headers;
  out.emplace_back("x-amz-date", signer.when);
  out.emplace_back("x-amz-content-sha256", payload);
  if (!key.session.empty()) out.emplace_back("x-amz-security-token", key.session);
  auto all = canonical_headers(out);
  all["host"] = request.host;
  out.emplace_back("Authorization",
                   fmt::format("{} Credential={}/{},SignedHeaders={},Signature={}", kAlgorithm,
                               key.id, signer.scope(), names_of(all),
                               signer.signature(query_text(request.query), all, payload)));
  return out;
}

std::string aws_presigned(const AwsRequest& request, const AwsKey& key, base::Time now,
                          base::Duration lasts) {
  const Signer signer{request, key, stamp(now)};
  const auto headers = canonical_headers({{"host", request.host}});
  auto query = request.query;
  query.emplace_back("X-Amz-Algorithm", kAlgorithm);
  query.emplace_back("X-Amz-Credential", key.id + "/" + signer.scope());
  query.emplace_back("X-Amz-Date", signer.when);
  query.emplace_back("X-Amz-Expires",
                     std::to_string(std::clamp<std::int64_t>(lasts.us / 1'000'000, 1, 7 * 86'400)));
  query.emplace_back("X-Amz-SignedHeaders", "host");
  if (!key.session.empty()) query.emplace_back("X-Amz-Security-Token", key.session);
  const auto text = query_text(std::move(query));
  return fmt::format("{}?{}&X-Amz-Signature={}", request.path, text,
                     signer.signature(text, headers, "UNSIGNED-PAYLOAD"));
}

}  // namespace souk::net
