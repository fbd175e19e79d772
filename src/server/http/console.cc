#include "server/http/console.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/hash.h"
#include "base/text.h"
#include "server/http/responses.h"

namespace souk::server {
namespace {

constexpr std::string_view kPage = "/index.html";
constexpr std::string_view kAssets = "/assets/";

constexpr ConsoleFile kNoConsole{
    kPage,
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Souk</title>\n"
    "<p>This market is running, and was built without its console. To have it, build with\n"
    "<code>make build</code> (it needs <code>npm</code>), or configure with\n"
    "<code>-DSOUK_CONSOLE=ON</code>. The API is below <code>/v1</code>, its description at\n"
    "<a href=\"/v1/openapi.json\">/v1/openapi.json</a>.</p></html>\n",
    ""};

// The page runs its own scripts only, talks to this server only, and is framed by nobody. Styles
// may be inline: components compute positions and colours.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

std::string_view type_of(std::string_view path) {
  static constexpr std::pair<std::string_view, std::string_view> types[] = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".webp", "image/webp"},
      {".woff2", "font/woff2"},
      {".woff", "font/woff"},
      {".json", "application/json"},
      {".map", "application/json"},
      {".webmanifest", "application/manifest+json"},
      {".wasm", "application/wasm"},
      {".txt", "text/plain; charset=utf-8"}};
  for (const auto& [end, type] : types)
    if (path.ends_with(end)) return type;
  return "application/octet-stream";
}

// Does an Accept-Encoding such as "br, gzip;q=0.5" take gzip? "gzip;q=0" does not.
bool takes_gzip(std::string_view accepted) {
  for (const auto item : base::split(accepted, ',')) {
    const auto parts = base::split(item, ';');
    if (!net::equal_ignoring_case(parts[0], "gzip")) continue;
    if (parts.size() < 2 || !parts[1].starts_with("q=")) return true;
    double q = 0;
    std::from_chars(parts[1].data() + 2, parts[1].data() + parts[1].size(), q);
    return q > 0;
  }
  return false;
}

// If-None-Match: "*", or tags in quotes, of which W/ marks the weak ones.
bool known(std::string_view tags, std::string_view etag) {
  return std::ranges::any_of(base::split(tags, ','), [&](std::string_view tag) {
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    return tag == "*" || tag == etag;
  });
}

net::Response sealed(net::Response response) {
  const std::pair<std::string_view, std::string_view> headers[] = {
      {"Content-Security-Policy", kPolicy},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"}};
  for (const auto& [name, value] : headers) response.headers.emplace_back(name, value);
  return response;
}

}  // namespace

Console::Console(std::span<const ConsoleFile> files) {
  if (files.empty()) files = {&kNoConsole, 1};
  for (const auto& file : files)
    entries_.emplace(file.path, Entry{file, fmt::format("{:016x}", base::short_hash(file.bytes))});
}

const Console::Entry* Console::find(std::string_view path) const {
  if (const auto it = entries_.find(path); it != entries_.end()) return &it->second;
  if (path.substr(path.rfind('/') + 1).contains('.')) return nullptr;
  const auto page = entries_.find(kPage);
  return page == entries_.end() ? nullptr : &page->second;
}

net::Response Console::answer(const net::Request& http) const {
  const auto* entry = find(http.path);
  if (entry == nullptr)
    return sealed(problem(404, fmt::format("the console has no file '{}'", http.path)));
  const auto& file = entry->file;
  const bool gzip = !file.gzip.empty() && takes_gzip(http.header("Accept-Encoding"));
  // Each encoding is a thing of its own to caches.
  const auto etag = fmt::format("\"{}{}\"", entry->etag, gzip ? "-gzip" : "");
  net::Response out{.content_type = std::string(type_of(file.path))};
  out.headers = {
      {"ETag", etag},
      {"Vary", "Accept-Encoding"},
      // What is below /assets has its content's hash in its name.
      {"Cache-Control",
       file.path.starts_with(kAssets) ? "public, max-age=31536000, immutable" : "no-cache"}};
  if (known(http.header("If-None-Match"), etag)) {
    out.status = 304;
  } else {
    out.body = gzip ? file.gzip : file.bytes;
    if (gzip) out.headers.emplace_back("Content-Encoding", "gzip");
  }
  return sealed(std::move(out));
}

}  // namespace souk::server
