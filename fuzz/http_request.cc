#include <algorithm>
#include <string>

#include "fuzz/target.h"
#include "net/request_parser.h"

// A request as a connection reads it. It means the same however the network cuts it, takes no byte
// beyond its end, and what it claims costs no memory beyond the limits.

namespace {

using namespace souk;

constexpr net::ParserLimits kLimits{.header_bytes = 2048, .body_bytes = 256 << 10};

struct Parsed {
  bool done = false;
  int failure = 0;
  bool keep_alive = false, http_1_1 = false;
  net::Request request = {};
  std::size_t taken = 0;
};

// As Connection does: what was not taken comes again with the next piece, and a large body is read
// to where it will stay.
Parsed parse(std::string_view bytes, std::size_t piece) {
  net::RequestParser parser(kLimits);
  Parsed out;
  std::string unparsed;
  while (!bytes.empty() && !parser.done() && parser.failure() == 0) {
    auto n = std::min(piece, bytes.size());
    if (const auto room = parser.room(); unparsed.empty() && !room.empty()) {
      n = std::min(n, room.size());
      std::copy_n(bytes.begin(), n, room.begin());
      const auto taken = parser.feed({room.data(), n});
      unparsed = bytes.substr(taken, n - taken);
      out.taken += taken;
    } else {
      unparsed += bytes.substr(0, n);
      const auto taken = parser.feed(unparsed);
      CHECK(taken <= unparsed.size());
      unparsed.erase(0, taken);
      out.taken += taken;
    }
    bytes.remove_prefix(n);
    if (parser.failure() == 0 && parser.wants_body()) {
      parser.read_body(kLimits.body_bytes);
      const auto taken = parser.feed(unparsed);
      unparsed.erase(0, taken);
      out.taken += taken;
    }
    (void)parser.wants_continue();
  }
  out.failure = parser.failure();
  out.done = parser.done();
  CHECK((out.failure == 0) == parser.failure_message().empty());
  if (!out.done) return out;
  out.keep_alive = parser.keep_alive();
  out.http_1_1 = parser.http_1_1();
  out.request = parser.take();
  CHECK(out.request.body.size() <= kLimits.body_bytes);
  return out;
}

}  // namespace

SOUK_FUZZ(http_request, .input_bytes = 8192, .malloc_mb = 2) {
  const auto whole = parse(input, input.size());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, 3 + input.size() % 61}) {
    const auto cut = parse(input, piece);
    // Whether a line or a head is too long may depend on the cuts, by a few bytes of a head, and
    // for the line of a chunk that comes at once, which is bounded by what is read at once.
    if (cut.failure == 431 || whole.failure == 431) {
      CHECK(input.size() >= kLimits.header_bytes);
      continue;
    }
    // When a broken one is noticed may depend on the cuts; that it is never one does not.
    CHECK(cut.done == whole.done);
    if (!whole.done) continue;
    CHECK(cut.taken == whole.taken && cut.keep_alive == whole.keep_alive);
    CHECK(cut.request.method == whole.request.method);
    CHECK(cut.request.target == whole.request.target && cut.request.path == whole.request.path);
    CHECK(cut.request.query == whole.request.query);
    CHECK(cut.request.headers == whole.request.headers);
    CHECK(cut.request.body == whole.request.body);
  }
  // Nothing that a proxy before us could take for the end of a header stays in one.
  for (const auto& [name, value] : whole.request.headers)
    CHECK(!name.contains('\n') && !value.contains('\n') && !name.contains(':'));
  if (const auto decoded = net::percent_decode(whole.request.path))
    CHECK(net::percent_decode(net::percent_encode(*decoded)) == decoded);
}
