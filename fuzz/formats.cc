#include "job/train/formats/format.h"

#include "fuzz/target.h"

// Data sets in files: the first byte chooses the format, the next line names the column of labels
// or, behind '=', of amounts. Columns c and k are categories. What is accepted has an answer for
// each sample.

using namespace souk;

SOUK_FUZZ(formats, .input_bytes = 4096, .malloc_mb = 16) {
  const std::string_view names[] = {"csv", "jsonl", "npz"};
  const auto format = job::find_format(names[fuzz::take_byte(input) % 3]);
  CHECK(format.has_value());
  job::DataSource source{.format = std::string((*format)->name)};
  auto line = fuzz::take_line(input);
  if (line.starts_with('='))
    source.target = line.substr(1);
  else if (line.starts_with('#'))
    source.text = line.substr(1);
  else
    source.label = line;
  const std::vector<job::DataFile> files{{"a", std::string(input)}};
  if (source.format != "npz" && input.find('c') != std::string_view::npos)
    source.columns = {{"c", train::ColumnKind::category}};
  train::Words words;
  const auto data = (*format)->read(source, files, words);
  if (!data || data->is_text()) return;
  CHECK(data->samples() > 0);
  CHECK(data->x.size() == static_cast<std::size_t>(data->samples()) * data->sample_bytes());
  CHECK(data->y.empty() != data->amounts.empty());
  for (const auto y : data->y) CHECK(y >= 0 && y < data->classes());
  for (const auto amount : data->amounts) CHECK(amount - amount == 0);
  // Test data is read with the words of the training data.
  CHECK((*format)->read(source, files, words).has_value());
}
