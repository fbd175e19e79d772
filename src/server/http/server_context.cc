#include "server/http/server_context.h"

#include <filesystem>
#include <utility>

namespace souk::server {
namespace {

// What lies in the same folder as `path`.
std::string beside(const std::string& path, std::string_view name) {
  return (std::filesystem::path(path).parent_path() / name).string();
}

}  // namespace

ServerContext::ServerContext(Core& the_core, Feed& the_feed, Services& the_services,
                             Pool& the_hashers, Pool& the_files, const base::Clock& the_clock,
                             HttpOptions the_options)
    : core(the_core),
      feed(the_feed),
      services(the_services),
      hashers(the_hashers),
      files(the_files),
      clock(the_clock),
      options(std::move(the_options)),
      authentication(clock, options.requests_per_second),
      session_throttles(clock),
      prepare(*services.blobs, services.claims, beside(services.blobs->path(), "prepare"), clock,
              options.prepare) {}

}  // namespace souk::server
