#include "hub/run/event_file.h"

#include <array>
#include <bit>
#include <vector>

namespace souk::hub {
namespace {

// CRC-32C, reflected.
constexpr std::uint32_t kPolynomial = 0x82f63b78;

constexpr auto kTable = [] {
  std::array<std::uint32_t, 256> out{};
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    auto crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? kPolynomial : 0);
    out[i] = crc;
  }
  return out;
}();

// As the format has it: the checksum of data that holds checksums would be weak, so it is turned.
std::uint32_t masked_crc(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ crc >> 8;
  return std::rotr(~crc, 15) + 0xa282ead8u;
}

template <typename T>
std::string little_endian(T value) {
  static_assert(std::endian::native == std::endian::little);
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string record(std::string_view message) {
  const auto length = little_endian<std::uint64_t>(message.size());
  return length + little_endian(masked_crc(length)) + std::string(message) +
         little_endian(masked_crc(message));
}

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value > 0x7f; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}

// A field's number and the way its value is written.
enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
std::string tag(std::uint32_t field, WireType type) {
  return varint(field << 3 | static_cast<std::uint32_t>(type));
}

std::string bytes_field(std::uint32_t field, std::string_view value) {
  return tag(field, WireType::bytes) + varint(value.size()) + std::string(value);
}

// Event: 1 wall_time, 2 step, 3 file_version, 5 summary. Summary: 1 value. Value: 1 tag, 2
// simple_value.
std::string time_field(double seconds) {
  return tag(1, WireType::fixed64) + little_endian(seconds);
}

}  // namespace

std::string event_head(double seconds) {
  return record(time_field(seconds) + bytes_field(3, "brain.Event:2"));
}

std::string event_record(double seconds, std::int64_t step, std::span<const Scalar> scalars) {
  std::string summary;
  for (const auto& [name, value] : scalars)
    summary += bytes_field(1, bytes_field(1, name) + tag(2, WireType::fixed32) +
                                  little_endian(static_cast<float>(value)));
  return record(time_field(seconds) + tag(2, WireType::varint) +
                varint(static_cast<std::uint64_t>(step)) + bytes_field(5, summary));
}

std::string row_record(const wire::TrainRow& row, double began_seconds) {
  std::vector<Scalar> scalars{{"loss/training", row.loss},
                              {"loss/validation", row.validation_loss},
                              {"epoch", row.epoch},
                              {"workers", row.workers}};
  for (const auto& [name, value] : row.metrics) scalars.emplace_back("metrics/" + name, value);
  return event_record(began_seconds + row.at.seconds(), row.samples, scalars);
}

std::string event_file(const wire::Training& training) {
  auto out = event_head(0);
  for (const auto& row : training.rows) out += row_record(row, 0);
  return out;
}

}  // namespace souk::hub
