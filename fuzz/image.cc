#include "agent/image/inflate.h"
#include "agent/image/registry.h"
#include "agent/image/tar.h"
#include "fuzz/target.h"

// What a registry answers: a layer, a manifest, a configuration, a challenge.

using namespace souk;

namespace {

struct Seen {
  std::vector<std::string> entries;
  std::int64_t data = 0, promised = 0;
  bool good = false;
  bool operator==(const Seen&) const = default;
};

Seen read(std::string_view first, std::string_view second) {
  constexpr std::int64_t most = 1 << 20;
  Seen out;
  agent::TarReader tar(
      [&](const agent::TarEntry& entry) -> base::Result<> {
        CHECK(entry.size >= 0 && (entry.size == 0 || entry.kind == agent::TarKind::file));
        out.entries.push_back(entry.path + "\n" + entry.target);
        out.promised += entry.size;
        return {};
      },
      [&](std::string_view bytes) -> base::Result<> {
        out.data += std::ssize(bytes);
        CHECK(out.data <= out.promised);
        if (out.data > most) return base::fail(base::Code::too_large, "enough");
        return {};
      });
  agent::Inflater inflater([&](std::string_view piece) { return tar.add(piece); });
  out.good = inflater.add(first) && inflater.add(second) && inflater.end() && tar.end();
  return out;
}

}  // namespace

SOUK_FUZZ(image) {
  const auto whole = read(input, "");
  if (whole.good) {
    CHECK(whole.data == whole.promised);
    const auto half = input.size() / 2;
    CHECK(read(input.substr(0, half), input.substr(half)) == whole);
  }
  if (const auto manifest = agent::read_image_manifest(input, "x86_64"))
    for (const auto& layer : manifest->manifest.layers)
      CHECK(layer.sha256.size() == 64 && layer.size >= 0);
  if (const auto config = agent::read_image_config(input))
    for (const auto& variable : config->env) CHECK(variable.find('=') != std::string::npos);
  const auto address = agent::token_address(input, "team/x");
  CHECK(address.empty() || address.ends_with("scope=repository%3Ateam%2Fx%3Apull"));
}
