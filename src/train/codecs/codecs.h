#pragma once

#include <memory>
#include <string_view>

#include "train/codecs/codec.h"

// The makers of the codecs, one in each codec_*.cc; what each does is said there.

namespace souk::train {

// `argument`: what follows the colon of a spec, empty without one.
using MakeCodec = base::Result<std::unique_ptr<Codec>>(std::string_view argument);

MakeCodec make_fp32, make_fp16, make_int8, make_top_k;

// Refuses an argument, for codecs that take none.
[[nodiscard]] base::Result<> no_argument(std::string_view codec, std::string_view argument);
// "12 bytes are not a block of 5 values".
[[nodiscard]] base::Failure not_a_block(std::string_view bytes, std::size_t size);

}  // namespace souk::train
