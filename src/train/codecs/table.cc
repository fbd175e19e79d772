#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "train/codecs/codecs.h"

namespace souk::train {
namespace {

// The one list of codecs. To add one: a file, its test, its maker in codecs.h, a row in each of
// these.
constexpr std::array kCodecs{
    CodecInfo{"fp32", "Every number whole: 4 bytes each."},
    CodecInfo{"fp16", "Half precision: 2 bytes each."},
    CodecInfo{"int8", "A byte each, and a scale for every 1024."},
    CodecInfo{"top-k",
              "Only the largest changes, 1% or top-k:SHARE; the rest waits for the next update."},
};

constexpr std::array<MakeCodec*, kCodecs.size()> kMakers{make_fp32, make_fp16, make_int8,
                                                         make_top_k};

}  // namespace

std::span<const CodecInfo> codecs() { return kCodecs; }

std::vector<std::string_view> codec_names() {
  std::vector<std::string_view> names;
  for (const auto& codec : kCodecs) names.push_back(codec.name);
  return names;
}

base::Result<std::unique_ptr<Codec>> make_codec(std::string_view spec) {
  const auto colon = spec.find(':');
  const auto name = spec.substr(0, colon);
  for (std::size_t i = 0; i < kCodecs.size(); ++i)
    if (kCodecs[i].name == name) {
      if (colon == spec.size() - 1)
        return base::fail(base::Code::invalid,
                          fmt::format("nothing follows the colon of '{}'", spec),
                          fmt::format("write '{}'", name), "codec");
      return kMakers[i](colon == spec.npos ? std::string_view{} : spec.substr(colon + 1));
    }
  return base::fail(base::Code::invalid, fmt::format("there is no codec '{}'", name.substr(0, 80)),
                    base::suggest(name, codec_names()), "codec");
}

base::Result<> no_argument(std::string_view codec, std::string_view argument) {
  if (argument.empty()) return {};
  return base::fail(base::Code::invalid,
                    fmt::format("the codec {} takes no '{}'", codec, argument.substr(0, 80)),
                    fmt::format("write '{}'", codec), "codec");
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
