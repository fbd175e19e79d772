// Residual networks for small pictures: three stages of 16, 32 and 64 channels, two convolutions a
// block. resnet20 is that of He et al. 2015; preresnet has the normalisation in front of the
// convolutions (He et al. 2016), with as many layers as wanted. Shortcuts have no parameters
// ("option A"): where a stage begins, every other pixel and zeros for the new channels.

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>

#include "error.h"
#include "layers.h"
#include "model.h"

namespace souk::trainer {
namespace {

enum class Order { convolution_first, normalisation_first };

constexpr std::int64_t kStageChannels[] = {16, 32, 64};

class Block {
 public:
  Block(Parameters& parameters, const std::string& name, Order order, std::int64_t in,
        std::int64_t out)
      : order_(order),
        added_channels_(out - in),
        conv1_(parameters, name + ".conv1", in, out, 3, in == out ? 1 : 2),
        bn1_(parameters, name + ".bn1", order == Order::convolution_first ? out : in),
        conv2_(parameters, name + ".conv2", out, out, 3, 1),
        bn2_(parameters, name + ".bn2", out) {}

  at::Tensor forward(const at::Tensor& x, bool training) const {
    if (order_ == Order::normalisation_first) {
      const at::Tensor h = conv1_(bn1_(x, training).relu_());
      return conv2_(bn2_(h, training).relu_()) + shortcut(x);
    }
    const at::Tensor h = bn1_(conv1_(x), training).relu_();
    return (bn2_(conv2_(h), training) + shortcut(x)).relu_();
  }

 private:
  at::Tensor shortcut(const at::Tensor& x) const {
    if (added_channels_ == 0) return x;
    const at::Tensor half =
        x.slice(2, c10::nullopt, c10::nullopt, 2).slice(3, c10::nullopt, c10::nullopt, 2);
    return at::constant_pad_nd(half, {0, 0, 0, 0, 0, added_channels_});
  }

  Order order_;
  std::int64_t added_channels_;
  Convolution conv1_;
  BatchNorm bn1_;
  Convolution conv2_;
  BatchNorm bn2_;
};

class ResNet : public Model {
 public:
  ResNet(const Config& config, Parameters& parameters, Order order, std::int64_t depth)
      : order_(order),
        conv_(parameters, "conv", config.input[0], kStageChannels[0], 3, 1),
        bn_(parameters, "bn", kStageChannels[order == Order::convolution_first ? 0 : 2]),
        fc_(parameters, "fc", kStageChannels[2], config.classes) {
    std::int64_t in = kStageChannels[0];
    for (int stage = 0; stage < 3; ++stage) {
      for (std::int64_t i = 0; i < (depth - 2) / 6; ++i) {
        const std::string name = "stage" + std::to_string(stage + 1) + "." + std::to_string(i);
        blocks_.emplace_back(parameters, name, order, in, kStageChannels[stage]);
        in = kStageChannels[stage];
      }
    }
  }

  at::Tensor forward(const at::Tensor& x, bool training) const override {
    at::Tensor h = conv_(x);
    if (order_ == Order::convolution_first) h = bn_(h, training).relu_();
    for (const Block& block : blocks_) h = block.forward(h, training);
    if (order_ == Order::normalisation_first) h = bn_(h, training).relu_();
    return fc_(h.mean(at::IntArrayRef{2, 3}));
  }

 private:
  Order order_;
  Convolution conv_;
  BatchNorm bn_;  // In front of the blocks or, with the normalisation first, after them.
  Linear fc_;
  std::vector<Block> blocks_;
};

std::unique_ptr<Model> make(const Config& config, Parameters& parameters, Order order,
                            std::int64_t depth) {
  if (config.input.size() != 3)
    throw Error("input is " + to_string(config.input) + "; " + config.model +
                " wants pictures [channels, rows, columns]");
  if ((depth - 2) % 6 != 0)
    throw Error("depth is " + std::to_string(depth) + "; it must be 6 n + 2, such as 20, 32 or 56");
  return std::make_unique<ResNet>(config, parameters, order, depth);
}

}  // namespace

std::unique_ptr<Model> make_resnet20(const Config& config, Parameters& parameters) {
  return make(config, parameters, Order::convolution_first, 20);
}

std::unique_ptr<Model> make_preresnet(const Config& config, Parameters& parameters) {
  return make(config, parameters, Order::normalisation_first, config.depth);
}

}  // namespace souk::trainer
