#include "data.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "error.h"
#include "random.h"

namespace souk::trainer {
namespace {

constexpr std::size_t kCachedShards = 4;
constexpr std::int64_t kBorder = 4;

// A row's features are channels of one number each.
std::int64_t channels(const Shape& input) { return input.size() == 2 ? 1 : input[0]; }

// One value a channel: given for each, once for all, or not at all.
std::vector<double> per_channel(const char* name, const std::vector<double>& given,
                                std::int64_t channels, double otherwise) {
  const auto n = static_cast<std::size_t>(channels);
  if (given.size() <= 1) return std::vector<double>(n, given.empty() ? otherwise : given[0]);
  if (given.size() != n)
    throw Error(std::string(name) + " has " + std::to_string(given.size()) + " values; input has " +
                std::to_string(n) + " channels");
  return given;
}

template <class Number>
std::vector<Number> copy(const TensorView& view) {
  std::vector<Number> numbers(view.bytes / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), view.data, view.bytes);
  return numbers;
}

// Where a sample's crop begins relative to the sample, and whether it is mirrored.
struct Crop {
  std::int64_t down = 0, right = 0;
  bool mirrored = false;
};

Crop draw_crop(const Augmentation& augmentation, std::int64_t sample) {
  const std::uint64_t position = augmentation.position + static_cast<std::uint64_t>(sample);
  Random random(Random(augmentation.seed).next() + position);
  Crop crop;
  crop.down = static_cast<std::int64_t>(random.below(2 * kBorder + 1)) - kBorder;
  crop.right = static_cast<std::int64_t>(random.below(2 * kBorder + 1)) - kBorder;
  crop.mirrored = random.below(2) == 1;
  return crop;
}

// One channel of a sample, cropped; what lies outside the picture is 0 before normalisation.
template <class Number>
void copy_cropped(const Number* from, std::int64_t rows, std::int64_t columns, const Crop& crop,
                  float scale, float shift, float* to) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t y = row + crop.down;
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::int64_t x = (crop.mirrored ? columns - 1 - column : column) + crop.right;
      const bool inside = y >= 0 && y < rows && x >= 0 && x < columns;
      *to++ = (inside ? static_cast<float>(from[y * columns + x]) : 0.0F) * scale + shift;
    }
  }
}

template <class Number>
void copy_plane(const Number* from, std::int64_t count, float scale, float shift, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]) * scale + shift;
}

}  // namespace

Normalisation::Normalisation(const Config& config, bool pixels) {
  const double unit = pixels ? 1.0 / 255 : 1.0;
  const std::int64_t n = channels(config.input);
  const auto mean = per_channel("mean", config.mean, n, pixels ? 0.5 : 0);
  const auto deviation = per_channel("std", config.std, n, pixels ? 0.5 : 1);
  for (std::size_t c = 0; c < mean.size(); ++c) {
    scale.push_back(static_cast<float>(unit / deviation[c]));
    shift.push_back(static_cast<float>(-mean[c] / deviation[c]));
  }
}

Shard::Shard(const std::string& path, const Config& config, SampleKind kind) : kind_(kind) {
  if (kind == SampleKind::text)
    load_text(path, config);
  else
    load_values(path, config);
  if (samples_ == 0) throw Error(path + ": too short, there is not one sample in it");
}

void Shard::load_values(const std::string& path, const Config& config) {
  const TensorFile file = TensorFile::read(path);
  const TensorView& x = file.at("x");
  const TensorView& y = file.at("y");
  const char* wanted = config.regression ? "F32" : "I64";
  if (y.dtype != wanted || y.shape.size() != 1)
    throw Error(path + ": y is " + y.dtype + " " + to_string(y.shape) + "; it must be " + wanted +
                " [n]" + (config.regression ? " for task: regression" : ""));
  samples_ = y.shape[0];
  // Bytes rather than shapes: samples may be flattened, or lack a channel dimension of 1.
  const std::size_t element = x.dtype == "U8" ? sizeof(std::uint8_t) : sizeof(float);
  const std::size_t sample_bytes = static_cast<std::size_t>(count(config.input)) * element;
  const bool fits = !x.shape.empty() && x.shape[0] == samples_ &&
                    x.bytes == static_cast<std::size_t>(samples_) * sample_bytes;
  if ((x.dtype != "U8" && x.dtype != "F32") || !fits)
    throw Error(path + ": x is " + x.dtype + " " + to_string(x.shape) + "; it must be U8 or F32, " +
                std::to_string(samples_) + " samples of " + to_string(config.input));

  if (config.regression)
    load_amounts(path, y, config);
  else
    load_labels(path, y, config);
  if (x.dtype == "U8")
    bytes_ = copy<std::uint8_t>(x);
  else
    floats_ = copy<float>(x);

  channels_ = channels(config.input);
  columns_ = config.input.size() == 1 ? 1 : config.input.back();
  rows_ = count(config.input) / channels_ / columns_;
  normalisation_.emplace(config, x.dtype == "U8");
}

void Shard::load_labels(const std::string& path, const TensorView& y, const Config& config) {
  labels_ = copy<std::int64_t>(y);
  for (const std::int64_t label : labels_)
    if (label < 0 || label >= config.classes)
      throw Error(path + ": y has the label " + std::to_string(label) + "; classes are 0 to " +
                  std::to_string(config.classes - 1));
}

void Shard::load_amounts(const std::string& path, const TensorView& y, const Config& config) {
  amounts_ = copy<float>(y);
  for (float& amount : amounts_) {
    amount =
        static_cast<float>((static_cast<double>(amount) - config.target_mean) / config.target_std);
    if (!std::isfinite(amount)) throw Error(path + ": y has an amount that is not finite");
  }
}

void Shard::load_text(const std::string& path, const Config& config) {
  const TensorFile file = TensorFile::read(path);
  const TensorView& x = file.at("x");
  if (x.dtype != "U8" || x.shape.size() != 1)
    throw Error(path + ": x is " + x.dtype + " " + to_string(x.shape) + "; text must be U8 [n]");
  bytes_ = copy<std::uint8_t>(x);
  columns_ = config.context;
  // The last byte of the last window has a label too.
  samples_ = std::max<std::int64_t>(x.shape[0] - 1, 0) / columns_;
}

void Shard::fill(const std::int64_t* indices, std::int64_t count,
                 const std::optional<Augmentation>& augmentation, Batch& batch) const {
  batch.samples = count;
  if (kind_ == SampleKind::text)
    fill_text(indices, count, batch);
  else if (!bytes_.empty())
    fill_values(bytes_, indices, count, augmentation, batch);
  else
    fill_values(floats_, indices, count, augmentation, batch);
}

template <class Number>
void Shard::fill_values(const std::vector<Number>& from, const std::int64_t* indices,
                        std::int64_t count, const std::optional<Augmentation>& augmentation,
                        Batch& batch) const {
  const std::int64_t plane = rows_ * columns_;
  batch.values.resize(static_cast<std::size_t>(count * channels_ * plane));
  batch.labels.resize(amounts_.empty() ? static_cast<std::size_t>(count) : 0);
  batch.amounts.resize(amounts_.empty() ? 0 : static_cast<std::size_t>(count));
  float* to = batch.values.data();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto sample = static_cast<std::size_t>(indices[i]), at = static_cast<std::size_t>(i);
    if (amounts_.empty())
      batch.labels[at] = labels_[sample];
    else
      batch.amounts[at] = amounts_[sample];
    const Crop crop = augmentation ? draw_crop(*augmentation, i) : Crop();
    const Number* values = from.data() + indices[i] * channels_ * plane;
    for (std::int64_t c = 0; c < channels_; ++c, values += plane, to += plane) {
      const float scale = normalisation_->scale[static_cast<std::size_t>(c)];
      const float shift = normalisation_->shift[static_cast<std::size_t>(c)];
      if (augmentation)
        copy_cropped(values, rows_, columns_, crop, scale, shift, to);
      else
        copy_plane(values, plane, scale, shift, to);
    }
  }
}

void Shard::fill_text(const std::int64_t* indices, std::int64_t count, Batch& batch) const {
  batch.tokens.clear();
  batch.labels.clear();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto window = bytes_.begin() + indices[i] * columns_;
    batch.tokens.insert(batch.tokens.end(), window, window + columns_);
    batch.labels.insert(batch.labels.end(), window + 1, window + 1 + columns_);
  }
}

bool ShardCache::Identity::operator==(const Identity& other) const {
  return inode == other.inode && bytes == other.bytes && changed_s == other.changed_s &&
         changed_ns == other.changed_ns;
}

ShardCache::Identity ShardCache::identify(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) throw Error(path + ": " + std::strerror(errno));
  return {status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

std::shared_ptr<const Shard> ShardCache::get(const std::string& path, const Config& config,
                                             SampleKind kind) {
  const Identity identity = identify(path);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.path == path; });
  if (found != entries_.end() && found->identity == identity) {
    entries_.splice(entries_.begin(), entries_, found);
    return entries_.front().shard;
  }
  if (found != entries_.end()) entries_.erase(found);
  while (entries_.size() >= kCachedShards) entries_.pop_back();
  entries_.push_front({path, identity, std::make_shared<Shard>(path, config, kind)});
  return entries_.front().shard;
}

}  // namespace souk::trainer
