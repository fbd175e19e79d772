#include "fuzz/target.h"
#include "train/dataset.h"

// MNIST's files of images and labels; the first byte says where the labels begin. Also CIFAR-10's.
// What is accepted has a label for each sample.

using namespace souk;

SOUK_FUZZ(idx, .input_bytes = 8192, .malloc_mb = 4) {
  if (const auto cifar = train::parse_cifar10(input))
    CHECK(cifar->x.size() == static_cast<std::size_t>(cifar->samples()) * cifar->sample_bytes());
  const std::size_t labels = std::min<std::size_t>(fuzz::take_byte(input), input.size());
  const auto cut = input.size() - labels;
  const auto data = train::parse_idx(input.substr(0, cut), input.substr(cut));
  if (!data) return;
  CHECK(data->samples() > 0 && data->samples() == std::ssize(data->y));
  CHECK(data->x.size() == static_cast<std::size_t>(data->samples()) * data->sample_bytes());
  for (const auto y : data->y) CHECK(y < data->classes());
  std::int64_t samples = 0;
  for (const auto& shard : train::split(*data, 2, 1)) samples += shard.samples();
  CHECK(samples == data->samples());
}
