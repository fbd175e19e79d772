#include "base/file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <utility>

namespace souk::base {

Result<std::string> read_file(const std::string& path, std::string hint) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  std::ifstream in(path, std::ios::binary);
  const bool folder = kind == std::filesystem::file_type::directory;
  if (!in || folder)
    return fail(Code::not_found,
                fmt::format("cannot read {}: {}", path,
                            error    ? error.message()
                            : folder ? "it is a folder"
                                     : "not allowed"),
                std::move(hint));
  std::string text;
  for (char piece[65536]; in.read(piece, sizeof piece) || in.gcount() > 0;) {
    text.append(piece, static_cast<std::size_t>(in.gcount()));
    if (text.size() > kFileMax)
      return fail(Code::too_large, fmt::format("{} has more than {} bytes", path, kFileMax));
  }
  if (in.bad()) return fail(Code::not_found, fmt::format("cannot read all of {}", path));
  return text;
}

}  // namespace souk::base
