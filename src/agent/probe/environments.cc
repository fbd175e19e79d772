#include "agent/probe/environments.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>

#include "agent/probe/environment_packages.h"
#include "base/packages.h"
#include "base/text.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kNameMax = 40;
constexpr std::size_t kWordMax = 100;  // The market's.
constexpr int kMostLinks = 16;

bool is_folder(const fs::path& path) {
  std::error_code none;
  return fs::is_directory(path, none);
}
bool is_there(const fs::path& path) {
  std::error_code none;
  return fs::exists(path, none);
}

bool below(const fs::path& path, const fs::path& folder) {
  const auto [a, b] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return a == folder.end();
}

fs::path tidy(const fs::path& path) {
  auto out = path.lexically_normal();
  return out.has_filename() || out == out.root_path() ? out : out.parent_path();
}

// Programs see all of it anyway, where it is.
bool in_system(const fs::path& path) {
  for (const auto* folder : {"/usr", "/bin", "/lib", "/lib64", "/sbin"})
    if (below(path, folder)) return true;
  return false;
}

std::vector<std::string> homes() {
  std::vector<std::string> out;
  // NOLINTBEGIN(concurrency-mt-unsafe): once, at the start.
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') out.push_back(home);
  if (const auto* me = ::getpwuid(::getuid()); me != nullptr && me->pw_dir != nullptr)
    out.push_back(me->pw_dir);
  // NOLINTEND(concurrency-mt-unsafe)
  return out;
}

// Would a stranger who sees this folder see more than an environment?
Result<> check_shown(const fs::path& path, std::string_view what) {
  const auto refuse = [&](std::string_view why, std::string hint) {
    return fail(Code::invalid, fmt::format("{} {} {}", what, path.string(), why), std::move(hint));
  };
  for (const auto* folder : {"/proc", "/sys", "/dev", "/etc", "/run", "/boot"})
    if (below(path, folder))
      return refuse("lies where programs have folders of their own", "move it elsewhere");
  for (const auto* folder :
       {"/", "/home", "/root", "/opt", "/var", "/tmp", "/work", "/srv", "/mnt"})
    if (path == folder)
      return refuse("is not only an environment", "name the environment's own folder");
  for (const auto& home : homes())
    if (home != "/" && below(home, path))
      return refuse("holds a home folder, which strangers' programs would see",
                    "make an environment in a folder of its own: python3 -m venv PATH");
  return {};
}

// "key = value" of pyvenv.cfg.
std::string value_in(std::string_view text, std::string_view key) {
  for (const auto line : base::split(text, '\n')) {
    const auto at = line.find('=');
    if (at != std::string_view::npos && base::trim(line.substr(0, at)) == key)
      return std::string(base::trim(line.substr(at + 1)));
  }
  return {};
}

// "3.12.8" of "3.12.8.final.0".
std::string three_numbers(std::string_view text) {
  const auto parts = base::split(text, '.');
  std::string out;
  for (std::size_t i = 0; i < parts.size() && i < 3; ++i) {
    if (parts[i].empty() || parts[i].find_first_not_of("0123456789") != std::string_view::npos)
      break;
    out += (out.empty() ? "" : ".") + std::string(parts[i]);
  }
  return out;
}

// "3.12", of the library that lies in lib/python3.12.
std::vector<std::string> python_libraries(const fs::path& prefix) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(prefix / "lib", error), end; !error && it != end;
       it.increment(error)) {
    const auto name = it->path().filename().string();
    if (name.starts_with("python3.") && is_folder(it->path())) out.push_back(name.substr(6));
  }
  std::ranges::sort(out,
                    [](const auto& a, const auto& b) { return base::compare_versions(a, b) > 0; });
  return out;
}

std::vector<std::string> site_folders(const fs::path& prefix) {
  std::vector<std::string> out;
  for (const auto& version : python_libraries(prefix))
    for (const auto* lib : {"lib", "lib64"})
      for (const auto* kind : {"site-packages", "dist-packages"})
        if (const auto folder = prefix / lib / ("python" + version) / kind; is_folder(folder))
          out.push_back(folder.string());
  return out;
}

// Looks at one environment.
class Reading {
 public:
  explicit Reading(fs::path path) : path_(std::move(path)) { out_.path = path_.string(); }

  Result<LentEnvironment> read() {
    SOUK_TRY(show(path_, "the folder"));
    if (is_folder(path_ / "conda-meta")) {
      out_.kind = EnvironmentKind::conda;
      sites_ = site_folders(path_);
    } else if (is_there(path_ / "pyvenv.cfg")) {
      SOUK_TRY(read_venv());
    } else {
      SOUK_TRY(read_folder());
    }
    SOUK_TRY(follow_python());
    gather();
    if (out_.python.empty() && is_there(path_ / "bin/python3"))
      if (const auto found = python_libraries(path_); !found.empty()) out_.python = found.front();
    out_.cuda = cuda_of(sites_, out_.packages);
    return std::move(out_);
  }

 private:
  Result<> read_venv() {
    out_.kind = EnvironmentKind::venv;
    const auto config = small_file((path_ / "pyvenv.cfg").string());
    const auto home = value_in(config, "home");
    if (!home.starts_with('/'))
      return fail(Code::invalid,
                  fmt::format("{}/pyvenv.cfg names no Python that it stands on", path_.string()),
                  "make it again: python3 -m venv PATH");
    out_.python = three_numbers(value_in(config, "version_info"));
    if (out_.python.empty()) out_.python = three_numbers(value_in(config, "version"));
    sites_ = site_folders(path_);
    const auto base = tidy(home).parent_path();
    SOUK_TRY(show_python(base));
    if (value_in(config, "include-system-site-packages") != "true") return {};
    for (auto& folder : site_folders(base)) sites_.push_back(std::move(folder));
    if (base == "/usr") {  // Debian has its own in a folder of no version.
      sites_.emplace_back("/usr/lib/python3/dist-packages");
      for (auto& folder : site_folders("/usr/local")) sites_.push_back(std::move(folder));
    }
    return {};
  }

  Result<> read_folder() {
    out_.kind = EnvironmentKind::folder;
    sites_ = site_folders(path_);
    out_.importable = !packages_in(path_.string()).empty();
    if (out_.importable) sites_.push_back(path_.string());
    if (out_.importable || is_folder(path_ / "bin")) return {};
    return fail(Code::invalid,
                fmt::format("{} is no environment: it has no pyvenv.cfg, no conda-meta, no bin and "
                            "no packages",
                            path_.string()),
                "name the folder of a virtual environment or a conda prefix");
  }

  // Where the links of bin/python3 lead, one by one: each must be there for the next.
  Result<> follow_python() {
    std::error_code error;
    auto at = path_ / "bin/python3";
    for (int i = 0; i < kMostLinks && fs::is_symlink(at, error); ++i) {
      const auto target = fs::read_symlink(at, error);
      if (error) break;
      at = tidy(target.is_absolute() ? target : at.parent_path() / target);
      if (!below(at, path_)) SOUK_TRY(show_python(at.parent_path().parent_path()));
    }
    return {};
  }

  Result<> show_python(const fs::path& prefix) {
    if (in_system(prefix) || prefix == "/usr") return {};
    const auto libraries = python_libraries(prefix);
    const bool whole = std::ranges::any_of(libraries, [&](const std::string& version) {
      return is_there(prefix / "lib" / ("python" + version) / "os.py");
    });
    if (!whole)
      return fail(Code::invalid,
                  fmt::format("{} stands on a Python in {}, which is not there", path_.string(),
                              prefix.string()),
                  "make the environment again, with a Python that is installed");
    return show(prefix, "the Python in");
  }

  // Where it is, and where its links say that it is.
  Result<> show(const fs::path& folder, std::string_view what) {
    std::error_code error;
    const auto real = fs::canonical(folder, error);
    if (error || !is_folder(folder))
      return fail(Code::not_found,
                  fmt::format("{} {} is not there: {}", what, folder.string(),
                              error ? error.message() : "it is no folder"),
                  "check the path");
    for (const auto& path : {folder, real}) {
      if (in_system(path)) continue;
      SOUK_TRY(check_shown(path, what));
      if (std::ranges::none_of(out_.shown, [&](const auto& s) { return below(path, s); }))
        out_.shown.push_back(path.string());
    }
    return {};
  }

  void gather() {
    std::set<std::string> known;
    const auto add = [&](std::vector<Package> packages) {
      for (auto& p : packages)
        if (known.insert(base::normal_name(p.name)).second) out_.packages.push_back(std::move(p));
    };
    for (const auto& folder : sites_) add(packages_in(folder));
    if (out_.kind != EnvironmentKind::conda) return;
    auto others = conda_packages((path_ / "conda-meta").string());
    for (const auto& p : others)
      if (p.name == "python") out_.python = p.version;
    std::erase_if(others, [](const Package& p) { return p.name == "python"; });
    add(std::move(others));
  }

  const fs::path path_;
  LentEnvironment out_;
  std::vector<std::string> sites_;
};

// /opt/torch/.venv is called torch.
std::string name_for(const fs::path& path) {
  auto name = path.filename().string();
  if (name == ".venv" || name == "venv" || name == "env" || name == ".env")
    name = path.parent_path().filename().string();
  std::string out;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.')
      out.push_back(c);
  if (out.empty()) out = "env";
  return out.substr(0, kNameMax);
}

Result<> check_name(std::string_view name) {
  const bool good =
      !name.empty() && name.size() <= kNameMax && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
      });
  if (good) return {};
  return fail(Code::invalid,
              fmt::format("'{}' cannot be the name of an environment", name.substr(0, 80)),
              fmt::format("use 1 to {} letters, digits, '-', '_' and '.'", kNameMax), "env");
}

bool can_be_listed(std::string_view word) {
  return word.size() <= kWordMax && std::ranges::all_of(word, [](unsigned char c) {
           return std::isalnum(c) != 0 || std::string_view("-_.+!=").contains(static_cast<char>(c));
         });
}

}  // namespace

std::vector<std::string> LentEnvironment::listed() const {
  std::vector<std::string> out;
  const auto add = [&](std::string_view package, std::string_view version) {
    if (version.empty()) return;
    auto word = fmt::format("{}=={}", package, version);
    if (can_be_listed(word)) out.push_back(std::move(word));
  };
  add("python", python);
  add("cuda", cuda);
  for (const auto& p : packages) add(p.name, p.version);
  return out;
}

Result<LentEnvironment> read_environment(std::string_view given) {
  std::string name;
  if (const auto equals = given.find('=');
      equals != std::string_view::npos && given.substr(0, equals).find('/') == given.npos) {
    name = given.substr(0, equals);
    given.remove_prefix(equals + 1);
    SOUK_TRY(check_name(name));
  }
  if (given.empty())
    return fail(Code::invalid, "an environment without a path", "use PATH or NAME=PATH", "env");
  std::error_code error;
  const auto path = tidy(fs::absolute(fs::path(given), error));
  SOUK_ASSIGN(auto out, Reading(path).read());
  out.name = name.empty() ? name_for(path) : name;
  return out;
}

std::vector<LentEnvironment> find_environments(const EnvironmentPlaces& places) {
  constexpr std::size_t most = 16;
  std::vector<std::string> paths{places.virtual_env, places.conda_prefix};
  for (const auto& folder : {places.home, places.here}) {
    if (folder.empty()) continue;
    for (const auto* name : {".venv", "venv", "env", "miniconda3", "anaconda3", "miniforge3",
                             "mambaforge", "micromamba"})
      paths.push_back(folder + "/" + name);
  }
  std::error_code error;
  for (fs::directory_iterator it(places.opt, error), end; !error && it != end; it.increment(error))
    for (const auto* name : {"", ".venv", "venv", "env"})
      paths.push_back((it->path() / name).string());
  std::vector<LentEnvironment> out;
  std::set<std::string> known;
  for (const auto& path : paths) {
    if (path.empty() || out.size() == most) continue;
    if (!is_there(fs::path(path) / "pyvenv.cfg") && !is_folder(fs::path(path) / "conda-meta"))
      continue;
    if (!known.insert(fs::weakly_canonical(path, error).string()).second) continue;
    if (auto found = read_environment(path)) out.push_back(*std::move(found));
  }
  return out;
}

}  // namespace souk::agent
