#pragma once

#include <memory>
#include <string_view>

#include "train/codecs/codec.h"

// The makers of the codecs, one beside each of them; what each does is said there. Their arguments
// were checked against the rows of table.cc.

namespace souk::train {

MakeCodec make_fp32, make_fp16, make_int8, make_top_k, make_sparse2;

// "12 bytes are not a block of 5 values".
[[nodiscard]] base::Failure not_a_block(std::string_view bytes, std::size_t size);

}  // namespace souk::train
