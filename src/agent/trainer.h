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
// are bounded, answers are checked, files are opened without following links. Its errors are never
// `conflict`: that is what a market says of a unit that somebody else was faster with. Files are
// for one thread and the conversation is for one: the next unit is put there while this one is
// computed.
class Trainer {
 public:
  // `socket` is connected to the trainer's stdin and stdout, `folder` is its working folder as the
  // agent sees it. A model of more than `most_floats` is refused before anything is made for it.
  // While an answer is awaited, `give_up()` ends the wait, and `hurry()` tells the
  // trainer to finish its step and answer with what it has.
  Trainer(base::Fd socket, std::string folder, std::size_t most_floats,
          std::function<bool()> give_up, std::function<bool()> hurry);

  base::Result<TrainerAnswer> hello(const std::map<std::string, std::string>& config);
  // `request` is a JSON object with its op.
  base::Result<TrainerAnswer> ask(std::string_view request, base::Duration patience);
  void bye();

  // The tensors that hello() named, as one run of floats, to and from a file of the working folder.
  // A file that was written before is written in place, into the memory that it has: a trainer that
  // maps it needs no copy of its own. It is not mapped here, where a file that the trainer cuts
  // short would end the agent, and one that it changes meanwhile would be read twice.
  base::Result<> write(const std::string& name, std::span<const float> values);
  // A part of it, from the float `at` on, for a model that is not in memory here. Until all parts
  // are written the rest is as it was, or zero.
  base::Result<> write_part(const std::string& name, std::size_t at, std::string_view floats);
  // `values` gets as long as the model; its memory is used again.
  base::Result<> read(const std::string& name, std::vector<float>& values) const;
  // The change that a unit came to; that of state tensors is multiplied by `state_scale`.
  base::Result<> read_update(const std::string& name, double state_scale,
                             std::vector<float>& values) const;
  base::Result<> write_bytes(const std::string& name, std::string_view bytes) const;
  void remove(const std::string& name);
  [[nodiscard]] const std::vector<wire::TensorInfo>& tensors() const { return tensors_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  base::Result<> send(std::string_view line);
  base::Result<std::string> receive(base::Duration patience);
  [[nodiscard]] base::Result<base::Fd> create(const std::string& name) const;
  [[nodiscard]] bool is_ours(const std::string& name) const;
  // The file of this name that we wrote, or a new one.
  base::Result<int> ours(const std::string& name);

  base::Fd socket_;
  const std::string folder_;
  const std::size_t most_floats_;
  const std::function<bool()> give_up_, hurry_;
  std::vector<wire::TensorInfo> tensors_;
  std::size_t size_ = 0;
  std::string head_;  // Of the files.
  std::map<std::string, base::Fd> written_;
  std::string arrived_;
};

}  // namespace souk::agent
