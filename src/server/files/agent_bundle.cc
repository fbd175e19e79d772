#include "server/files/agent_bundle.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/check.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "server/http/embedded.h"
#include "server/http/version.h"

namespace souk::server {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kPiece = 512 << 10;  // What one write may queue is limited.
constexpr std::string_view kGzip = "\x1f\x8b\x08";
constexpr std::size_t kMostHost = 260;  // A name has 253 characters at most; and a port.

std::string sha256_of(std::string_view bytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size());
  return base::to_hex({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

bool all_of(std::string_view text, std::string_view also, bool letters = true) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return digit || (letters && letter) || also.contains(c);
  });
}

// A name, an IPv4 address or an IPv6 address in brackets, and perhaps a port.
bool is_host(std::string_view host) {
  if (host.size() > kMostHost) return false;
  std::string_view port;
  if (const auto colon = host.rfind(':'); colon != host.npos && !host.ends_with(']')) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
    if (port.size() > 5 || !all_of(port, "", false)) return false;
  }
  if (host.starts_with('[') && host.ends_with(']'))
    return all_of(host.substr(1, host.size() - 2), ":.");
  return all_of(host, ".-") && !host.starts_with('-');
}

std::string_view script_named(std::string_view name) {
  const auto all = lend_scripts();
  const auto it = std::ranges::find(all, name, &NamedText::name);
  CHECK(it != all.end());
  return it->text;
}

void replace(std::string& text, std::string_view what, std::string_view with) {
  const auto at = text.find(what);
  CHECK(at != text.npos);
  text.replace(at, what.size(), with);
}

}  // namespace

Result<std::shared_ptr<const AgentBundle>> AgentBundle::open(const std::string& path) {
  constexpr auto hint = "`make package` makes a bundle; give its path with --bundle";
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > kMostBytes)
    return fail(Code::invalid,
                fmt::format("the bundle {} has {}, more than {}", path, base::bytes_text(size),
                            base::bytes_text(kMostBytes)),
                hint);
  SOUK_ASSIGN(const auto bytes, base::read_file(path, hint));
  if (!bytes.starts_with(kGzip))
    return fail(Code::invalid, fmt::format("{} is not a bundle: it is no .tar.gz", path), hint);
  auto out = std::make_shared<AgentBundle>();
  out->sha256_ = sha256_of(bytes);
  out->bytes_ = bytes.size();
  for (std::size_t at = 0; at < bytes.size(); at += kPiece)
    out->pieces_.push_back(std::make_shared<const std::string>(bytes.substr(at, kPiece)));
  return out;
}

Result<std::shared_ptr<const AgentBundle>> BundleFile::get() {
  const std::lock_guard lock(mutex_);
  if (bundle_ == nullptr && !path_.empty()) {
    SOUK_ASSIGN(bundle_, AgentBundle::open(path_));
  }
  return bundle_;
}

void OpenDownloads::add(const net::Stream& stream) {
  const std::lock_guard lock(mutex_);
  open_.remove_if([](const Entry& e) { return !e.stream.open(); });
  open_.push_back({stream, clock_.now()});
}

void OpenDownloads::make_room() {
  net::Stream oldest;
  {
    const std::lock_guard lock(mutex_);
    open_.remove_if([](const Entry& e) { return !e.stream.open(); });
    if (open_.empty() || clock_.now() - open_.front().began < kTimeEnough) return;
    oldest = open_.front().stream;
    open_.pop_front();
  }
  oldest.cut();
}

Result<std::string> address_of(std::string_view host, bool secure) {
  if (!is_host(host))
    return fail(Code::invalid, "the Host of this request is not the name or address of a market",
                "ask by its name or address; its operator can set `souk serve --public-url`",
                "Host");
  return fmt::format("{}://{}", secure ? "https" : "http", host);
}

Result<> check_public_url(std::string_view url) {
  auto rest = url;
  for (const std::string_view scheme : {"https://", "http://"})
    if (rest.starts_with(scheme)) rest.remove_prefix(scheme.size());
  const auto slash = std::min(rest.find('/'), rest.size());
  const auto path = rest.substr(slash);
  if (rest.size() < url.size() && is_host(rest.substr(0, slash)) &&
      (path.empty() || (all_of(path, "/._~-") && !path.ends_with('/'))))
    return {};
  return fail(Code::invalid, fmt::format("'{}' is not the address of a market", url),
              "write for example https://market.example, without a slash at the end", "public-url");
}

std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text)
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  return out + "'";
}

std::string lend_script(const AgentBundle* bundle, std::string_view market) {
  if (bundle == nullptr) return std::string(script_named("lend-none"));
  std::string out(script_named("lend"));
  replace(out, "@MARKET@", shell_word(market));
  replace(out, "@VERSION@", shell_word(kVersion));
  replace(out, "@SHA256@", shell_word(bundle->sha256()));
  return out;
}

}  // namespace souk::server
