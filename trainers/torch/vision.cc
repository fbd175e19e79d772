// The small classifiers: logistic regression, a perceptron with one hidden layer, LeNet-5.

#include <ATen/ops/max_pool2d.h>

#include "error.h"
#include "layers.h"
#include "model.h"

namespace souk::trainer {
namespace {

class Logistic : public Model {
 public:
  Logistic(const Config& config, Parameters& parameters)
      : fc_(parameters, "fc", count(config.input), config.classes) {}

  at::Tensor forward(const at::Tensor& x, bool) const override { return fc_(x.flatten(1)); }

 private:
  Linear fc_;
};

class Mlp : public Model {
 public:
  Mlp(const Config& config, Parameters& parameters)
      : fc1_(parameters, "fc1", count(config.input), config.hidden),
        fc2_(parameters, "fc2", config.hidden, config.classes) {}

  at::Tensor forward(const at::Tensor& x, bool) const override {
    return fc2_(fc1_(x.flatten(1)).relu());
  }

 private:
  Linear fc1_, fc2_;
};

// LeCun et al. 1998 with ReLU and max pooling, as it is used today.
class LeNet : public Model {
 public:
  LeNet(const Config& config, Parameters& parameters)
      : conv1_weight_(parameters.trained("conv1.weight", {6, config.input[0], 5, 5},
                                         Linear::init(config.input[0] * 25))),
        conv1_bias_(parameters.trained("conv1.bias", {6}, Linear::init(config.input[0] * 25))),
        conv2_weight_(parameters.trained("conv2.weight", {16, 6, 5, 5}, Linear::init(150))),
        conv2_bias_(parameters.trained("conv2.bias", {16}, Linear::init(150))),
        fc1_(parameters, "fc1", 16 * pooled(config.input[1]) * pooled(config.input[2]), 120),
        fc2_(parameters, "fc2", 120, 84),
        fc3_(parameters, "fc3", 84, config.classes) {}

  at::Tensor forward(const at::Tensor& x, bool) const override {
    at::Tensor h = at::max_pool2d(at::conv2d(x, conv1_weight_, conv1_bias_, 1, 2), 2).relu();
    h = at::max_pool2d(at::conv2d(h, conv2_weight_, conv2_bias_), 2).relu();
    return fc3_(fc2_(fc1_(h.flatten(1)).relu()).relu());
  }

  // What is left of a side of the picture in front of the linear layers.
  static std::int64_t pooled(std::int64_t side) { return (side / 2 - 4) / 2; }

 private:
  at::Tensor conv1_weight_, conv1_bias_, conv2_weight_, conv2_bias_;
  Linear fc1_, fc2_, fc3_;
};

}  // namespace

std::unique_ptr<Model> make_logistic(const Config& config, Parameters& parameters) {
  return std::make_unique<Logistic>(config, parameters);
}

std::unique_ptr<Model> make_mlp(const Config& config, Parameters& parameters) {
  return std::make_unique<Mlp>(config, parameters);
}

std::unique_ptr<Model> make_lenet(const Config& config, Parameters& parameters) {
  const Shape& input = config.input;
  if (input.size() != 3 || LeNet::pooled(input[1]) < 1 || LeNet::pooled(input[2]) < 1)
    throw Error("input is " + to_string(input) + "; lenet wants pictures [channels, 12 or more, " +
                "12 or more]");
  return std::make_unique<LeNet>(config, parameters);
}

}  // namespace souk::trainer
