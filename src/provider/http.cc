#include "provider/http.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <array>
#include <memory>

#include "base/check.h"

namespace souk::provider {
namespace {

using base::Code;

constexpr std::size_t kMostBytes = 32 << 20;

std::size_t take_body(char* data, std::size_t, std::size_t size, void* user) {
  auto& body = *static_cast<std::string*>(user);
  if (body.size() + size > kMostBytes) return 0;
  body.append(data, size);
  return size;
}

struct Free {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

void add_header(std::unique_ptr<curl_slist, Free>& list, const std::string& line) {
  auto* longer = curl_slist_append(list.get(), line.c_str());
  CHECK(longer != nullptr);
  (void)list.release();
  list.reset(longer);
}

bool to_this_computer(std::string_view url) {
  for (const std::string_view host : {"://localhost", "://127.", "://[::1]", "://169.254."})
    if (url.find(host) != url.npos) return true;
  return false;
}

}  // namespace

base::Result<HttpAnswer> call_http(const HttpCall& call) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  CHECK(ready == CURLE_OK);
  const std::unique_ptr<CURL, Free> handle(curl_easy_init());
  CHECK(handle != nullptr);
  auto* curl = handle.get();
  std::unique_ptr<curl_slist, Free> headers;
  for (const auto& [name, value] : call.headers) add_header(headers, name + ": " + value);
  add_header(headers, "Expect:");
  HttpAnswer out;
  std::array<char, CURL_ERROR_SIZE> detail{};
  const auto userpwd = call.key + ":" + call.secret;
  curl_easy_setopt(curl, CURLOPT_URL, call.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail.data());
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "souk");
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, 10'000L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(call.timeout.us / 1000));
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &out.body);
  if (to_this_computer(call.url)) curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  if (!call.body.empty() || call.method == "POST") {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call.body.c_str());
  }
  if (!call.sign.empty()) {
    curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, call.sign.c_str());
    curl_easy_setopt(curl, CURLOPT_USERPWD, userpwd.c_str());
  }
  if (!call.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, call.ca_file.c_str());
  if (!call.cert_file.empty()) curl_easy_setopt(curl, CURLOPT_SSLCERT, call.cert_file.c_str());
  if (!call.key_file.empty()) curl_easy_setopt(curl, CURLOPT_SSLKEY, call.key_file.c_str());
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK)
    return base::fail(Code::unavailable,
                      fmt::format("no answer of {}: {}", call.url.substr(0, call.url.find('?')),
                                  detail[0] != '\0' ? detail.data() : curl_easy_strerror(code)),
                      "check the address, the network and the certificates");
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  out.status = static_cast<int>(status);
  return out;
}

std::string url_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace souk::provider
