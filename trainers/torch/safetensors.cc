#include "safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "error.h"

namespace souk::trainer {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
// As the reference implementation has it.
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kMaxDimensions = 8;
// One read never moves more than this on Linux; larger files take several.
constexpr std::size_t kMaxTransfer = 0x7ffff000;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Error(path + ": " + why);
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(::open(path.c_str(), flags, 0644)) {
    if (fd_ < 0) fail(path, std::strerror(errno));
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::uint64_t little_endian(const std::byte* bytes) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

std::size_t element_bytes(const std::string& dtype) {
  static const std::map<std::string, std::size_t> sizes = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"U16", 2}, {"I16", 2}, {"F16", 2}, {"BF16", 2},
      {"U32", 4},  {"I32", 4}, {"F32", 4}, {"U64", 8}, {"I64", 8}, {"F64", 8}};
  const auto found = sizes.find(dtype);
  return found == sizes.end() ? 0 : found->second;
}

// The bytes a tensor takes, or nothing when that overflows.
bool tensor_bytes(const Shape& shape, std::size_t element, std::size_t& bytes) {
  bytes = element;
  for (const std::int64_t n : shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(n), &bytes)) return false;
  return true;
}

// An entry {"dtype":"F32","shape":[2,3],"data_offsets":[0,24]} of the header.
TensorView parse_entry(const Json& entry, const std::byte* data, std::size_t data_bytes) {
  if (!entry.is_object()) throw Error("its entry is not an object");
  for (const char* key : {"dtype", "shape", "data_offsets"})
    if (!entry.contains(key)) throw Error(std::string("it has no ") + key);

  TensorView view;
  if (!entry["dtype"].is_string()) throw Error("its dtype is not a string");
  view.dtype = entry["dtype"].get<std::string>();
  const std::size_t element = element_bytes(view.dtype);
  if (element == 0) throw Error("its dtype is unknown");

  const Json& shape = entry["shape"];
  if (!shape.is_array() || shape.size() > kMaxDimensions)
    throw Error("its shape is not a list of at most " + std::to_string(kMaxDimensions));
  for (const Json& n : shape) {
    if (!n.is_number_unsigned() || n.get<std::uint64_t>() > INT64_MAX)
      throw Error("its shape has something else than sizes");
    view.shape.push_back(n.get<std::int64_t>());
  }

  const Json& offsets = entry["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    throw Error("its data_offsets are not two offsets");
  const auto begin = offsets[0].get<std::uint64_t>();
  const auto end = offsets[1].get<std::uint64_t>();
  if (begin > end || end > data_bytes) throw Error("it lies outside the file");
  if (!tensor_bytes(view.shape, element, view.bytes) || view.bytes != end - begin)
    throw Error("its size does not match its shape " + to_string(view.shape));
  view.data = data + begin;
  return view;
}

void read_fully(int fd, std::byte* to, std::size_t bytes, const std::string& path) {
  while (bytes > 0) {
    const ssize_t got = ::read(fd, to, std::min(bytes, kMaxTransfer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, std::strerror(errno));
    if (got == 0) fail(path, "it shrank while being read");
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

std::size_t size_of(const Descriptor& file, const std::string& path) {
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) fail(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail(path, "not a file");
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes < kLengthBytes) fail(path, "too short for a safetensors file");
  return bytes;
}

// The pages are there at once: one fault for each would cost more than the copy.
std::unique_ptr<std::byte[], std::function<void(std::byte*)>> mapped(const Descriptor& file,
                                                                     std::size_t bytes, int access,
                                                                     const std::string& path) {
  void* at = ::mmap(nullptr, bytes, access, MAP_SHARED | MAP_POPULATE, file.get(), 0);
  if (at == MAP_FAILED) fail(path, std::strerror(errno));
  return {static_cast<std::byte*>(at), [bytes](std::byte* from) { ::munmap(from, bytes); }};
}

}  // namespace

std::string to_string(const Shape& shape) {
  std::string text;
  for (const std::int64_t n : shape) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "[" + text + "]";
}

std::int64_t count(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t size : shape) n *= size;
  return n;
}

TensorFile TensorFile::read(const std::string& path) {
  const Descriptor file(path, O_RDONLY | O_CLOEXEC);
  const auto bytes = size_of(file, path);
  TensorFile result;
  result.path_ = path;
  // Not make_unique: no need to clear it first.
  result.contents_ = {new std::byte[bytes], std::default_delete<std::byte[]>()};
  read_fully(file.get(), result.contents_.get(), bytes, path);
  result.parse(bytes);
  return result;
}

TensorFile TensorFile::map(const std::string& path) {
  const Descriptor file(path, O_RDONLY | O_CLOEXEC);
  const auto bytes = size_of(file, path);
  TensorFile result;
  result.path_ = path;
  result.contents_ = mapped(file, bytes, PROT_READ, path);
  result.parse(bytes);
  return result;
}

void TensorFile::parse(std::size_t bytes) {
  const std::uint64_t header_bytes = little_endian(contents_.get());
  if (header_bytes > kMaxHeaderBytes || header_bytes > bytes - kLengthBytes)
    fail(path_, "the header of " + std::to_string(header_bytes) + " bytes does not fit the file");
  const auto* header = reinterpret_cast<const char*>(contents_.get() + kLengthBytes);
  const Json json = Json::parse(header, header + header_bytes, nullptr, false);
  if (!json.is_object()) fail(path_, "the header is not a JSON object");

  const std::byte* data = contents_.get() + kLengthBytes + header_bytes;
  const std::size_t data_bytes = bytes - kLengthBytes - static_cast<std::size_t>(header_bytes);
  for (const auto& [name, entry] : json.items()) {
    if (name == "__metadata__") continue;
    try {
      tensors_.emplace(name, parse_entry(entry, data, data_bytes));
    } catch (const Error& error) {
      fail(path_, "tensor '" + name + "': " + error.what());
    }
  }
}

const TensorView& TensorFile::at(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) fail(path_, "no tensor '" + name + "'");
  return found->second;
}

std::string f32_header(const std::vector<NamedShape>& tensors) {
  std::string json;
  std::int64_t offset = 0;
  // Put together by hand, because a JSON object would sort the names.
  for (const auto& [name, shape] : tensors) {
    const std::int64_t end = offset + count(shape) * std::int64_t{sizeof(float)};
    json += (json.empty() ? "{" : ",") + Json(name).dump() + R"(:{"dtype":"F32","shape":)" +
            Json(shape).dump() + R"(,"data_offsets":)" + Json({offset, end}).dump() + "}";
    offset = end;
  }
  json += "}";
  // Padded, so that the tensors begin at a multiple of 8 bytes.
  json.resize((json.size() + 7) / 8 * 8, ' ');

  std::string length(kLengthBytes, '\0');
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length[i] = static_cast<char>(json.size() >> (8 * i) & 0xff);
  return length + json;
}

void write_f32(const std::string& path, const std::string& header, std::size_t values_count,
               const std::function<void(float* values)>& fill) {
  const Descriptor file(path, O_RDWR | O_CREAT | O_CLOEXEC);
  const std::size_t bytes = header.size() + values_count * sizeof(float);
  // All of its memory now: without it, writing to the mapping would end this program.
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) fail(path, std::strerror(errno));
  if (const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)); error != 0)
    fail(path, std::strerror(error));
  const auto contents = mapped(file, bytes, PROT_READ | PROT_WRITE, path);
  std::memcpy(contents.get(), header.data(), header.size());
  // A header is padded to a multiple of 8 bytes, so they are aligned.
  fill(reinterpret_cast<float*>(contents.get() + header.size()));
}

}  // namespace souk::trainer
