#include "net/request_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <utility>

#include "base/check.h"

namespace souk::net {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using beast::error_code;

namespace {

constexpr std::uint64_t kLarge = 64 * 1024;  // From here on a body is read in place.
// The least that is left of a chunked body before its end: "0\r\n\r\n". Beast, which asserts that
// it sees the last chunk in at least as many bytes, is not called with fewer.
constexpr std::size_t kLastChunk = 5;

std::string to_std(beast::string_view s) { return {s.data(), s.size()}; }

// "http://host/a?b" -> "/a?b": the form proxies use, which servers must understand too.
std::string_view origin_form(std::string_view target) {
  const auto scheme = target.find("://");
  if (target.starts_with('/') || scheme == target.npos) return target;
  const auto slash = target.find('/', scheme + 3);
  return slash == target.npos ? "/" : target.substr(slash);
}

// Fills a Request directly. Beast limits the header line by line; the total is counted here.
class Parser final : public http::basic_parser<true> {
 public:
  explicit Parser(ParserLimits limits) : limits_(limits) {
    eager(false);  // Stops between head and body.
    header_limit(static_cast<std::uint32_t>(limits.header_bytes));
    body_limit(limits.body_bytes);
  }

  Request request;
  int version = 11;
  int hosts = 0;
  bool expects_continue = false;
  std::shared_ptr<base::Buffer> place;
  bool large = false;      // The body has its final length from the start,
  std::size_t filled = 0;  // and so much of it is there.

 private:
  void count(std::size_t bytes, error_code& error) {
    header_bytes_ += bytes;
    if (header_bytes_ > limits_.header_bytes) error = http::error::header_limit;
  }

  void on_request_impl(http::verb, beast::string_view method, beast::string_view target, int v,
                       error_code& error) override {
    count(method.size() + target.size() + 12, error);
    request.method = to_std(method);
    request.target = to_std(target);
    version = v;
    const std::string_view origin = origin_form(request.target);
    const auto mark = origin.find('?');
    request.path = origin.substr(0, mark);
    if (mark == origin.npos) return;
    auto query = parse_query(origin.substr(mark + 1));
    if (query)
      request.query = *std::move(query);
    else
      error = http::error::bad_target;
  }

  void on_field_impl(http::field field, beast::string_view name, beast::string_view value,
                     error_code& error) override {
    count(name.size() + value.size() + 4, error);
    if (is_header_done()) return;  // A trailer: must not pass for a header.
    if (field == http::field::transfer_encoding && !beast::iequals(value, "chunked"))
      error = http::error::bad_transfer_encoding;
    if (field == http::field::host) ++hosts;
    if (field == http::field::expect && beast::iequals(value, "100-continue"))
      expects_continue = true;
    request.headers.emplace_back(to_std(name), to_std(value));
  }

  // The length was checked against the limit. Pages nobody writes to cost nothing.
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) override {
    if (length && place && place->size() == *length && *length > 0) {
      request.large = std::move(place);
      large = true;
      return;
    }
    if (!length || *length < kLarge) return;
    large = true;
    request.body.resize_and_overwrite(*length, [&](char*, std::size_t) { return *length; });
  }
  std::size_t on_body_impl(beast::string_view bytes, error_code&) override {
    if (!large) {
      request.body.append(bytes.data(), bytes.size());
      return bytes.size();
    }
    const auto to = whole().data() + filled;
    if (bytes.data() != to) std::copy(bytes.begin(), bytes.end(), to);
    filled += bytes.size();
    return bytes.size();
  }
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view bytes, error_code&) override {
    request.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_response_impl(int, beast::string_view, int, error_code&) override {}
  void on_header_impl(error_code&) override {}
  void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code&) override {}
  void on_finish_impl(error_code&) override {}

  ParserLimits limits_;
  std::size_t header_bytes_ = 0;

 public:
  std::span<char> whole() {
    return request.large ? std::span(request.large->data(), request.large->size())
                         : std::span(request.body);
  }
};

}  // namespace

struct RequestParser::Impl {
  ParserLimits limits;
  Parser parser{limits};
  bool body_wanted = false;  // Somebody said that it is to be read.
  int failure = 0;
  std::string message = {};

  void fail(int status, std::string text) {
    failure = status;
    message = std::move(text);
  }
};

RequestParser::RequestParser(ParserLimits limits) : impl_(new Impl{.limits = limits}) {}
RequestParser::~RequestParser() = default;

namespace {

// A header line that goes on in the next, which RFC 9112 has servers refuse: two readers may take
// it for different things. `data` begins with a line of the head, or with the empty one that ends
// it: Beast takes a line once it has seen the byte after it.
bool is_folded(std::string_view data) {
  if (data.starts_with("\r\n")) return false;
  const auto head = data.substr(0, data.find("\r\n\r\n"));
  return head.contains("\r\n ") || head.contains("\r\n\t");
}

}  // namespace

std::size_t RequestParser::feed(std::string_view data) {
  Impl& in = *impl_;
  if (!in.parser.is_header_done() && is_folded(data)) {
    in.fail(400, "not an HTTP/1.1 request: a header goes on in the next line");
    return 0;
  }
  std::size_t taken = 0;
  error_code error;
  while (taken < data.size() && !in.parser.is_done() && !error && !wants_body()) {
    const bool chunked = in.parser.is_header_done() && in.parser.chunked();
    if (chunked && data.size() - taken < kLastChunk) break;
    taken += in.parser.put({data.data() + taken, data.size() - taken}, error);
  }
  if (!error && in.parser.is_header_done() && in.parser.hosts != 1 &&
      (in.parser.version == 11 || in.parser.hosts > 1))
    in.fail(400, "not an HTTP/1.1 request: it must have one Host header");
  if (!error) return taken;
  const std::string header_limit = std::to_string(in.limits.header_bytes);
  if (error == http::error::need_more) {
    // Beast has no bound of its own for a chunk's extension or trailers.
    if (data.size() - taken > in.limits.header_bytes)
      in.fail(431, "a line of the request is longer than " + header_limit + " bytes");
  } else if (error == http::error::header_limit) {
    in.fail(431, "the request line and headers are longer than " + header_limit + " bytes");
  } else if (error == http::error::body_limit) {
    in.fail(413, "the body is longer than " + std::to_string(in.limits.body_bytes) + " bytes");
  } else {
    in.fail(400, "not an HTTP/1.1 request: " + error.message());
  }
  return taken;
}

bool RequestParser::wants_body() const {
  return !impl_->body_wanted && impl_->parser.is_header_done() && !impl_->parser.is_done();
}

const Request& RequestParser::head(const Peer& peer) {
  impl_->parser.request.peer = peer;
  return impl_->parser.request;
}

std::optional<std::uint64_t> RequestParser::body_bytes() const {
  const auto length = impl_->parser.content_length();
  return length ? std::optional(*length) : std::nullopt;
}

void RequestParser::read_body(std::size_t limit, std::shared_ptr<base::Buffer> place) {
  impl_->parser.place = std::move(place);
  impl_->body_wanted = true;
  impl_->limits.body_bytes = limit;
  if (const auto length = body_bytes(); length && *length > limit)
    return impl_->fail(413, "the body is longer than " + std::to_string(limit) + " bytes");
  impl_->parser.body_limit(limit);
  impl_->parser.eager(true);
}

std::span<char> RequestParser::room() {
  auto& p = impl_->parser;
  if (!p.large || p.is_done()) return {};
  return p.whole().subspan(p.filled);
}

std::string_view RequestParser::so_far() const {
  auto& p = impl_->parser;
  if (!p.large) return {};
  return {p.whole().data(), p.filled};
}

bool RequestParser::done() const { return impl_->failure == 0 && impl_->parser.is_done(); }

bool RequestParser::wants_continue() {
  const Parser& parser = impl_->parser;
  return parser.is_header_done() && !parser.is_done() && parser.version == 11 &&
         std::exchange(impl_->parser.expects_continue, false);
}

int RequestParser::failure() const { return impl_->failure; }
const std::string& RequestParser::failure_message() const { return impl_->message; }
bool RequestParser::keep_alive() const { return impl_->parser.keep_alive(); }
bool RequestParser::http_1_1() const { return impl_->parser.version == 11; }

Request RequestParser::take() {
  CHECK(done());
  return std::move(impl_->parser.request);
}

}  // namespace souk::net
