#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config.h"
#include "data.h"

namespace at {
class Tensor;
}

namespace souk::trainer {

class Parameters;

class Model {
 public:
  virtual ~Model() = default;
  // Scores of the classes, a row a label of the batch. `x` is samples x input floats, or samples
  // x tokens. When training, layers that keep running statistics update them.
  virtual at::Tensor forward(const at::Tensor& x, bool training) const = 0;
};

// One line of the table in models.cc.
struct ModelKind {
  const char* name;
  SampleKind samples;
  Shape input;  // When the config names none.
  std::unique_ptr<Model> (*make)(const Config& config, Parameters& parameters);
};

const std::vector<ModelKind>& model_kinds();

// Throws Error when there is no such model.
const ModelKind& find_model(const std::string& name);

// What the table is made of. Each declares its tensors in `parameters`, and throws Error when the
// config's numbers make no such model.
std::unique_ptr<Model> make_logistic(const Config& config, Parameters& parameters);
std::unique_ptr<Model> make_mlp(const Config& config, Parameters& parameters);
std::unique_ptr<Model> make_lenet(const Config& config, Parameters& parameters);
std::unique_ptr<Model> make_resnet20(const Config& config, Parameters& parameters);
std::unique_ptr<Model> make_preresnet(const Config& config, Parameters& parameters);
std::unique_ptr<Model> make_char_transformer(const Config& config, Parameters& parameters);

}  // namespace souk::trainer
