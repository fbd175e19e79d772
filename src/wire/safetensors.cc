#include "wire/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstring>

namespace souk::wire {
namespace {

namespace json = boost::json;
using base::Code;
using base::fail;

constexpr std::uint64_t kMostHead = 16 << 20;

std::size_t width_of(std::string_view dtype) {
  if (dtype == "F64" || dtype == "I64") return 8;
  if (dtype == "F32" || dtype == "I32") return 4;
  if (dtype == "F16" || dtype == "BF16") return 2;
  if (dtype == "U8" || dtype == "I8" || dtype == "BOOL") return 1;
  return 0;
}

base::Failure damaged(std::string_view why) {
  return fail(Code::damaged, fmt::format("not a safetensors file: {}", why));
}

base::Result<SafeTensor> tensor_of(std::string_view name, const json::value& v, std::size_t data) {
  const auto* o = v.if_object();
  const auto* dtype = o == nullptr ? nullptr : o->if_contains("dtype");
  const auto* shape = o == nullptr ? nullptr : o->if_contains("shape");
  const auto* offsets = o == nullptr ? nullptr : o->if_contains("data_offsets");
  if (dtype == nullptr || !dtype->is_string() || shape == nullptr || !shape->is_array() ||
      offsets == nullptr || !offsets->is_array() || offsets->get_array().size() != 2)
    return damaged("a tensor without dtype, shape or offsets");
  SafeTensor out{.name = std::string(name), .dtype = std::string(dtype->get_string())};
  const auto width = width_of(out.dtype);
  if (width == 0) return damaged("a dtype that is not known");
  std::size_t bytes = width;
  for (const auto& d : shape->get_array()) {
    const auto n = d.is_int64() ? d.get_int64() : -1;
    if (n < 0 || (n > 0 && bytes > data / static_cast<std::size_t>(n)))
      return damaged("a shape that does not fit the file");
    bytes *= static_cast<std::size_t>(n);
    out.shape.push_back(n);
  }
  const auto& at = offsets->get_array();
  if (!at[0].is_int64() || !at[1].is_int64() || at[0].get_int64() < 0 ||
      at[1].get_int64() < at[0].get_int64())
    return damaged("offsets that are not a range");
  out.begin = static_cast<std::size_t>(at[0].get_int64());
  out.end = static_cast<std::size_t>(at[1].get_int64());
  if (out.end > data || out.end - out.begin != bytes)
    return damaged("a tensor that does not fit its data");
  return out;
}

}  // namespace

std::int64_t SafeTensor::count() const {
  std::int64_t n = 1;
  for (const auto d : shape) n *= d;
  return n;
}

const SafeTensor* SafeTensors::find(std::string_view name) const {
  const auto it = std::ranges::find(tensors, name, &SafeTensor::name);
  return it == tensors.end() ? nullptr : &*it;
}

base::Result<SafeTensors> read_safetensors(std::string_view bytes, std::size_t file_size) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) return damaged("it is too short");
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kMostHead || length > bytes.size() - sizeof length)
    return damaged("its header is longer than the file");
  boost::system::error_code error;
  const auto head = json::parse({bytes.data() + sizeof length, length}, error);
  const auto* object = error ? nullptr : head.if_object();
  if (object == nullptr) return damaged("its header is not JSON");
  SafeTensors out{.data = sizeof length + length};
  const auto data = file_size - out.data;
  for (const auto& [name, value] : *object) {
    if (name == "__metadata__") continue;
    SOUK_ASSIGN(auto tensor, tensor_of(name, value, data));
    out.tensors.push_back(std::move(tensor));
  }
  std::ranges::sort(out.tensors, {}, [](const auto& t) { return std::pair(t.begin, t.end); });
  std::size_t at = 0;
  for (const auto& t : out.tensors) {
    if (t.begin != at) return damaged("its tensors overlap or leave gaps");
    at = t.end;
  }
  if (at != data) return damaged("it has more data than tensors");
  return out;
}

std::string safetensors_head(std::vector<SafeTensor> tensors) {
  json::object object;
  std::size_t at = 0;
  for (auto& t : tensors) {
    t.begin = at;
    at = t.end = at + static_cast<std::size_t>(t.count()) * width_of(t.dtype);
    object[t.name] = {{"dtype", t.dtype},
                      {"shape", json::array(t.shape.begin(), t.shape.end())},
                      {"data_offsets", {t.begin, t.end}}};
  }
  auto text = json::serialize(object);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // The data is aligned.
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

}  // namespace souk::wire
