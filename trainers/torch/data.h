#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config.h"

namespace souk::trainer {

enum class SampleKind { values, text };

// How the numbers of a sample become the model's input: x * scale + shift, per channel. U8 data is
// scaled to 0..1 and then has `mean` taken away and is divided by `std` (0.5 and 0.5 unless the
// config says otherwise, which gives -1..1). F32 data is left alone unless the config has them.
struct Normalisation {
  Normalisation(const Config& config, bool pixels);
  std::vector<float> scale, shift;  // One entry a channel.
};

// Input of one step. The buffers are kept from step to step.
struct Batch {
  std::int64_t samples = 0;
  std::vector<float> values;         // samples x input, for SampleKind::values
  std::vector<std::int64_t> tokens;  // samples x context, for SampleKind::text
  std::vector<std::int64_t> labels;  // one a sample, or one a token; none for amounts
  std::vector<float> amounts;        // one a sample, for regression, scaled as the config says
};

// Random crops out of a border of 4 and mirroring, after He et al. What a sample gets depends on
// the seed and its position in the epoch alone, so that a unit is a function of its request.
struct Augmentation {
  std::uint64_t seed = 0;
  std::uint64_t position = 0;  // Of the batch's first sample.
};

// The samples of one file. Immutable. A text is cut into windows of `context` bytes that do not
// overlap; the label of each byte is the one after it.
class Shard {
 public:
  // `config.input` must be filled in. Throws Error when the file does not hold such samples.
  Shard(const std::string& path, const Config& config, SampleKind kind);

  std::int64_t samples() const { return samples_; }

  // Gathers samples `indices[0]` ... `indices[count - 1]`.
  void fill(const std::int64_t* indices, std::int64_t count,
            const std::optional<Augmentation>& augmentation, Batch& batch) const;

 private:
  void load_values(const std::string& path, const Config& config);
  void load_labels(const std::string& path, const TensorView& y, const Config& config);
  void load_amounts(const std::string& path, const TensorView& y, const Config& config);
  void load_text(const std::string& path, const Config& config);
  template <class Number>
  void fill_values(const std::vector<Number>& from, const std::int64_t* indices, std::int64_t count,
                   const std::optional<Augmentation>& augmentation, Batch& batch) const;
  void fill_text(const std::int64_t* indices, std::int64_t count, Batch& batch) const;

  SampleKind kind_;
  std::int64_t samples_ = 0;
  std::vector<std::uint8_t> bytes_;  // U8 samples or text
  std::vector<float> floats_;        // F32 samples
  std::vector<std::int64_t> labels_;
  std::vector<float> amounts_;                          // Scaled.
  std::int64_t channels_ = 1, rows_ = 1, columns_ = 1;  // Of a sample; or columns_ = context.
  std::optional<Normalisation> normalisation_;
};

// The shards used last, because units of one shard tend to follow each other. A file that was
// replaced is read anew.
class ShardCache {
 public:
  std::shared_ptr<const Shard> get(const std::string& path, const Config& config, SampleKind kind);

 private:
  struct Identity {
    std::uint64_t inode;
    std::int64_t bytes, changed_s, changed_ns;
    bool operator==(const Identity& other) const;
  };
  struct Entry {
    std::string path;
    Identity identity;
    std::shared_ptr<const Shard> shard;
  };
  static Identity identify(const std::string& path);

  std::list<Entry> entries_;  // Most recently used first.
};

}  // namespace souk::trainer
