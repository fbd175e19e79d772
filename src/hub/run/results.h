#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "blob/folder_writer.h"
#include "train/parameters.h"
#include "wire/api/training.h"

namespace souk::hub {

// What a training leaves behind beside its model, by file name: metrics.csv, metrics.json,
// curve.svg, events.tfevents for TensorBoard, and trainer.json, which `souk predict` needs to run
// the model.
[[nodiscard]] std::map<std::string, std::string> result_files(const wire::Train& spec,
                                                              const wire::Training& training);

// model.safetensors, block by block.
base::Result<> write_model(const train::Layout& layout, const train::Blocks& parameters,
                           blob::FolderWriter& to);

// The training's figure (its target's, else accuracy or loss) by epoch, with the range of the
// checks of each epoch, for light and dark pages.
[[nodiscard]] std::string curve_svg(const wire::Training& training);

}  // namespace souk::hub
