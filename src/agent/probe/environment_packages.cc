#include "agent/probe/environment_packages.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "base/fd.h"
#include "base/packages.h"
#include "base/text.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 200'000;  // Of a folder that are looked at.
constexpr std::size_t kMostPackages = 5'000;

bool is_version(std::string_view text) {
  return !text.empty() && text.size() <= 20 &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

// "torch-2.4.0", or with a tag of Python's as old installers have it: "six-1.16-py3.11".
std::optional<Package> parse_stem(std::string_view stem) {
  if (const auto tag = stem.rfind("-py"); tag != std::string_view::npos && tag > 0)
    if (is_version(stem.substr(tag + 3))) stem = stem.substr(0, tag);
  const auto dash = stem.rfind('-');
  if (dash == std::string_view::npos || dash == 0 || dash + 1 == stem.size()) return std::nullopt;
  return Package{std::string(stem.substr(0, dash)), std::string(stem.substr(dash + 1))};
}

// "name-1.2-build.json".
std::optional<Package> parse_conda(std::string_view stem) {
  const auto build = stem.rfind('-');
  if (build == std::string_view::npos) return std::nullopt;
  return parse_stem(stem.substr(0, build));
}

bool is_editable(const std::string& dist_info) {
  const auto text = small_file(dist_info + "/direct_url.json");
  const auto at = text.find("\"editable\"");
  return at != std::string::npos && text.find("true", at) != std::string::npos;
}

bool is_file(const std::string& path) {
  std::error_code none;
  return fs::symlink_status(path, none).type() == fs::file_type::regular;
}

// Calls look(name) for the entries of a folder.
template <class Look>
void each_entry(const std::string& folder, Look&& look) {
  std::error_code error;
  std::size_t seen = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end && seen < kMostEntries;
       it.increment(error), ++seen)
    look(it->path().filename().string());
}

std::vector<Package> sorted(std::map<std::string, Package> found) {
  std::vector<Package> out;
  for (auto& [name, package] : found)
    if (out.size() < kMostPackages) out.push_back(std::move(package));
  return out;
}

// The text between the quotes of a line such as: cuda: Optional[str] = '12.8'
std::string text_in_quotes(std::string_view line) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return {};
  const auto value = base::trim(line.substr(equals + 1));
  if (value.size() < 3 || (value.front() != '\'' && value.front() != '"')) return {};
  const auto end = value.find(value.front(), 1);
  return end == std::string_view::npos ? "" : std::string(value.substr(1, end - 1));
}

}  // namespace

std::string small_file(const std::string& path, std::size_t most) {
  // Not blocking, or a pipe would hold us up.
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::string out(std::min(most, static_cast<std::size_t>(info.st_size)), '\0');
  std::size_t got = 0;
  while (got < out.size()) {
    const auto n = ::read(file.get(), out.data() + got, out.size() - got);
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  out.resize(got);
  return out;
}

std::vector<Package> packages_in(const std::string& folder) {
  std::map<std::string, Package> found;
  each_entry(folder, [&](const std::string& name) {
    std::string_view stem = name;
    const auto path = folder + "/" + name;
    if (stem.ends_with(".dist-info")) {
      if (!is_file(path + "/METADATA") || is_editable(path)) return;
      stem.remove_suffix(10);
    } else if (stem.ends_with(".egg-info")) {
      stem.remove_suffix(9);
    } else {
      return;
    }
    if (auto package = parse_stem(stem)) {
      const auto key = base::normal_name(package->name);
      found.try_emplace(key, *std::move(package));
    }
  });
  return sorted(std::move(found));
}

std::vector<Package> conda_packages(const std::string& conda_meta) {
  std::map<std::string, Package> found;
  each_entry(conda_meta, [&](const std::string& name) {
    std::string_view stem = name;
    if (!stem.ends_with(".json")) return;
    stem.remove_suffix(5);
    if (auto package = parse_conda(stem)) {
      const auto key = base::normal_name(package->name);
      found.try_emplace(key, *std::move(package));
    }
  });
  return sorted(std::move(found));
}

std::string cuda_of(const std::vector<std::string>& folders, const std::vector<Package>& packages) {
  for (const auto& folder : folders) {
    const auto text = small_file(folder + "/torch/version.py");
    for (const auto line : base::split(text, '\n')) {
      if (!line.starts_with("cuda")) continue;
      if (auto version = text_in_quotes(line); is_version(version)) return version;
    }
  }
  for (const std::string_view prefix : {"nvidia-cuda-runtime", "cuda-version", "cudatoolkit"})
    for (const auto& p : packages)
      if (base::normal_name(p.name).starts_with(prefix) && is_version(p.version)) return p.version;
  return {};
}

}  // namespace souk::agent
