#include "parameters.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/zeros.h>

#include <cstring>

#include "error.h"

namespace souk::trainer {

at::Tensor Parameters::trained(const std::string& name, const Shape& shape, Init init) {
  entries_.push_back({name, shape, init, at::empty({0}).requires_grad_()});
  return entries_.back().tensor;
}

at::Tensor Parameters::state(const std::string& name, const Shape& shape, double value) {
  states_.push_back({name, shape, {Init::Kind::constant, value}, at::empty({0})});
  return states_.back().tensor;
}

void Parameters::allocate() {
  std::int64_t total = 0;
  for (const Entry& entry : entries_) total += count(entry.shape);
  const std::int64_t trained_count = total;
  for (const Entry& entry : states_) total += count(entry.shape);
  trained_count_ = entries_.size();
  entries_.insert(entries_.end(), states_.begin(), states_.end());
  states_.clear();

  all_ = at::zeros({total});
  trained_ = all_.narrow(0, 0, trained_count);
  gradient_ = at::zeros({trained_count});
  std::int64_t offset = 0;
  for (Entry& entry : entries_) {
    const std::int64_t size = count(entry.shape);
    entry.tensor.set_data(all_.narrow(0, offset, size).view(entry.shape));
    if (entry.tensor.requires_grad())
      entry.tensor.mutable_grad() = gradient_.narrow(0, offset, size).view(entry.shape);
    shapes_.push_back({entry.name, entry.shape});
    offset += size;
  }
  header_ = f32_header(shapes_);
}

void Parameters::initialise(std::uint64_t seed) {
  const at::NoGradGuard no_gradient;
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  for (Entry& entry : entries_) {
    switch (entry.init.kind) {
      case Init::Kind::constant:
        entry.tensor.fill_(entry.init.value);
        break;
      case Init::Kind::uniform:
        entry.tensor.uniform_(-entry.init.value, entry.init.value, generator);
        break;
      case Init::Kind::normal:
        entry.tensor.normal_(0, entry.init.value, generator);
        break;
    }
  }
}

void Parameters::load(const std::string& path) {
  const TensorFile file = TensorFile::map(path);
  for (const auto& [name, shape] : shapes_) {
    const TensorView& view = file.at(name);
    if (view.dtype != "F32" || view.shape != shape)
      throw Error(path + ": " + name + " is " + view.dtype + " " + to_string(view.shape) +
                  "; the model has F32 " + to_string(shape));
  }
  if (file.tensors().size() != shapes_.size())
    throw Error(path + ": it holds " + std::to_string(file.tensors().size()) +
                " tensors; the model has " + std::to_string(shapes_.size()));
  float* to = all_.data_ptr<float>();
  for (const auto& [name, shape] : shapes_) {
    const TensorView& view = file.at(name);
    std::memcpy(to, view.data, view.bytes);
    to += count(shape);
  }
}

void Parameters::save(const std::string& path) const {
  const auto values = static_cast<std::size_t>(all_.numel());
  write_f32(path, header_, values,
            [&](float* to) { std::memcpy(to, all_.data_ptr<float>(), values * sizeof(float)); });
}

void Parameters::save_change(const std::string& path, const at::Tensor& base) const {
  const at::NoGradGuard no_gradient;
  write_f32(path, header_, static_cast<std::size_t>(all_.numel()), [&](float* to) {
    auto change = at::from_blob(to, {all_.numel()});
    at::sub_out(change, all_, base);
  });
}

}  // namespace souk::trainer
