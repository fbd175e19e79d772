#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/train/training_data.h"
#include "train/table.h"

// The formats of people's data: a row and a reader each. A reader makes samples of files that
// anybody may have written; what it takes in memory is bounded by their size. Blocking.

namespace souk::job {

struct DataFile {
  std::string path;  // For errors, and the folder of a format that has folders.
  std::string bytes;
};

// Reads the files of the training data, or of the test data with the words of the training data.
// Errors name the file and, where there are any, the line and the column.
using ReadFormat = base::Result<train::Dataset> (*)(const DataSource& source,
                                                    const std::vector<DataFile>& files,
                                                    train::Words& words);

struct Format {
  std::string_view name, what;
  ReadFormat read;
  bool as_text = false;  // Numbers as text take many times as much memory as the file.
  bool folders = false;  // `train` and `test` name folders, which the reader goes through.
};

[[nodiscard]] std::span<const Format> formats();
// invalid, with the names there are.
[[nodiscard]] base::Result<const Format*> find_format(std::string_view name);

// The readers, in files of their own.
[[nodiscard]] base::Result<train::Dataset> read_csv_files(const DataSource& source,
                                                          const std::vector<DataFile>& files,
                                                          train::Words& words);
[[nodiscard]] base::Result<train::Dataset> read_jsonl_files(const DataSource& source,
                                                            const std::vector<DataFile>& files,
                                                            train::Words& words);
[[nodiscard]] base::Result<train::Dataset> read_npz_files(const DataSource& source,
                                                          const std::vector<DataFile>& files,
                                                          train::Words& words);
[[nodiscard]] base::Result<train::Dataset> read_image_folders(const DataSource& source,
                                                              const std::vector<DataFile>& files,
                                                              train::Words& words);

// Puts the samples of `more` behind those of `all`, which may have none yet.
[[nodiscard]] base::Result<> append(train::Dataset& all, const train::Dataset& more);

// `error` as one about this file.
[[nodiscard]] base::Error in_file(base::Error error, std::string_view path);

}  // namespace souk::job
