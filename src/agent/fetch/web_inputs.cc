#include "agent/fetch/web_inputs.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/hash.h"
#include "base/text.h"

namespace souk::agent {

using base::Result;

Result<Trees::Use> WebInputs::use(const wire::BatchInput& input, const Images::Watch& watch) {
  SOUK_ASSIGN(const auto address, parse_web_address(input.url));
  const WebRequest request{
      .address = address,
      .allowed = [this](const WebAddress& asked) { return among(hosts_, asked); },
      .give_up = watch.give_up};
  const auto name = "url-" + to_string(base::blake2b(input.sha256 + "\n" + input.url));
  return trees_.use(name, [&](const std::string& folder, const Reserve& reserve) -> Result<> {
    SOUK_TRY(reserve(0, 1));
    std::int64_t done = 0;
    const auto on_bytes = [&](std::int64_t bytes) -> Result<> {
      SOUK_TRY(reserve(bytes, 0));
      done += bytes;
      watch.received(bytes);
      watch.doing(fmt::format("fetching {}, {}", input.path,
                              base::bytes_text(static_cast<std::uint64_t>(done))));
      return {};
    };
    const auto file = folder + "/file";
    SOUK_TRY(web_fetch(request, {.sha256 = input.sha256}, file, on_bytes));
    std::error_code ignored;  // The program is somebody else, where the agent is root.
    std::filesystem::permissions(file, std::filesystem::perms(0644), ignored);
    return {};
  });
}

}  // namespace souk::agent
