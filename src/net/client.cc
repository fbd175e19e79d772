#include "net/client.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "base/text.h"
#include "net/direct_line.h"

namespace souk::net {
namespace {

// Colons dropped, lower case; "" when it is not 64 hex digits.
std::string normal_pin(std::string_view pin) {
  std::string out;
  for (char c : pin) {
    if (c == ':') continue;
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c + ('a' - 'A'));
    if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) return {};
    out += c;
  }
  return out.size() == 64 ? out : std::string();
}

// OpenSSL asks this instead of checking a chain: is the certificate the pinned one?
int check_pin(X509_STORE_CTX* store, void* pin) {
  X509* certificate = X509_STORE_CTX_get0_cert(store);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (certificate == nullptr || X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1)
    return 0;
  const auto hex = base::to_hex({reinterpret_cast<const char*>(digest.data()), size});
  if (hex == *static_cast<const std::string*>(pin)) return 1;
  X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
  return 0;
}

CURLcode install_pin(CURL*, void* context, void* pin) {
  SSL_CTX_set_cert_verify_callback(static_cast<SSL_CTX*>(context), check_pin, pin);
  return CURLE_OK;
}

}  // namespace

std::string hint_for(int code, bool pinned) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "check the server's name";
    case CURLE_COULDNT_CONNECT:
      return "is the server running, and the port right?";
    case CURLE_OPERATION_TIMEDOUT:
      return "the server is slow or unreachable: try again";
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
      return pinned
                 ? "the server's certificate is not the pinned one: ask the operator for its "
                   "SHA-256 fingerprint, and beware of an impostor"
                 : "the server's certificate is not trusted: give its CA file or pin its SHA-256 "
                   "fingerprint";
    case CURLE_SSL_CACERT_BADFILE:
      return "the CA file must be readable PEM";
    default:
      return "try again; if it persists, ask the server's operator";
  }
}

namespace {

struct HeaderList {
  curl_slist* list = nullptr;
  HeaderList() = default;
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;
  ~HeaderList() { curl_slist_free_all(list); }
  void add(const std::string& line) {
    list = curl_slist_append(list, line.c_str());
    CHECK(list != nullptr);
  }
};

// One call under way.
struct Transfer {
  CURL* curl;
  Response response = {};
  const std::function<bool(std::string_view)>* on_chunk = nullptr;
  std::size_t max_bytes = 0;
  bool too_large = false;
  bool stopped = false;
};

std::size_t on_header(char* data, std::size_t, std::size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view line = base::trim({data, size});
  if (line.starts_with("HTTP/")) transfer.response.headers.clear();  // After a 100 Continue.
  const auto colon = line.find(':');
  if (colon == line.npos) return size;
  transfer.response.headers.emplace_back(line.substr(0, colon), base::trim(line.substr(colon + 1)));
  return size;
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  long status = 0;
  curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &status);
  if (transfer.on_chunk != nullptr && status / 100 == 2) {
    transfer.stopped = !(*transfer.on_chunk)({data, size});
    return transfer.stopped ? 0 : size;
  }
  // Room for all of it at once; a peer that promises too much is found out below.
  curl_off_t promised = 0;
  if (transfer.response.body.empty() &&
      curl_easy_getinfo(transfer.curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &promised) == CURLE_OK &&
      promised > 0)
    transfer.response.body.reserve(
        std::min<std::size_t>(transfer.max_bytes, static_cast<std::size_t>(promised)));
  transfer.too_large = transfer.response.body.size() + size > transfer.max_bytes;
  if (transfer.too_large) return 0;
  transfer.response.body.append(data, size);
  return size;
}

int on_progress(void* cancelled, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::atomic<bool>*>(cancelled)->load() ? 1 : 0;
}

int share_port(void*, curl_socket_t fd, curlsocktype) {
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  return CURL_SOCKOPT_OK;
}

bool to_this_computer(std::string_view url) {
  for (const std::string_view host : {"://localhost", "://127.", "://[::1]"})
    if (url.find(host) != url.npos) return true;
  return false;
}

}  // namespace

struct Client::Impl {
  ClientOptions options;
  CURL* curl = nullptr;
  std::atomic<bool> cancelled = false;
  std::array<char, CURL_ERROR_SIZE> detail{};
  std::optional<DirectLine> line;  // Once there was a large body.

  explicit Impl(ClientOptions o) : options(std::move(o)) {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    CHECK(ready == CURLE_OK);
    curl = curl_easy_init();
    CHECK(curl != nullptr);
  }
  ~Impl() { curl_easy_cleanup(curl); }

  void configure(const std::string& url, Transfer& transfer, const HeaderList& headers);
  base::Result<Response> perform(const std::string& url, Transfer& transfer);
};

void set_up(CURL* curl, const ClientOptions& options, char* detail,
            const std::atomic<bool>& cancelled) {
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, options.user_agent.c_str());
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, options.connect_timeout.us / 1000);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &cancelled);
  if (to_this_computer(options.base_url)) curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  if (options.local_port != 0) {
    curl_easy_setopt(curl, CURLOPT_SOCKOPTFUNCTION, share_port);
    curl_easy_setopt(curl, CURLOPT_LOCALPORT, static_cast<long>(options.local_port));
  }
  if (!options.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, options.ca_file.c_str());
  if (!options.pinned_sha256.empty()) {
    if (options.ca_file.empty()) {
      // A pin needs no authorities, and where none are installed libcurl would fail to read them.
      curl_easy_setopt(curl, CURLOPT_CAINFO, nullptr);
      curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr);
    }
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION, install_pin);
    curl_easy_setopt(curl, CURLOPT_SSL_CTX_DATA, const_cast<std::string*>(&options.pinned_sha256));
  }
}

// Resets everything but the open connections.
void Client::Impl::configure(const std::string& url, Transfer& transfer,
                             const HeaderList& headers) {
  curl_easy_reset(curl);
  detail[0] = '\0';
  set_up(curl, options, detail.data(), cancelled);
  transfer.max_bytes = options.max_response_bytes;
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  // The default pieces of 16 and 64 KiB cost a wait each: half the time of a large body.
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 512L * 1024);
  curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, 256L * 1024);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.list);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
}

base::Result<Response> Client::Impl::perform(const std::string& url, Transfer& transfer) {
  const CURLcode code = curl_easy_perform(curl);
  ERR_clear_error();
  if (transfer.too_large)
    return base::fail(
        base::Code::too_large,
        fmt::format("the answer of {} is larger than {} bytes", url, options.max_response_bytes),
        "ask for less at once");
  if (code != CURLE_OK && !transfer.stopped) {
    if (cancelled) return base::fail(base::Code::unavailable, "cancelled: " + url);
    const std::string what = detail[0] != '\0' ? detail.data() : curl_easy_strerror(code);
    return base::fail(base::Code::unavailable, fmt::format("cannot reach {}: {}", url, what),
                      hint_for(code, !options.pinned_sha256.empty()));
  }
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  transfer.response.status = static_cast<int>(status);
  transfer.response.content_type = transfer.response.header("Content-Type");
  return std::move(transfer.response);
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

base::Result<Client> Client::make(ClientOptions options) {
  while (options.base_url.ends_with('/')) options.base_url.pop_back();
  if (!options.base_url.starts_with("http://") && !options.base_url.starts_with("https://"))
    return base::fail(base::Code::invalid,
                      fmt::format("'{}' is not a server's URL", options.base_url),
                      "http://HOST:PORT or https://HOST:PORT");
  if (!options.pinned_sha256.empty()) {
    std::string pin = normal_pin(options.pinned_sha256);
    if (pin.empty())
      return base::fail(base::Code::invalid,
                        fmt::format("'{}' is not a SHA-256 fingerprint", options.pinned_sha256),
                        "64 hex digits, colons allowed");
    options.pinned_sha256 = std::move(pin);
  }
  return Client(std::make_unique<Impl>(std::move(options)));
}

base::Result<Response> Client::send(std::string_view method, std::string_view path,
                                    const Headers& headers, std::string_view body) {
  const std::string url = impl_->options.base_url + std::string(path);
  Transfer transfer{.curl = impl_->curl};
  HeaderList lines;
  for (const auto& [name, value] : headers) lines.add(name + ": " + value);
  lines.add("Expect:");  // No round trip before a body: our servers refuse after it as well.
  impl_->configure(url, transfer, lines);
  CURL* curl = impl_->curl;
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, impl_->options.total_timeout.us / 1000);
  if (method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  } else if (method != "GET" || !body.empty()) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.empty() ? "" : body.data());
  }
  const std::string verb(method);
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, verb.c_str());
  return impl_->perform(url, transfer);
}

base::Result<Response> Client::move(std::string_view method, std::string_view path,
                                    const Headers& headers, std::string_view body,
                                    std::string memory) {
  if (!impl_->line) impl_->line.emplace(impl_->options, impl_->cancelled);
  return impl_->line->send(method, path, headers, body, std::move(memory));
}

base::Result<Response> Client::stream(std::string_view path, const Headers& headers,
                                      const std::function<bool(std::string_view)>& on_chunk) {
  const std::string url = impl_->options.base_url + std::string(path);
  Transfer transfer{.curl = impl_->curl, .on_chunk = &on_chunk};
  HeaderList lines;
  for (const auto& [name, value] : headers) lines.add(name + ": " + value);
  impl_->configure(url, transfer, lines);
  curl_easy_setopt(impl_->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(impl_->curl, CURLOPT_LOW_SPEED_TIME,
                   std::max<long>(1, impl_->options.stream_silence_timeout.us / 1'000'000));
  return impl_->perform(url, transfer);
}

void Client::cancel() { impl_->cancelled = true; }

std::string fresh_key() {
  std::array<char, 16> bytes{};
  CHECK(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return base::to_hex({bytes.data(), bytes.size()});
}

}  // namespace souk::net
