#include "fuzz/target.h"
#include "train/dataset.h"

// A table of comma-separated values: the first line names the column of labels. What is accepted
// has a label for each sample, all of them below the number of classes, and can be split.

using namespace souk;

SOUK_FUZZ(csv, .input_bytes = 4096, .malloc_mb = 4) {
  const auto label = fuzz::take_line(input);
  const auto data = train::parse_csv(input, label);
  if (!data) return;
  CHECK(data->samples() > 0 && data->samples() == std::ssize(data->y));
  CHECK(data->x.size() == static_cast<std::size_t>(data->samples()) * data->sample_bytes());
  for (const auto y : data->y) CHECK(y >= 0 && y < data->classes());
  const auto scaling = train::scaling_of(*data);
  for (const auto deviation : scaling.deviation) CHECK(deviation >= 0);
  std::int64_t samples = 0;
  for (const auto& shard : train::split(*data, 3, 1)) samples += shard.samples();
  CHECK(samples == data->samples());
  // Test data is read with the names of the training data.
  if (!data->names.empty()) CHECK(train::parse_csv(input, label, data->names).has_value());
}
