#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "job/train/formats/format.h"

// A folder for each class, with pictures in Netpbm's simple formats: PGM (grey) and PPM (colours),
// binary, of one size. Other pictures are converted before (sdk/python: python3 -m souk.images).

namespace souk::job {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kMostPictures = 1'000'000;
constexpr std::int64_t kMostSide = 65'536;

struct Picture {
  std::vector<std::int64_t> shape;  // Channels, rows, columns.
  std::string planes;
};

base::Failure bad_picture(std::string message, std::string hint) {
  return fail(Code::invalid, std::move(message), std::move(hint), "data");
}

// A number of the head, behind blanks and comments; -1: there is none.
std::int64_t head_number(std::string_view bytes, std::size_t& at) {
  for (;;) {
    at = std::min(bytes.find_first_not_of(" \t\r\n", at), bytes.size());
    if (at >= bytes.size() || bytes[at] != '#') break;
    at = std::min(bytes.find('\n', at), bytes.size());
  }
  std::int64_t out = -1;
  const auto [end, error] = std::from_chars(bytes.data() + at, bytes.data() + bytes.size(), out);
  if (error != std::errc{}) return -1;
  at = static_cast<std::size_t>(end - bytes.data());
  return out;
}

Result<Picture> parse_picture(std::string_view bytes) {
  const std::int64_t channels = bytes.starts_with("P5") ? 1 : bytes.starts_with("P6") ? 3 : 0;
  if (channels == 0)
    return bad_picture(
        "it is not a binary PGM or PPM picture",
        "convert it, or make one file of all with: python3 -m souk.images FOLDER OUT.npz");
  std::size_t at = 2;
  const auto columns = head_number(bytes, at), rows = head_number(bytes, at);
  const auto most = head_number(bytes, at);
  if (columns < 1 || rows < 1 || columns > kMostSide || rows > kMostSide || most != 255)
    return bad_picture("its head does not say its size, or its pixels are not bytes",
                       "use pictures of 8 bits a colour (maximum 255)");
  ++at;  // One blank.
  const auto plane = static_cast<std::size_t>(rows * columns);
  if (at > bytes.size() || bytes.size() - at != plane * static_cast<std::size_t>(channels))
    return bad_picture(fmt::format("it claims {} by {} pixels, and has {} bytes", columns, rows,
                                   bytes.size() - std::min(at, bytes.size())),
                       "write it again");
  Picture out{.shape = {channels, rows, columns}};
  out.planes.resize(plane * static_cast<std::size_t>(channels));
  for (std::size_t i = 0; i < out.planes.size(); ++i)  // Colours after each other, not pixels.
    out.planes[i % static_cast<std::size_t>(channels) * plane +
               i / static_cast<std::size_t>(channels)] = bytes[at + i];
  return out;
}

// What is in a folder, by name, but for hidden files. Links are not followed: they may lead
// anywhere.
Result<std::vector<fs::path>> list(const fs::path& folder, bool folders) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with('.')) continue;
    std::error_code unknown;
    const auto status = it->symlink_status(unknown);
    if (folders ? !fs::is_directory(status) : !fs::is_regular_file(status)) continue;
    if (out.size() >= kMostPictures)
      return bad_picture(fmt::format("{} has more than {} files", folder.string(), kMostPictures),
                         "give a smaller folder");
    out.push_back(it->path());
  }
  if (error)
    return bad_picture(fmt::format("cannot read {}: {}", folder.string(), error.message()),
                       "give a folder that has a folder for each class");
  std::ranges::sort(out);
  return out;
}

Result<> add_picture(const fs::path& path, std::int64_t label, train::Dataset& out) {
  SOUK_ASSIGN(const auto bytes, base::read_file(path.string(), "check its rights"));
  auto picture = parse_picture(bytes);
  if (!picture) return std::unexpected(in_file(std::move(picture).error(), path.string()));
  if (!out.y.empty() && picture->shape != out.shape)
    return bad_picture(
        fmt::format("{}: it has the shape {}, and the pictures before it {}", path.string(),
                    fmt::join(picture->shape, "x"), fmt::join(out.shape, "x")),
        "give all pictures one size, and the same colours");
  if (out.x.size() + picture->planes.size() > train::kMostTableBytes)
    return fail(
        Code::too_large,
        fmt::format("the pictures have more than {}", base::bytes_text(train::kMostTableBytes)),
        "make them smaller, or fewer", "data");
  out.shape = picture->shape;
  out.x += picture->planes;
  out.y.push_back(label);
  return {};
}

}  // namespace

Result<train::Dataset> read_image_folders(const DataSource&, const std::vector<DataFile>& files,
                                          train::Words& words) {
  train::Dataset out;
  for (const auto& folder : files) {
    SOUK_ASSIGN(const auto classes, list(folder.path, true));
    std::vector<std::string> names;
    for (const auto& path : classes) names.push_back(path.filename().string());
    if (names.empty())
      return bad_picture(fmt::format("{} has no folders", folder.path),
                         "give each class a folder of it");
    if (words.labels.empty()) words.labels = names;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      const auto known = std::ranges::find(words.labels, names[c]);
      if (known == words.labels.end())
        return bad_picture(fmt::format("{}: the class '{}' does not occur in the training data",
                                       classes[c].string(), names[c].substr(0, 40)),
                           "use the same folders in training and test data");
      SOUK_ASSIGN(const auto pictures, list(classes[c], false));
      for (const auto& path : pictures)
        SOUK_TRY(add_picture(path, known - words.labels.begin(), out));
    }
  }
  out.names = words.labels;
  return out;
}

}  // namespace souk::job
