#include "server/core/programs.h"

#include <spdlog/spdlog.h>

#include <filesystem>

namespace souk::server {
namespace {

// For /bin/sh, whatever the name is.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

}  // namespace

std::unique_ptr<lab::External> Programs::start(
    const std::string& slot_class, const std::map<std::string, std::string>& params) const {
  const auto name = params.find("program");
  const auto path = name == params.end() ? folder_ : folder_ + "/" + name->second;
  std::error_code error;
  if (folder_.empty() || !std::filesystem::is_regular_file(path, error)) {
    spdlog::error("class {}: {} is no program; the fallback clears (--mechanisms FOLDER)",
                  slot_class, path);
    return nullptr;
  }
  mechanism::Params given(params.begin(), params.end());
  given["program"] = "exec " + quoted(std::filesystem::absolute(path, error).string());
  given.try_emplace("start_ms", std::to_string(kStartMs));
  auto made = lab::make_external(given);
  if (!made) spdlog::error("class {}: {}", slot_class, made.error().message);
  return made ? *std::move(made) : nullptr;
}

const mechanism::Mechanism* Programs::of(const market::SlotClass& slot_class, base::Time now) {
  if (slot_class.mechanism_at(now) != market::kExternal) return nullptr;
  const auto& params = slot_class.params_at(now);
  auto [it, fresh] = running_.try_emplace(slot_class.id);
  auto& mine = it->second;
  if (fresh || mine.params != params) mine = {params, start(slot_class.name, params), ""};
  if (!mine.program) return nullptr;
  if (const auto& why = mine.program->counts().last_reason; why != mine.complained) {
    spdlog::warn("class {}: its program was replaced by the fallback: {}", slot_class.name, why);
    mine.complained = why;
  }
  return mine.program.get();
}

}  // namespace souk::server
