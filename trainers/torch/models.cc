#include "error.h"
#include "model.h"
#include "nearest.h"

namespace souk::trainer {

const std::vector<ModelKind>& model_kinds() {
  static const std::vector<ModelKind> kinds = {
      {"logistic", SampleKind::values, {1, 28, 28}, make_logistic},
      {"mlp", SampleKind::values, {1, 28, 28}, make_mlp},
      {"lenet", SampleKind::values, {1, 28, 28}, make_lenet},
      {"resnet20", SampleKind::values, {3, 32, 32}, make_resnet20},
      {"preresnet", SampleKind::values, {3, 32, 32}, make_preresnet},
      {"char-transformer", SampleKind::text, {}, make_char_transformer},
  };
  return kinds;
}

const ModelKind& find_model(const std::string& name) {
  std::vector<std::string> names;
  for (const ModelKind& kind : model_kinds()) {
    if (kind.name == name) return kind;
    names.emplace_back(kind.name);
  }
  std::string list;
  for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
  throw Error("there is no model '" + name + "'; did you mean " + nearest(name, names) +
              "? The models are " + list);
}

}  // namespace souk::trainer
