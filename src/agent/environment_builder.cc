#include "agent/environment_builder.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "agent/environment.h"
#include "agent/image/layers.h"
#include "agent/sandbox/sandbox_process.h"
#include "base/hash.h"
#include "base/text.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;
using base::Result;

constexpr auto kToUnpack = base::minutes(30);
constexpr std::int64_t kMemory = std::int64_t{512} << 20;
constexpr std::int64_t kScratch = std::int64_t{16} << 20;
constexpr int kBuildProcesses = 64;
constexpr const char* kWheels = "/work/wheels";

// What an installer does with a wheel (PyPA's "binary distribution format"), but onto a tar.
constexpr std::string_view kInstaller = R"(
import configparser, io, os, sys, tarfile, zipfile
out = tarfile.open(fileobj=sys.stdout.buffer, mode='w|', format=tarfile.PAX_FORMAT)
seen = set()
def put(path, content, size, executable):
    if path in seen:
        return
    seen.add(path)
    entry = tarfile.TarInfo(path)
    entry.size = size
    entry.mode = 0o755 if executable else 0o644
    out.addfile(entry, content)
def script(name, text):
    body = text.encode()
    put('bin/' + name, io.BytesIO(body), len(body), True)
def entry_points(text):
    parser = configparser.ConfigParser(delimiters=('=',), strict=False, interpolation=None)
    parser.optionxform = str
    parser.read_string(text)
    for name, target in parser.items('console_scripts') if parser.has_section('console_scripts') else ():
        module, _, call = target.split('[')[0].strip().partition(':')
        script(name.strip(), '#!/usr/bin/env python3\nimport sys\nfrom %s import %s\nsys.exit(%s())\n'
               % (module, call.split('.')[0], call))
for name in sorted(os.listdir('/work/wheels')):
    with zipfile.ZipFile('/work/wheels/' + name) as wheel:
        for info in wheel.infolist():
            if info.is_dir():
                continue
            path, executable = info.filename, bool((info.external_attr >> 16) & 0o111)
            first, _, rest = path.partition('/')
            if first.endswith('.data'):
                kind, _, path = rest.partition('/')
                if kind == 'scripts':
                    text = wheel.read(info)
                    if text.startswith(b'#!python'):
                        text = b'#!/usr/bin/env python3' + text[text.find(b'\n'):]
                    put('bin/' + path, io.BytesIO(text), len(text), True)
                if kind not in ('purelib', 'platlib', 'data'):
                    continue
            with wheel.open(info) as content:
                put(path, content, info.file_size, executable)
            if first.endswith('.dist-info') and rest == 'entry_points.txt':
                entry_points(wheel.read(info).decode())
out.close()
)";

// By what the packages are, not by what the job says of them.
std::string key_of(const wire::BatchEnvironment& environment) {
  std::vector<std::string> hashes;
  for (const auto& wheel : environment.wheels) hashes.push_back(wheel.sha256);
  std::ranges::sort(hashes);
  return "env-" + base::to_string(base::blake2b(base::join(hashes, "\n")));
}

std::string last_line_of(const base::Fd& output) {
  std::string text(2'000, '\0');
  const auto got = ::pread(output.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  // The last line of Python's tells what it was.
  const auto trimmed = base::trim(text);
  return std::string(trimmed.substr(trimmed.rfind('\n') + 1));
}

}  // namespace

Result<Trees::Use> EnvironmentBuilder::use(const wire::BatchEnvironment& environment,
                                           std::span<const LentEnvironment> lent,
                                           std::span<const std::string> demands,
                                           const Images::Watch& watch) {
  Program program{.argv = {"/usr/bin/env", "python3", "-I", "-c", std::string(kInstaller)}};
  if (const auto* chosen = choose_environment(lent, demands)) enter_lent(*chosen, program);
  return trees_.use(key_of(environment),
                    [&](const std::string& folder, const Reserve& reserve) -> Result<> {
                      const auto wheels = folder + "/wheels", site = folder + "/site";
                      std::error_code error;
                      fs::create_directory(wheels, error);
                      fs::create_directory(site, error);
                      for (const auto& made : {wheels, site})
                        fs::permissions(made, fs::perms(0755), error);
                      if (error)
                        return fail(Code::unavailable,
                                    fmt::format("cannot make {}: {}", wheels, error.message()));
                      SOUK_TRY(fetch(environment, wheels, reserve, watch));
                      SOUK_TRY(unpack(program, wheels, site, reserve, watch));
                      fs::remove_all(wheels, error);
                      return {};
                    });
}

Result<> EnvironmentBuilder::fetch(const wire::BatchEnvironment& environment,
                                   const std::string& folder, const Reserve& reserve,
                                   const Images::Watch& watch) const {
  const auto allowed = [this](const WebAddress& address) { return among(indexes_, address); };
  std::int64_t done = 0;
  const auto on_bytes = [&](std::int64_t bytes) -> Result<> {
    SOUK_TRY(reserve(bytes, 0));
    done += bytes;
    watch.received(bytes);
    watch.doing(fmt::format("fetching packages, {}", base::bytes_text(static_cast<std::uint64_t>(
                                                         std::max<std::int64_t>(0, done)))));
    return {};
  };
  for (std::size_t i = 0; i < environment.wheels.size(); ++i) {
    const auto& wheel = environment.wheels[i];
    SOUK_ASSIGN(auto address, parse_web_address(wheel.url));
    SOUK_TRY(reserve(0, 1));
    const auto path = fmt::format("{}/{:04}.whl", folder, i);
    SOUK_TRY(web_fetch({.address = address, .allowed = allowed, .give_up = watch.give_up},
                       {wheel.sha256, wheel.size.value_or(WantedFile::kAnySize)}, path, on_bytes));
    std::error_code error;  // The sandbox's program is somebody else, where the agent is root.
    fs::permissions(path, fs::perms(0644), error);
  }
  return {};
}

Result<> EnvironmentBuilder::unpack(Program program, const std::string& wheels,
                                    const std::string& site, const Reserve& reserve,
                                    const Images::Watch& watch) const {
  watch.doing("building the environment");
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(Code::exhausted, "cannot make a socket for the installer");
  const base::Fd tar(ends[0]);
  base::Fd talk(ends[1]);
  SOUK_ASSIGN(const auto output, memory_file("installer", ""));
  program.inputs = {{wheels, kWheels}};
  program.talk_fd = talk.get();
  program.output_fd = output.get();
  program.limits = {
      .cores = 1, .memory_bytes = kMemory, .scratch_bytes = kScratch, .pids = kBuildProcesses};
  SOUK_ASSIGN(const auto process, sandbox_.prepare(program));
  SOUK_TRY(process->start());
  talk.reset();
  SOUK_ASSIGN(auto tree, LayerTree::open(site, reserve));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(kToUnpack.us);
  const auto late = [&] { return std::chrono::steady_clock::now() > deadline; };
  const auto applied = tree.apply(tar.get(), [&] { return watch.give_up() || late(); });
  if (!applied) process->kill();
  const auto exit = process->wait(base::seconds(10));
  if (exit && (exit->code != 0 || exit->signal != 0 || !exit->started)) {
    const auto why = last_line_of(output);
    if (applied || !why.empty())
      return fail(Code::invalid, fmt::format("the packages cannot be unpacked: {}",
                                             why.empty() ? exit->text : why));
  }
  if (!applied && late()) return fail(Code::unavailable, "the packages take too long to unpack");
  SOUK_TRY(applied);
  if (!exit) return fail(Code::unavailable, "the installer does not end");
  return {};
}

}  // namespace souk::agent
