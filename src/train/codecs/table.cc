#include <fmt/format.h>

#include <array>

#include "train/codecs/makers.h"

namespace souk::train {
namespace {

// The one list of codecs. To add one: a file, its test, its maker in makers.h, its row here.
constexpr std::array kCodecs{
    CodecInfo{.name = "fp32", .what = "Every number as it is: 4 bytes each.", .make = make_fp32},
    CodecInfo{.name = "fp16", .what = "Half precision: 2 bytes each.", .make = make_fp16},
    CodecInfo{.name = "int8",
              .what = "One byte each, and a scale for every 1024 numbers.",
              .make = make_int8},
    CodecInfo{.name = "top-k",
              .what = "Only the largest changes; the rest waits for the next update.",
              .parameters = {{.name = "share",
                              .high = 1,
                              .above_low = true,
                              .default_value = "0.01",
                              .meaning = "The part of the changes that is sent."}},
              .make = make_top_k},
    CodecInfo{
        .name = "sparse2",
        .what = "Only the largest changes, in 2 bits each; the rest waits for the next update.",
        .parameters = {{.name = "share",
                        .high = 1,
                        .above_low = true,
                        .default_value = "0.015625",
                        .meaning = "The part of the changes that is sent."}},
        .make = make_sparse2},
};

}  // namespace

std::span<const CodecInfo> codecs() { return kCodecs; }

std::vector<std::string_view> codec_names() {
  std::vector<std::string_view> names;
  for (const auto& info : kCodecs) names.push_back(info.name);
  return names;
}

base::Result<std::unique_ptr<Codec>> make_codec(std::string_view spec) {
  SOUK_ASSIGN(const auto* info,
              base::find_named(codecs(), spec.substr(0, spec.find(':')), "codec", "codec"));
  SOUK_ASSIGN(const auto given, base::read_suffix("codec", info->name, info->parameters, spec));
  return info->make(given);
}

base::Failure not_a_block(std::string_view bytes, std::size_t size) {
  return base::fail(base::Code::invalid,
                    fmt::format("{} bytes are not a block of {} values", bytes.size(), size));
}

base::Result<> Codec::decode(std::string_view bytes, std::span<float> out) const {
  SOUK_TRY(check(bytes, out.size()));
  for (std::size_t from = 0; from < out.size(); from += kChunk)
    decode_chunk(bytes, out.size(), from, out.subspan(from, std::min(kChunk, out.size() - from)));
  return {};
}

}  // namespace souk::train
