#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Data sets as people have them, to samples with labels, and these to shards. Pure: bytes in.

namespace souk::train {

struct Dataset {
  std::string dtype = "U8";         // Of x: U8 or F32.
  std::vector<std::int64_t> shape;  // Of one sample.
  std::string x;                    // Samples, one after the other, little endian.
  std::vector<std::int64_t> y;      // A label each,
  std::vector<float> amounts = {};  // or an amount. Neither: text, whose labels are its next bytes.
  std::vector<std::string> names;   // Of the labels, where the data names them.

  [[nodiscard]] bool is_text() const { return y.empty() && amounts.empty(); }
  [[nodiscard]] std::int64_t samples() const;
  [[nodiscard]] std::int64_t classes() const;  // The greatest label and one; 0: amounts.
  [[nodiscard]] std::size_t sample_bytes() const;
  // These samples, in this order.
  [[nodiscard]] Dataset pick(const std::vector<std::int64_t>& which) const;
};

// MNIST's format: a file of images and one of labels.
[[nodiscard]] base::Result<Dataset> parse_idx(std::string_view images, std::string_view labels);
// CIFAR-10's binary format: a label byte, then 3072 bytes of red, green and blue planes.
[[nodiscard]] base::Result<Dataset> parse_cifar10(std::string_view bytes);
// A table of numbers (table.h). `label` is a column's name or number from 0, or empty for the last.
// Labels may be words: they are numbered in order, or as `names` (those of the training data) says
// if it is not empty.
[[nodiscard]] base::Result<Dataset> parse_csv(std::string_view text, std::string_view label,
                                              std::vector<std::string> names = {});
// Bytes of text, of which models learn to tell the next.
[[nodiscard]] Dataset parse_text(std::string text);

// Mean and deviation of each feature (F32 samples): what a model's input is scaled by.
struct Scaling {
  std::vector<double> mean, deviation;
};
[[nodiscard]] Scaling scaling_of(const Dataset& data);
// Of the amounts, of which there must be some.
struct AmountScaling {
  double mean = 0, deviation = 1;
};
[[nodiscard]] AmountScaling amount_scaling_of(const Dataset& data);

// `count` shards of about equal size, their samples drawn without replacement by `seed`; text is
// cut in order.
[[nodiscard]] std::vector<Dataset> split(const Dataset& data, std::int32_t count,
                                         std::uint64_t seed);

}  // namespace souk::train
