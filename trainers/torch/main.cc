#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "commands.h"
#include "error.h"
#include "nearest.h"

namespace {

constexpr const char* kHelp = R"(souk-torch: Souk's native trainer (libtorch)

  souk-torch
      Speaks the worker protocol on standard input and output, as agents start it.

  souk-torch bare --config FILE --shard FILE [--test FILE] [--epochs 1] [--batch 64]
                  [--lr LR] [--seed 1] [--out FILE]
      Trains on one shard without the protocol. Prints a JSON line an epoch; --test adds
      what it measures on another shard; --out keeps the parameters.

  souk-torch predict --config FILE --model FILE [--values pixels|floats]
      Reads samples, a JSON array of numbers a line. Prints a label and the classes' probabilities
      for each, or with task: regression an estimated value. Numbers are pixels, 0 to 255, unless the
      input has one dimension.
      For a char-transformer a line is the beginning of a text, and what comes out its
      continuation: [--length 200] [--temperature 0.8] [--seed 1]

Examples:
  echo '{"model":"lenet","input":[1,28,28],"classes":10}' > lenet.json
  souk-torch bare --config lenet.json --shard train.safetensors --test test.safetensors \
      --epochs 5 --batch 64 --lr 0.02 --out lenet.safetensors
  souk-torch predict --config lenet.json --model lenet.safetensors < samples.jsonl
  echo '{"op":"hello","protocol":1,"config":{"model":"lenet"}}' | souk-torch

A config has: model (logistic, mlp, lenet, resnet20, preresnet or char-transformer), input, classes,
lr, momentum, weight_decay, threads, augment, mean, std, task (classification or regression),
target_mean, target_std, and options of the models: hidden; depth;
layers, width, heads, context. trainers/torch/README.md explains them.
)";

int run(const std::vector<std::string>& arguments) {
  using namespace souk::trainer;
  if (arguments.empty()) return run_worker();
  if (arguments == std::vector<std::string>{"--version"}) {
    std::puts("souk-torch " SOUK_TORCH_VERSION);
    return 0;
  }
  for (const char* help : {"help", "--help", "-h"}) {
    if (std::find(arguments.begin(), arguments.end(), help) == arguments.end()) continue;
    std::fputs(kHelp, stdout);
    return 0;
  }
  const std::string& command = arguments[0];
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (command == "bare") return run_bare(rest);
  if (command == "predict") return run_predict(rest);
  throw Error("unknown command '" + command + "'; did you mean " +
              nearest(command, {"bare", "predict", "--help", "--version"}) + "?");
}

}  // namespace

int main(int argc, char** argv) {
  prctl(PR_SET_NAME, "souk-torch");  // Where it brings its loader it would be the loader's name.
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "souk-torch: %s\n", error.what());
    return 1;
  }
}
