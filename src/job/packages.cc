#include "job/packages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace souk::job {
namespace {

constexpr std::int64_t kLargestGib = std::int64_t{16} << 10;

// 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ... GiB: four between a power of two and the next.
std::vector<std::int64_t> steps() {
  std::vector<std::int64_t> out{1, 2, 3};
  for (std::int64_t power = 4; power <= kLargestGib; power *= 2)
    for (std::int64_t quarter = 0; quarter < 4; ++quarter)
      if (const auto gib = power + quarter * power / 4; gib <= kLargestGib) out.push_back(gib);
  return out;
}

std::string word(std::string_view what, std::int64_t gib) {
  return fmt::format("{}:{}G", what, gib);
}

}  // namespace

std::vector<std::string> size_offered(std::string_view what, std::int64_t mib) {
  std::vector<std::string> out;
  for (const auto gib : steps())
    if (gib * 1024 <= mib) out.push_back(word(what, gib));
  return out;
}

std::string size_demanded(std::string_view what, std::int64_t mib) {
  for (const auto gib : steps())
    if (gib * 1024 >= mib) return word(what, gib);
  return word(what, kLargestGib * 2);  // Which no machine offers.
}

std::vector<std::string> model_words(std::string_view model) {
  std::vector<std::string> out;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && word != "nvidia")
      if (auto full = fmt::format("{}:{}", kGpuModel, word);
          std::ranges::find(out, full) == out.end())
        out.push_back(std::move(full));
    word.clear();
  };
  for (const char c : model) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '.')
      word.push_back(static_cast<char>(std::tolower(byte)));
    else
      end_word();
  }
  end_word();
  return out;
}

}  // namespace souk::job
