#include <string>

#include "fuzz/target.h"
#include "hub/service.h"
#include "net/client.h"

// Requests to a hub, from whoever has its secret: one after the other, separated by lines of "%%".
// The first line of each is its method and target, the rest its body. Every one is answered, none
// with a failure of the hub's own.

namespace {

using namespace souk;

constexpr std::string_view kSecret = "a secret of the fuzzers";

void ask(net::Client& client, std::string_view request) {
  const auto first = fuzz::take_line(request);
  const auto blank = first.find(' ');
  const auto method = first.substr(0, blank);
  const auto target = blank == std::string_view::npos ? "" : first.substr(blank + 1);
  if (!target.starts_with('/')) return;
  for (const std::string_view known : {"GET", "PUT", "POST", "DELETE"}) {
    if (method != known) continue;
    for (const char c : target)
      if (c <= ' ' || c >= 0x7f) return;  // What no client sends; http_request does.
    const auto answer =
        client.send(method, target, {{"Authorization", "Bearer " + std::string(kSecret)}}, request);
    CHECK(answer.has_value());
    CHECK(answer->status < 500);
  }
}

}  // namespace

SOUK_FUZZ(hub_request, .input_bytes = 4096, .malloc_mb = 64) {
  const auto service = hub::Service::start({.store = "memory",
                                            .secret = std::string(kSecret),
                                            .most_body_bytes = 1 << 20,
                                            .workers = {.least = 1, .most = 1}});
  CHECK(service.has_value());
  auto client =
      net::Client::make({.base_url = "http://127.0.0.1:" + std::to_string((*service)->port()),
                         .total_timeout = base::seconds(9)});
  CHECK(client.has_value());
  constexpr std::string_view between = "\n%%\n";
  for (int n = 0; n < 8 && !input.empty(); ++n) {
    const auto end = input.find(between);
    ask(*client, input.substr(0, end));
    input.remove_prefix(end == std::string_view::npos ? input.size() : end + between.size());
  }
}
