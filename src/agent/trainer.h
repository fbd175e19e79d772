#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/time.h"
#include "wire/api/training.h"

namespace souk::agent {

// What a trainer answers (docs/worker-protocol.md). Fields that an answer lacks keep their default.
struct TrainerAnswer {
  std::string name, framework, device;  // hello
  std::vector<wire::TensorInfo> tensors;
  std::int64_t steps = 0, samples = 0;  // train, evaluate
  double loss = 0, seconds = 0;
  std::map<std::string, double> metrics;
};

// The agent's end of the conversation with a trainer, over one socket. It believes nothing: lines
// are bounded, answers are checked, files are opened without following links. For one thread.
class Trainer {
 public:
  // `socket` is connected to the trainer's stdin and stdout, `folder` is its working folder as the
  // agent sees it. While an answer is awaited, `give_up()` ends the wait, and `hurry()` tells the
  // trainer to finish its step and answer with what it has.
  Trainer(base::Fd socket, std::string folder, std::function<bool()> give_up,
          std::function<bool()> hurry);

  base::Result<TrainerAnswer> hello(const std::map<std::string, std::string>& config);
  // `request` is a JSON object with its op.
  base::Result<TrainerAnswer> ask(std::string_view request, base::Duration patience);
  void bye();

  // The tensors that hello() named, as one run of floats, to and from a file of the working folder.
  base::Result<> write(const std::string& name, std::span<const float> values) const;
  base::Result<std::vector<float>> read(const std::string& name) const;
  // The change that a unit came to; that of state tensors is multiplied by `state_scale`.
  base::Result<std::vector<float>> read_update(const std::string& name, double state_scale) const;
  base::Result<> write_bytes(const std::string& name, std::string_view bytes) const;
  void remove(const std::string& name) const;
  [[nodiscard]] const std::vector<wire::TensorInfo>& tensors() const { return tensors_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  base::Result<> send(std::string_view line);
  base::Result<std::string> receive(base::Duration patience);

  base::Fd socket_;
  const std::string folder_;
  const std::function<bool()> give_up_, hurry_;
  std::vector<wire::TensorInfo> tensors_;
  std::size_t size_ = 0;
  std::string head_;  // Of the files.
  std::string arrived_;
};

}  // namespace souk::agent
