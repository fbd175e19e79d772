#include "cli/commands/environment.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "agent/probe/command_output.h"
#include "agent/probe/probe_programs.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/packages.h"
#include "base/text.h"
#include "cli/shell/human.h"

namespace souk::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kToResolve = base::minutes(10);
constexpr auto kToInstall = base::minutes(120);
constexpr auto kToFetchUv = base::minutes(10);
constexpr std::size_t kMostSaid = 4 << 20;
constexpr std::size_t kQuoted = 1'500;
// Environments; the rest goes, those used least lately first.
constexpr std::size_t kMostKept = 12;
constexpr auto kUnused = std::chrono::hours(24);

std::string last_words(std::string_view text) {
  text = base::trim(text);
  if (text.size() > kQuoted) text = text.substr(text.size() - kQuoted);
  return std::string(text);
}

Result<std::string> run(const std::vector<std::string>& argv, base::Duration patience,
                        std::string_view what, std::string hint) {
  SOUK_ASSIGN(const auto done, agent::run_command(argv, patience, kMostSaid));
  if (done.good()) return done.out;
  if (done.timed_out)
    return failed(fmt::format("{} took longer than {}", what, base::to_string(patience)),
                  std::move(hint));
  return failed(
      fmt::format("{} failed: {}", what, last_words(done.err.empty() ? done.out : done.err)),
      std::move(hint));
}

Result<> write_text(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) return failed(fmt::format("cannot write {}", path), "check the disk");
  return {};
}

std::string read_text(const std::string& path) {
  auto text = base::read_file(path, "");
  return text ? *std::move(text) : std::string();
}

// A name beside `path` that no other process uses.
std::string partial(const std::string& path) { return fmt::format("{}.{}.part", path, ::getpid()); }

// --- uv -----------------------------------------------------------------------------------------

std::string find_uv(const Context& c, const std::string& own) {
  const auto& env = c.env();
  std::vector<std::string> places{env("SOUK_UV").value_or("")};
  places.push_back(agent::find_program("uv", env("PATH").value_or("")));
  for (const auto* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const auto prefix = env(variable)) places.push_back(*prefix + "/bin/uv");
  if (const auto home = env("HOME"))
    for (const auto* folder : {"/.local/bin/uv", "/.cargo/bin/uv", "/.venv/bin/uv"})
      places.push_back(*home + folder);
  places.push_back(own + "/bin/uv");
  for (const auto& place : places)
    if (!place.empty() && ::access(place.c_str(), X_OK) == 0) return place;
  return {};
}

Result<std::string> need_uv(Context& c, const std::string& cache) {
  const auto own = cache + "/tools/uv";
  if (auto found = find_uv(c, own); !found.empty()) return found;
  const auto hint = "install uv yourself (pip install uv), so that it is on the PATH";
  const auto python = agent::find_program("python3", c.env()("PATH").value_or(""));
  if (python.empty()) return failed("environments are built with uv, which is not here", hint);
  c.note(fmt::format("environments are built with uv: fetching it into {}", own));
  const auto part = partial(own);
  std::error_code error;
  fs::create_directories(fs::path(own).parent_path(), error);
  fs::remove_all(part, error);
  SOUK_TRY(run({python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                "--target", part, "uv"},
               kToFetchUv, "fetching uv", hint));
  fs::remove_all(own, error);
  fs::rename(part, own, error);
  if (auto found = find_uv(c, own); !found.empty()) return found;
  return failed("uv was fetched, and cannot be run", hint);
}

// --- What is to be built ------------------------------------------------------------------------

Result<std::string> python_here(const Context& c) {
  const auto python = agent::find_program("python3", c.env()("PATH").value_or(""));
  if (python.empty())
    return failed("there is no python3 here whose version the environment could have",
                  "say which Python it is for: environment: {python: \"3.12\", ...}");
  SOUK_ASSIGN(auto said,
              run({python, "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"},
                  base::seconds(30), "python3", "give environment: {python: ...}"));
  return std::string(base::trim(said));
}

class Builder {
 public:
  Builder(Context& c, const job::EnvironmentFile& file, std::string cache)
      : c_(c), file_(file), cache_(std::move(cache)) {}

  Result<BuiltEnvironment> build() {
    std::error_code error;
    for (const auto* folder : {"/environments", "/locks"}) {
      fs::create_directories(cache_ + folder, error);
      if (error)
        return failed(fmt::format("cannot make {}{}: {}", cache_, folder, error.message()),
                      "set XDG_CACHE_HOME to a folder that can be written to");
    }
    SOUK_ASSIGN(uv_, need_uv(c_, cache_));
    python_ = file_.python;
    if (python_.empty()) {
      SOUK_ASSIGN(python_, python_here(c_));
    }
    utsname machine{};
    ::uname(&machine);
    arch_ = std::string_view(machine.machine) == "aarch64" ? "aarch64" : "x86_64";
    SOUK_ASSIGN(auto lock, resolve());
    const auto hash =
        base::to_string(base::blake2b(fmt::format("{}\n{}\n{}", python_, arch_, lock)));
    return file_.by_lender ? list(lock, hash) : install(lock, hash);
  }

 private:
  [[nodiscard]] std::vector<std::string> target() const {
    return {"--python-version",      python_,        "--python-platform", arch_ + "-manylinux_2_28",
            "--no-python-downloads", "--no-progress"};
  }

  // A file that uv can read.
  Result<std::string> source() {
    if (file_.packages.empty()) {
      if (::access(file_.requirements.c_str(), R_OK) != 0)
        return failed(fmt::format("there is no {}", file_.requirements),
                      "environment: names requirements.txt, pyproject.toml or uv.lock");
      return fs::absolute(file_.requirements).lexically_normal().string();
    }
    const auto text = base::join(file_.packages, "\n") + "\n";
    const auto path = fmt::format("{}/locks/{:016x}.in", cache_, base::short_hash(text));
    SOUK_TRY(write_text(path, text));
    return path;
  }

  // What is installed: without what the lender's environment has.
  Result<std::string> resolve() {
    SOUK_ASSIGN(const auto from, source());
    if (!file_.on.empty() && from.ends_with(".lock"))
      return failed("environment.on does not go with a uv.lock", "name a requirements.txt");
    const auto key =
        fmt::format("{}\n{}\n{}\n{}", from, python_, arch_, base::join(file_.on, "\n"));
    const auto lock = fmt::format("{}/locks/{:016x}.txt", cache_, base::short_hash(key));
    std::vector<std::string> sources{from};
    if (!file_.on.empty()) {
      const auto on = lock + ".on";
      SOUK_TRY(write_text(on, base::join(file_.on, "\n") + "\n"));
      sources.push_back(on);
    }
    SOUK_TRY(lock_into(lock, sources, {}));
    auto text = read_text(lock);
    if (file_.on.empty()) return text;
    // What those packages need comes with them, wherever they are.
    SOUK_TRY(lock_into(lock + ".there", {lock + ".on"}, lock));
    return lock_without(text, names_in_lock(read_text(lock + ".there")));
  }

  // Versions stay as they were when this was last resolved, as far as the requirements allow.
  Result<> lock_into(const std::string& lock, const std::vector<std::string>& sources,
                     const std::string& constraints) {
    const auto part = partial(lock);
    std::error_code error;
    fs::remove(part, error);
    fs::copy_file(lock, part, error);
    std::vector<std::string> argv{uv_};
    if (sources.front().ends_with("uv.lock")) {
      argv.insert(argv.end(), {"export", "--frozen", "--project",
                               fs::path(sources.front()).parent_path().string(),
                               "--no-emit-project", "--no-dev", "--format", "requirements.txt"});
    } else {
      argv.insert(argv.end(), {"pip", "compile", "--generate-hashes"});
      argv.insert(argv.end(), sources.begin(), sources.end());
      for (auto& flag : target()) argv.push_back(std::move(flag));
      if (!constraints.empty()) argv.insert(argv.end(), {"--constraints", constraints});
    }
    argv.insert(argv.end(), {"--quiet", "--no-header", "--no-annotate", "--output-file", part});
    const auto what = fmt::format("resolving {}", sources.front());
    auto done = run(argv, kToResolve, what, "check the names and versions in it, and the network");
    if (!done) {  // Perhaps only the network is gone.
      argv.emplace_back("--offline");
      if (run(argv, kToResolve, what, "")) done.emplace();
    }
    if (!done) {
      fs::remove(part, error);
      return std::unexpected(done.error());
    }
    fs::rename(part, lock, error);
    if (error) return failed(fmt::format("cannot write {}: {}", lock, error.message()), "");
    return {};
  }

  // Nothing is built: the wheels for the lender's kind of machine, with where they are.
  Result<BuiltEnvironment> list(const std::string& lock, const std::string& hash) {
    const auto base = fmt::format("{}/locks/pylock.{}-{}", cache_, hash.substr(0, 16), ::getpid());
    const auto text = base + ".txt", out = base + ".toml";
    SOUK_TRY(write_text(text, lock));
    std::vector<std::string> argv{uv_,        "pip",         "compile",       text,
                                  "--quiet",  "--no-deps",   "--no-header",   "--no-annotate",
                                  "--format", "pylock.toml", "--output-file", out};
    for (auto& flag : target()) argv.push_back(std::move(flag));
    const auto done = run(argv, kToResolve, "looking for wheels", "check the network");
    const auto found = read_text(out);
    std::error_code error;
    for (const auto& file : {text, out}) fs::remove(file, error);
    SOUK_TRY(done);
    BuiltEnvironment built{.work = {.python = python_, .lock = hash, .arch = arch_}};
    SOUK_ASSIGN(built.work.wheels, wheels_in(found));
    built.work.count = static_cast<std::int32_t>(built.work.wheels.size());
    if (built.work.wheels.empty())
      return failed("the environment has no packages", "drop environment:, or name some");
    return built;
  }

  Result<BuiltEnvironment> install(const std::string& lock, const std::string& hash) {
    const auto place = cache_ + "/environments/" + hash;
    const auto count = names_in_lock(lock).size();
    BuiltEnvironment out{.folder = place + "/site",
                         .packed = place + "/packed",
                         .work = {.python = python_,
                                  .lock = hash,
                                  .count = static_cast<std::int32_t>(count),
                                  .arch = arch_},
                         .kept = fs::exists(place)};
    std::error_code error;
    if (!out.kept) {
      c_.note(fmt::format("building an environment of {} for Python {}",
                          plural(static_cast<std::int64_t>(count), "package"), python_));
      const auto part = partial(place);
      fs::remove_all(part, error);
      fs::create_directories(part + "/site", error);
      auto built = fill(part, lock);
      if (built) fs::rename(part, place, error);
      fs::remove_all(part, error);
      SOUK_TRY(built);
      if (!fs::exists(out.folder))
        return failed(fmt::format("cannot make {}", place), "check the disk");
    }
    fs::last_write_time(place, fs::file_time_type::clock::now(), error);
    forget_old();
    return out;
  }

  Result<> fill(const std::string& part, const std::string& lock) {
    SOUK_TRY(write_text(part + "/lock.txt", lock));
    const auto site = part + "/site";
    if (!names_in_lock(lock).empty()) {
      std::vector<std::string> argv{
          uv_,  "pip",       "install",          "--quiet", "--target",
          site, "--no-deps", "--require-hashes", "-r",      part + "/lock.txt"};
      for (auto& flag : target()) argv.push_back(std::move(flag));
      SOUK_TRY(run(argv, kToInstall, "installing the environment",
                   "a package without a wheel for this Python cannot come along"));
    }
    std::error_code error;
    fs::remove(site + "/.lock", error);
    for (const auto& entry : fs::directory_iterator(site + "/bin", error)) {
      if (!entry.is_regular_file(error) || entry.is_symlink(error)) continue;
      const auto before = read_text(entry.path().string());
      const auto after = with_any_python(before);
      if (after == before) continue;
      // A new file: uv's own cache may hold the old one.
      const auto mode = entry.status(error).permissions();
      fs::remove(entry.path(), error);
      SOUK_TRY(write_text(entry.path().string(), after));
      fs::permissions(entry.path(), mode, error);
    }
    return {};
  }

  void forget_old() const {
    std::vector<std::pair<fs::file_time_type, fs::path>> all;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(cache_ + "/environments", error))
      all.emplace_back(entry.last_write_time(error), entry.path());
    std::ranges::sort(all, std::greater());
    const auto limit = fs::file_time_type::clock::now() - kUnused;
    for (std::size_t i = kMostKept; i < all.size(); ++i)
      if (all[i].first < limit) fs::remove_all(all[i].second, error);
  }

  Context& c_;
  const job::EnvironmentFile& file_;
  const std::string cache_;
  std::string uv_, python_, arch_;
};

// The lines of a text as they are: base::split would take their indentation away.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// The name of a package at the beginning of a line of a lock; empty: the line goes on with another.
std::string name_at(std::string_view line) {
  if (line.empty() || line.front() == ' ' || line.front() == '#' || line.front() == '-') return {};
  return base::normal_name(base::trim(base::package_name(line)));
}

}  // namespace

Result<std::vector<wire::Wheel>> wheels_in(std::string_view pylock) {
  // The text in quotes that follows `key`.
  const auto quoted = [](std::string_view text, std::string_view key) {
    const auto at = text.find(key);
    if (at == text.npos) return std::string_view();
    text.remove_prefix(at + key.size());
    return text.substr(0, text.find('"'));
  };
  constexpr std::string_view begin = "[[packages]]";
  std::vector<wire::Wheel> out;
  for (auto at = pylock.find(begin); at != pylock.npos;) {
    const auto next = pylock.find(begin, at + begin.size());
    const auto package = pylock.substr(at, next == pylock.npos ? next : next - at);
    at = next;
    const auto list = package.find("\nwheels = [");
    const auto wheel =
        list == package.npos ? "" : package.substr(list, package.find(" } }", list) - list);
    wire::Wheel found{.url = std::string(quoted(wheel, "url = \"")),
                      .sha256 = std::string(quoted(wheel, "sha256 = \""))};
    if (const auto size = wheel.find("size = "); size != wheel.npos) {
      std::int64_t bytes = 0;
      if (std::from_chars(wheel.data() + size + 7, wheel.data() + wheel.size(), bytes).ec ==
          std::errc{})
        found.size = bytes;
    }
    if (found.url.empty() || found.sha256.empty())
      return failed(
          fmt::format("{} has no wheel that a lender could fetch", quoted(package, "name = \"")),
          "leave build: lender out, to build it here");
    out.push_back(std::move(found));
  }
  return out;
}

std::vector<std::string> names_in_lock(std::string_view lock) {
  std::vector<std::string> out;
  for (const auto line : lines_of(lock))
    if (auto name = name_at(line); !name.empty()) out.push_back(std::move(name));
  return out;
}

std::string lock_without(std::string_view lock, const std::vector<std::string>& names) {
  std::string out;
  bool dropped = false;
  for (const auto line : lines_of(lock)) {
    if (const auto name = name_at(line); !name.empty())
      dropped = std::ranges::find(names, name) != names.end();
    if (!dropped && !line.empty()) out.append(line).push_back('\n');
  }
  return out;
}

std::string with_any_python(std::string script) {
  if (!script.starts_with("#!")) return script;
  const auto end = std::min(script.find('\n'), script.size());
  const auto line = std::string_view(script).substr(0, end);
  if (!line.contains("python") || line.contains("/env ")) return script;
  return "#!/usr/bin/env python3" + script.substr(end);
}

Result<BuiltEnvironment> build_environment(Context& c, const job::EnvironmentFile& file) {
  return Builder(c, file, cache_folder(c.env())).build();
}

}  // namespace souk::cli
