#include "agent/fetch/web.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "agent/fetch/sha256.h"
#include "base/fd.h"
#include "blob/files.h"
#include "net/client.h"

namespace souk::agent {
namespace {

using base::Code;
using base::fail;
using base::Result;
using OnPiece = std::function<bool(std::string_view)>;

constexpr int kRedirects = 5;
constexpr std::size_t kLongestAddress = 8'192;  // Redirects are signed, and long.
constexpr int kFetchTries = 5;                  // Of a file, without a byte of progress.
constexpr auto kBetween = std::chrono::seconds(1);
constexpr auto kWebSilence = base::seconds(60);

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

Result<WebAddress> next_address(const WebAddress& from, std::string_view location) {
  if (location.starts_with('/') && !location.starts_with("//"))
    return WebAddress{from.plain, from.host, std::string(location)};
  return parse_web_address(location);
}

// One GET with its redirects. Bodies of 2xx go to `on_piece`.
Result<net::Response> get(const WebRequest& request, const net::Headers& more,
                          const OnPiece& on_piece) {
  auto address = request.address;
  for (int i = 0; i <= kRedirects; ++i) {
    if (!request.allowed(address))
      return fail(Code::forbidden, fmt::format("{} may not be asked", address.origin()),
                  "the lender names the hosts that may be");
    SOUK_ASSIGN(auto client, net::Client::make({.base_url = address.origin(),
                                                .stream_silence_timeout = kWebSilence,
                                                .max_response_bytes = std::size_t{1} << 20}));
    auto headers = more;
    if (address.origin() == request.address.origin())
      headers.insert(headers.end(), request.headers.begin(), request.headers.end());
    SOUK_ASSIGN(auto answer, client.stream(address.path, headers, on_piece));
    if (!is_redirect(answer.status)) return answer;
    SOUK_ASSIGN(auto next, next_address(address, answer.header("Location")));
    if (next.plain && !address.plain)
      return fail(Code::forbidden,
                  fmt::format("{} redirects to {}, without TLS", address.origin(), next.origin()));
    address = std::move(next);
  }
  return fail(Code::unavailable,
              fmt::format("{} redirects more than {} times", request.address.text(), kRedirects));
}

// A file on its way.
class Download {
 public:
  Download(const WebRequest& request, const WantedFile& wanted, std::string path,
           const OnBytes& on_bytes)
      : request_(request), wanted_(wanted), path_(std::move(path)), on_bytes_(on_bytes) {}

  Result<> run() {
    file_ = base::Fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file_) return blob::system_failure("create", path_);
    auto done = fetch();
    file_.reset();
    if (!done) ::unlink(path_.c_str());
    return done;
  }

 private:
  Result<> fetch() {
    auto done = fetch_once();
    // A server that knows no ranges sends the beginning again, which spoils what was here.
    const bool spoilt = !done && done.error().code == Code::damaged && resumed_;
    if (!spoilt) return done;
    if (::ftruncate(file_.get(), 0) != 0 || ::lseek(file_.get(), 0, SEEK_SET) != 0)
      return blob::system_failure("write", path_);
    SOUK_TRY(on_bytes_(-have_));
    have_ = 0;
    hash_ = Sha256();
    ranges_ = false;
    return fetch_once();
  }

  Result<> fetch_once() {
    for (int tries = 1;; ++tries) {
      const auto before = have_;
      const auto got = attempt();
      if (request_.give_up()) return fail(Code::conflict, "stopped");
      if (got && (wanted_.size < 0 || have_ == wanted_.size)) break;
      if (got && tries >= kFetchTries)
        return fail(Code::unavailable, fmt::format("{} ends after {} of {} bytes",
                                                   request_.address.text(), have_, wanted_.size));
      if (!got && (got.error().code != Code::unavailable || tries >= kFetchTries || !ranges_))
        return got;
      if (have_ > before) tries = 0;
      std::this_thread::sleep_for(kBetween);
    }
    if (wanted_.sha256.empty() || hash_.hex() == wanted_.sha256) return {};
    return fail(Code::damaged, fmt::format("{} is not the file with SHA-256 {}",
                                           request_.address.text(), wanted_.sha256));
  }

  Result<> attempt() {
    net::Headers more;
    if (have_ > 0) {
      more.emplace_back("Range", fmt::format("bytes={}-", have_));
      resumed_ = true;
    }
    Result<> taken;
    SOUK_ASSIGN(const auto answer, get(request_, more, [&](std::string_view piece) {
                  taken = request_.give_up() ? fail(Code::conflict, "stopped") : take(piece);
                  return taken.has_value();
                }));
    if (!taken || answer.status / 100 == 2) return taken;
    return std::unexpected(refusal(request_.address, answer.status));
  }

  Result<> take(std::string_view piece) {
    if (wanted_.size >= 0 && std::ssize(piece) > wanted_.size - have_)
      return fail(Code::damaged, fmt::format("{} is larger than the {} bytes it should have",
                                             request_.address.text(), wanted_.size));
    SOUK_TRY(on_bytes_(std::ssize(piece)));
    SOUK_TRY(blob::write_all(file_.get(), piece, path_));
    hash_.add(piece);
    have_ += std::ssize(piece);
    return {};
  }

  const WebRequest& request_;
  const WantedFile& wanted_;
  const std::string path_;
  const OnBytes& on_bytes_;
  base::Fd file_;
  Sha256 hash_;
  std::int64_t have_ = 0;
  bool ranges_ = true, resumed_ = false;
};

}  // namespace

base::Result<WebAddress> parse_web_address(std::string_view url) {
  WebAddress out;
  auto rest = url;
  if (rest.starts_with("http://")) {
    out.plain = true;
    rest.remove_prefix(7);
  } else if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else {
    rest = {};
  }
  rest = rest.substr(0, rest.find('#'));
  const auto end = std::min(rest.find_first_of("/?"), rest.size());
  for (const unsigned char c : rest.substr(0, end))
    out.host += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  out.path = rest.substr(end);
  if (!out.path.starts_with('/')) out.path.insert(0, "/");
  const bool plain_text =
      std::ranges::all_of(url, [](unsigned char c) { return c > 32 && c < 127; });
  const bool good_host = !out.host.empty() && std::ranges::all_of(out.host, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view(".-:[]").contains(static_cast<char>(c));
  });
  if (plain_text && good_host && url.size() <= kLongestAddress) return out;
  return fail(Code::invalid, fmt::format("'{}' is no address", url.substr(0, 80)),
              "use https://HOST/PATH");
}

bool among(std::span<const WebHost> hosts, const WebAddress& address) {
  return std::ranges::any_of(hosts, [&](const WebHost& host) {
    return host.host == address.host && host.plain == address.plain;
  });
}

base::Error refusal(const WebAddress& address, int status) {
  const auto code = status == 404                    ? Code::not_found
                    : status == 401 || status == 403 ? Code::forbidden
                                                     : Code::unavailable;
  return {code,
          fmt::format("{} answers {} {}", address.text(), status, net::reason_phrase(status))};
}

base::Result<net::Response> web_get(const WebRequest& request, std::size_t most_bytes) {
  std::string body;
  bool too_large = false;
  SOUK_ASSIGN(auto answer, get(request, {}, [&](std::string_view piece) {
                too_large = body.size() + piece.size() > most_bytes;
                if (!too_large) body += piece;
                return !too_large && !request.give_up();
              }));
  if (too_large)
    return fail(Code::too_large, fmt::format("the answer of {} is larger than {} bytes",
                                             request.address.text(), most_bytes));
  if (request.give_up()) return fail(Code::conflict, "stopped");
  if (answer.status / 100 == 2) answer.body = std::move(body);
  return answer;
}

base::Result<> web_fetch(const WebRequest& request, const WantedFile& wanted,
                         const std::string& path, const OnBytes& on_bytes) {
  return Download(request, wanted, path, on_bytes).run();
}

}  // namespace souk::agent
