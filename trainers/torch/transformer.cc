// A small causal transformer over bytes, normalisation first (as GPT-2).

#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/matmul.h>

#include <limits>

#include "error.h"
#include "layers.h"
#include "model.h"

namespace souk::trainer {
namespace {

constexpr std::int64_t kBytes = 256;
constexpr double kEmbeddingDeviation = 0.02;

class Attention {
 public:
  Attention(Parameters& parameters, const std::string& name, std::int64_t width, std::int64_t heads)
      : heads_(heads),
        in_(parameters, name + ".in", width, 3 * width),
        out_(parameters, name + ".out", width, width) {}

  // `mask` (length x length) is added to the scores: 0 for the past, minus infinity beyond.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& mask) const {
    const std::int64_t samples = x.size(0), length = x.size(1), width = x.size(2);
    const at::Tensor all = in_(x).view({samples, length, 3, heads_, width / heads_});
    const at::Tensor query = all.select(2, 0).transpose(1, 2);
    const at::Tensor key = all.select(2, 1).transpose(1, 2);
    const at::Tensor value = all.select(2, 2).transpose(1, 2);
    const double scale = 1 / std::sqrt(static_cast<double>(width / heads_));
    const at::Tensor scores = at::matmul(query * scale, key.transpose(2, 3)) + mask;
    const at::Tensor mixed = at::matmul(scores.softmax(-1), value);
    return out_(mixed.transpose(1, 2).reshape({samples, length, width}));
  }

 private:
  std::int64_t heads_;
  Linear in_, out_;
};

class Layer {
 public:
  Layer(Parameters& parameters, const std::string& name, std::int64_t width, std::int64_t heads)
      : norm1_(parameters, name + ".norm1", width),
        attention_(parameters, name + ".attention", width, heads),
        norm2_(parameters, name + ".norm2", width),
        fc1_(parameters, name + ".fc1", width, 4 * width),
        fc2_(parameters, name + ".fc2", 4 * width, width) {}

  at::Tensor forward(const at::Tensor& x, const at::Tensor& mask) const {
    const at::Tensor h = x + attention_.forward(norm1_(x), mask);
    return h + fc2_(at::gelu(fc1_(norm2_(h))));
  }

 private:
  LayerNorm norm1_;
  Attention attention_;
  LayerNorm norm2_;
  Linear fc1_, fc2_;
};

class CharTransformer : public Model {
 public:
  CharTransformer(const Config& config, Parameters& parameters)
      : bytes_(parameters.trained("bytes.weight", {kBytes, config.width},
                                  {Init::Kind::normal, kEmbeddingDeviation})),
        positions_(parameters.trained("positions.weight", {config.context, config.width},
                                      {Init::Kind::normal, kEmbeddingDeviation})),
        norm_(parameters, "norm", config.width),
        head_(parameters, "head", config.width, kBytes),
        mask_(at::full({config.context, config.context}, -std::numeric_limits<double>::infinity())
                  .triu(1)) {
    for (std::int64_t i = 0; i < config.layers; ++i)
      layers_.emplace_back(parameters, "layers." + std::to_string(i), config.width, config.heads);
  }

  at::Tensor forward(const at::Tensor& x, bool) const override {
    const std::int64_t length = x.size(1);
    const at::Tensor mask = mask_.narrow(0, 0, length).narrow(1, 0, length);
    at::Tensor h = at::embedding(bytes_, x) + positions_.narrow(0, 0, length);
    for (const Layer& layer : layers_) h = layer.forward(h, mask);
    return head_(norm_(h)).view({-1, kBytes});
  }

 private:
  at::Tensor bytes_, positions_;
  LayerNorm norm_;
  Linear head_;
  at::Tensor mask_;
  std::vector<Layer> layers_;
};

}  // namespace

std::unique_ptr<Model> make_char_transformer(const Config& config, Parameters& parameters) {
  if (config.width % config.heads != 0)
    throw Error("width is " + std::to_string(config.width) + "; it must be a multiple of heads, " +
                std::to_string(config.heads));
  return std::make_unique<CharTransformer>(config, parameters);
}

}  // namespace souk::trainer
