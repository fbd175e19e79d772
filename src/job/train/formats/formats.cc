#include <fmt/format.h>

#include <array>

#include "job/train/formats/format.h"

namespace souk::job {
namespace {

using base::Code;
using base::fail;
using base::Result;

Result<train::Dataset> read_idx(const DataSource&, const std::vector<DataFile>& files,
                                train::Words&) {
  if (files.size() != 2)
    return std::unexpected(in_file({Code::invalid, "idx data is a file of images and one of labels",
                                    "give a list of two files"},
                                   files.front().path));
  auto out = train::parse_idx(files[0].bytes, files[1].bytes);
  if (!out) return std::unexpected(in_file(std::move(out).error(), files.front().path));
  return out;
}

Result<train::Dataset> read_cifar10(const DataSource&, const std::vector<DataFile>& files,
                                    train::Words&) {
  train::Dataset all;
  for (const auto& file : files) {
    auto some = train::parse_cifar10(file.bytes);
    if (!some) return std::unexpected(in_file(std::move(some).error(), file.path));
    SOUK_TRY(append(all, *some));
  }
  return all;
}

Result<train::Dataset> read_text(const DataSource&, const std::vector<DataFile>& files,
                                 train::Words&) {
  std::string all;
  for (const auto& file : files) all += file.bytes;
  return train::parse_text(std::move(all));
}

constexpr std::array kFormats{
    Format{"csv", "a table: numbers, categories, and a label or a target", read_csv_files, true},
    Format{"jsonl", "an object a line: a table as csv, or a field of text", read_jsonl_files, true},
    Format{"npz", "NumPy arrays x and y", read_npz_files},
    Format{"images", "a folder of PGM or PPM pictures for each class", read_image_folders, false,
           true},
    Format{"idx", "MNIST's: a file of images and one of labels", read_idx},
    Format{"cifar10", "CIFAR-10's binary files", read_cifar10},
    Format{"text", "bytes, of which a model learns to tell the next", read_text},
};

}  // namespace

std::span<const Format> formats() { return kFormats; }

Result<const Format*> find_format(std::string_view name) {
  std::string names;
  for (const auto& format : kFormats) {
    if (format.name == name) return &format;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  }
  return fail(Code::invalid, fmt::format("'{}' is not a known format", name.substr(0, 80)),
              "use one of " + names, "data.format");
}

Result<> append(train::Dataset& all, const train::Dataset& more) {
  if (all.x.empty() && all.y.empty() && all.amounts.empty()) {
    all = more;
    return {};
  }
  if (all.shape != more.shape || all.dtype != more.dtype || all.y.empty() != more.y.empty())
    return fail(Code::invalid, "the samples of two files differ in shape or kind",
                "give files of the same columns or sizes", "data");
  all.x += more.x;
  all.y.insert(all.y.end(), more.y.begin(), more.y.end());
  all.amounts.insert(all.amounts.end(), more.amounts.begin(), more.amounts.end());
  return {};
}

base::Error in_file(base::Error error, std::string_view path) {
  error.message = fmt::format("{}: {}", path, error.message);
  error.field = "data";
  return error;
}

}  // namespace souk::job
