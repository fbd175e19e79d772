#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <deque>

#include "base/text.h"
#include "job/train/formats/format.h"
#include "wire/json.h"

// csv and jsonl: tables, of which the second may hold texts instead.

namespace souk::job {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kMostKeys = 10'000;

// A cell of JSON as one of a table: text as it is, numbers and truth values as numbers.
Result<std::string> cell_of(const boost::json::value& value) {
  if (const auto* text = value.if_string()) return std::string(*text);
  if (const auto* truth = value.if_bool()) return std::string(*truth ? "1" : "0");
  if (value.is_number()) return boost::json::serialize(value);
  return fail(Code::invalid, "is neither a number nor a text",
              "write a number, a text or true/false");
}

Result<boost::json::object> object_in(std::string_view text, std::size_t line) {
  auto read = wire::parse(text);
  if (!read)
    return fail(Code::invalid, fmt::format("line {}: {}", line, read.error().message),
                "write one JSON object a line");
  if (!read->is_object())
    return fail(Code::invalid, fmt::format("line {} is not an object", line),
                R"(write one JSON object a line: {"rooms": 3, "price": 250000})");
  return std::move(read->as_object());
}

// Calls use(object, line) for each line that is not empty.
template <class Use>
Result<> each_object(std::string_view text, Use use) {
  std::size_t line = 0;
  while (!text.empty()) {
    ++line;
    const auto end = std::min(text.find('\n'), text.size());
    const auto row = base::trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.empty()) continue;
    SOUK_ASSIGN(const auto object, object_in(row, line));
    SOUK_TRY(use(object, line));
  }
  return {};
}

// The first object names the columns; every other has the same.
Result<train::Table> read_jsonl(std::string_view text) {
  train::Table out;
  SOUK_TRY(each_object(text, [&](const boost::json::object& object, std::size_t line) -> Result<> {
    if (out.header.empty())
      for (const auto& item : object) out.header.emplace_back(item.key());
    if (out.header.size() > kMostKeys)
      return fail(Code::invalid, fmt::format("line {} has {} fields", line, out.header.size()),
                  fmt::format("{} at most", kMostKeys));
    std::vector<std::string_view> cells;
    for (const auto& name : out.header) {
      const auto* value = object.if_contains(name);
      if (value == nullptr)
        return fail(Code::invalid,
                    fmt::format("line {} has no field '{}'", line, wire::printable_key(name)),
                    "give every line the fields of the first");
      auto cell = cell_of(*value);
      if (!cell)
        return fail(Code::invalid,
                    fmt::format("line {}, field '{}' {}", line, wire::printable_key(name),
                                cell.error().message),
                    cell.error().hint);
      cells.push_back(out.owned.emplace_back(*std::move(cell)));
    }
    if (object.size() != out.header.size())
      return fail(
          Code::invalid,
          fmt::format("line {} has {} fields, not {}", line, object.size(), out.header.size()),
          "give every line the fields of the first");
    out.rows.push_back(std::move(cells));
    out.lines.push_back(line);
    return {};
  }));
  if (out.rows.empty()) return fail(Code::invalid, "the file has no rows");
  if (out.header.size() < 2)
    return fail(Code::invalid, "an object needs a feature and a label",
                "for a field of text use text: FIELD");
  return out;
}

Result<std::string> texts_of(std::string_view text, const std::string& field) {
  std::string out;
  SOUK_TRY(each_object(text, [&](const boost::json::object& object, std::size_t line) -> Result<> {
    const auto* value = object.if_contains(field);
    const auto* found = value == nullptr ? nullptr : value->if_string();
    if (found == nullptr)
      return fail(
          Code::invalid,
          fmt::format("line {} has no text in the field '{}'", line, wire::printable_key(field)),
          "name a field that every line has with text:");
    out.append(found->data(), found->size());
    out += '\n';
    return {};
  }));
  return out;
}

using ReadTable = Result<train::Table> (*)(std::string_view);

// All files as one table, so that words are numbered over all of them. Its cells stand in `each`.
Result<train::Table> joined(const std::deque<train::Table>& each,
                            const std::vector<DataFile>& files) {
  train::Table out{.header = each.front().header};
  for (std::size_t i = 0; i < each.size(); ++i) {
    const auto& table = each[i];
    if (table.rows.front().size() != each.front().rows.front().size() ||
        (!table.header.empty() && table.header != out.header))
      return std::unexpected(in_file({Code::invalid, "it has other columns than " + files[0].path,
                                      "use the same columns in all files"},
                                     files[i].path));
    if (each.size() > 1) out.files.emplace_back(out.rows.size(), files[i].path);
    out.rows.insert(out.rows.end(), table.rows.begin(), table.rows.end());
    out.lines.insert(out.lines.end(), table.lines.begin(), table.lines.end());
  }
  return out;
}

Result<train::Dataset> read_tables(const DataSource& source, const std::vector<DataFile>& files,
                                   train::Words& words, ReadTable read) {
  std::deque<train::Table> each;
  for (const auto& file : files) {
    auto table = read(file.bytes);
    if (!table) return std::unexpected(in_file(std::move(table).error(), file.path));
    each.push_back(*std::move(table));
  }
  SOUK_ASSIGN(const auto all, joined(each, files));
  auto out = train::dataset_of(
      all, {.label = source.label, .target = source.target, .kinds = source.columns}, words);
  if (!out && files.size() == 1)
    return std::unexpected(in_file(std::move(out).error(), files[0].path));
  return out;
}

}  // namespace

Result<train::Dataset> read_csv_files(const DataSource& source, const std::vector<DataFile>& files,
                                      train::Words& words) {
  return read_tables(source, files, words, train::read_csv);
}

Result<train::Dataset> read_jsonl_files(const DataSource& source,
                                        const std::vector<DataFile>& files, train::Words& words) {
  if (source.text.empty()) return read_tables(source, files, words, read_jsonl);
  std::string all;
  for (const auto& file : files) {
    auto text = texts_of(file.bytes, source.text);
    if (!text) return std::unexpected(in_file(std::move(text).error(), file.path));
    all += *text;
  }
  return train::parse_text(std::move(all));
}

}  // namespace souk::job
