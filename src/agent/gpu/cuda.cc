#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>

#include "agent/gpu/board.h"
#include "agent/gpu/kernels.h"
#include "base/check.h"

// NVIDIA's driver, without its headers: the few functions of its stable interface that are needed,
// found by name in libcuda.so.1 when the program runs.

namespace souk::agent {
namespace {

using base::Code;
using base::fail;
using base::Result;

using CuDevice = int;
using CuAddress = unsigned long long;  // NOLINT(google-runtime-int): the driver's own type.
using CuHandle = void*;

struct Driver {
  int (*init)(unsigned);
  int (*device_count)(int*);
  int (*device)(CuDevice*, int);
  int (*pci_address)(char*, int, CuDevice);
  int (*create_context)(CuHandle*, unsigned, CuDevice);
  int (*destroy_context)(CuHandle);
  int (*use_context)(CuHandle);
  int (*synchronize)();
  int (*load_module)(CuHandle*, const void*);
  int (*function)(CuHandle*, CuHandle, const char*);
  int (*launch)(CuHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                CuHandle, void**, void**);
  int (*allocate)(CuAddress*, std::size_t);
  int (*release)(CuAddress);
  int (*memory)(std::size_t*, std::size_t*);
  int (*clear)(CuAddress, unsigned char, std::size_t);
  int (*download)(void*, CuAddress, std::size_t);
  int (*error_name)(int, const char**);
};

// `did`: what was tried, for the message.
Result<> check(const Driver& d, int code, std::string_view did) {
  if (code == 0) return {};
  const char* name = nullptr;
  if (d.error_name(code, &name) != 0 || name == nullptr) name = "an unknown error";
  constexpr int out_of_memory = 2;
  return fail(code == out_of_memory ? Code::exhausted : Code::unavailable,
              fmt::format("the GPU's driver could not {}: {} ({})", did, name, code),
              "`nvidia-smi` shows what the GPU does; a restart of the driver may help");
}

Result<Driver> load_driver() {
  auto* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return fail(Code::unavailable, "NVIDIA's driver is not here: libcuda.so.1 cannot be loaded",
                "install the driver of the GPU (on Debian: nvidia-driver)");
  Driver d{};
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    auto* at = ::dlsym(library, name);
    if (at == nullptr) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(at);
  };
  find(d.init, "cuInit");
  find(d.device_count, "cuDeviceGetCount");
  find(d.device, "cuDeviceGet");
  find(d.pci_address, "cuDeviceGetPCIBusId");
  find(d.create_context, "cuCtxCreate_v2");
  find(d.destroy_context, "cuCtxDestroy_v2");
  find(d.use_context, "cuCtxSetCurrent");
  find(d.synchronize, "cuCtxSynchronize");
  find(d.load_module, "cuModuleLoadData");
  find(d.function, "cuModuleGetFunction");
  find(d.launch, "cuLaunchKernel");
  find(d.allocate, "cuMemAlloc_v2");
  find(d.release, "cuMemFree_v2");
  find(d.memory, "cuMemGetInfo_v2");
  find(d.clear, "cuMemsetD8_v2");
  find(d.download, "cuMemcpyDtoH_v2");
  find(d.error_name, "cuGetErrorName");
  if (!missing.empty())
    return fail(Code::unavailable, fmt::format("NVIDIA's driver has no {}", missing),
                "install a driver of 2018 or later");
  SOUK_TRY(check(d, d.init(0), "start"));
  return d;
}

// Memory of the GPU whose context is in use, until this goes.
class DeviceMemory {
 public:
  static Result<DeviceMemory> make(const Driver& d, std::size_t bytes) {
    CuAddress at = 0;
    SOUK_TRY(check(d, d.allocate(&at, bytes), fmt::format("give {} MiB", bytes >> 20)));
    return DeviceMemory(d, at);
  }
  DeviceMemory(DeviceMemory&& other) noexcept
      : driver_(other.driver_), at_(std::exchange(other.at_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(at_, other.at_);
    return *this;
  }
  ~DeviceMemory() {
    if (at_ != 0) driver_->release(at_);
  }
  [[nodiscard]] CuAddress at() const { return at_; }

 private:
  DeviceMemory(const Driver& d, CuAddress at) : driver_(&d), at_(at) {}
  const Driver* driver_;
  CuAddress at_;
};

constexpr std::int64_t kSpareMib = 256;  // Left to other programs: their displays.
constexpr unsigned kThreads = 256;

unsigned blocks_for(std::uint64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

class CudaGpu final : public GpuDevice {
 public:
  // `d` outlives it.
  static Result<std::unique_ptr<GpuDevice>> open(const Driver& d, CuDevice device) {
    CuHandle context = nullptr;
    constexpr unsigned sleep_while_waiting = 4;
    SOUK_TRY(check(d, d.create_context(&context, sleep_while_waiting, device), "open the GPU"));
    std::unique_ptr<CudaGpu> out(new CudaGpu(d, context));
    CuHandle module = nullptr;
    SOUK_TRY(check(d, d.load_module(&module, kGpuKernels), "compile its programs"));
    for (const auto& [function, name] :
         {std::pair(&out->matrix_, "souk_matrix"), std::pair(&out->product_, "souk_product"),
          std::pair(&out->rows_, "souk_rows"), std::pair(&out->fill_, "souk_fill"),
          std::pair(&out->read_, "souk_read")})
      SOUK_TRY(check(d, d.function(function, module, name), fmt::format("find {}", name)));
    return std::unique_ptr<GpuDevice>(std::move(out));
  }
  ~CudaGpu() override {
    (void)driver_.use_context(context_);
    matrices_.clear();
    pattern_.reset();
    (void)driver_.destroy_context(context_);
  }

  Result<std::vector<std::uint64_t>> product(const base::GpuProduct& p) override {
    SOUK_TRY(base::check_product(p));
    SOUK_TRY(use());
    const auto size = static_cast<std::size_t>(p.size);
    if (size_ != p.size) {
      matrices_.clear();
      size_ = 0;
      for (int i = 0; i < 3; ++i) {
        SOUK_ASSIGN(auto memory, DeviceMemory::make(driver_, size * size * 4));
        matrices_.push_back(std::move(memory));
      }
      size_ = p.size;
    }
    SOUK_TRY(draw(0, p.seed, 0));
    for (std::int32_t step = 1; step <= p.steps; ++step) {
      SOUK_TRY(draw(1, p.seed, step));
      auto c = matrices_[2].at(), a = matrices_[0].at(), b = matrices_[1].at();
      auto n = static_cast<unsigned>(p.size);
      const auto tiles = n / base::kGpuTile;
      SOUK_TRY(launch(product_, {tiles, tiles}, {16, 16}, c, a, b, n));
      std::swap(matrices_[0], matrices_[2]);
    }
    SOUK_ASSIGN(const auto hashes, cleared(size * 8));
    auto to = hashes.at(), from = matrices_[0].at();
    auto n = static_cast<unsigned>(p.size);
    auto seed = p.seed;
    SOUK_TRY(launch(rows_, {n, 1}, {kThreads, 1}, to, from, n, seed));
    return downloaded<std::uint64_t>(hashes.at(), size);
  }

  Result<std::vector<std::uint32_t>> row(std::int32_t index) override {
    if (index < 0 || index >= size_)
      return fail(Code::invalid, fmt::format("row {} of a product of {}", index, size_));
    SOUK_TRY(use());
    const auto size = static_cast<std::size_t>(size_);
    return downloaded<std::uint32_t>(matrices_[0].at() + static_cast<std::size_t>(index) * size * 4,
                                     size);
  }

  Result<> fill(std::uint64_t seed, std::int64_t mib) override {
    SOUK_TRY(base::check_fill(mib));
    SOUK_TRY(use());
    pattern_.reset();
    matrices_.clear();
    size_ = 0;
    std::size_t free = 0, all = 0;
    SOUK_TRY(check(driver_, driver_.memory(&free, &all), "say how much memory is free"));
    const auto free_mib = static_cast<std::int64_t>(free >> 20);
    if (mib + kSpareMib > free_mib)
      return fail(
          Code::exhausted,
          fmt::format("{} MiB of a GPU's memory were asked for, {} MiB are free", mib, free_mib),
          "end what uses the GPU, or lend fewer with --gpus");
    SOUK_ASSIGN(pattern_, DeviceMemory::make(driver_, static_cast<std::size_t>(mib) << 20));
    mib_ = mib;
    auto to = pattern_->at();
    auto chains = static_cast<unsigned long long>(base::chains_of(mib));
    SOUK_TRY(launch(fill_, {blocks_for(chains), 1}, {kThreads, 1}, to, seed, chains));
    return check(driver_, driver_.synchronize(), "fill its memory");
  }

  Result<std::vector<std::uint64_t>> read(std::uint64_t seed, std::int64_t reads) override {
    if (!pattern_) return fail(Code::conflict, "nothing was filled that could be read");
    if (reads < 1 || reads > base::kMostGpuReads)
      return fail(Code::invalid, fmt::format("{} reads of a GPU's memory", reads));
    SOUK_TRY(use());
    SOUK_ASSIGN(const auto sums, cleared(base::kGpuGroups * 8));
    auto to = sums.at(), from = pattern_->at();
    auto numbers = static_cast<unsigned long long>(base::chains_of(mib_) * base::kChainNumbers);
    auto each = static_cast<unsigned long long>(reads);
    SOUK_TRY(launch(read_, {static_cast<unsigned>(base::kGpuGroups), 1}, {kThreads, 1}, to, from,
                    numbers, seed, each));
    return downloaded<std::uint64_t>(sums.at(), base::kGpuGroups);
  }

 private:
  CudaGpu(const Driver& d, CuHandle context) : driver_(d), context_(context) {}

  // On this thread, from now on.
  Result<> use() { return check(driver_, driver_.use_context(context_), "use the GPU"); }

  template <class... Args>
  Result<> launch(CuHandle function, std::array<unsigned, 2> blocks,
                  std::array<unsigned, 2> threads, Args&... args) {
    std::array<void*, sizeof...(Args)> pointers{&args...};
    return check(driver_,
                 driver_.launch(function, blocks[0], blocks[1], 1, threads[0], threads[1], 1, 0,
                                nullptr, pointers.data(), nullptr),
                 "run a program");
  }
  Result<> draw(std::size_t to, std::uint64_t seed, std::int32_t matrix) {
    auto key = base::matrix_key(seed, matrix);
    auto at = matrices_[to].at();
    auto count = static_cast<unsigned>(size_) * static_cast<unsigned>(size_);
    return launch(matrix_, {blocks_for(count), 1}, {kThreads, 1}, at, key.add, key.flip, count);
  }
  Result<DeviceMemory> cleared(std::size_t bytes) {
    SOUK_ASSIGN(auto out, DeviceMemory::make(driver_, bytes));
    SOUK_TRY(check(driver_, driver_.clear(out.at(), 0, bytes), "clear its memory"));
    return out;
  }
  // Waits for what runs.
  template <class Number>
  Result<std::vector<Number>> downloaded(CuAddress at, std::size_t count) {
    std::vector<Number> out(count);
    SOUK_TRY(check(driver_, driver_.download(out.data(), at, count * sizeof(Number)),
                   "finish what it was asked"));
    return out;
  }

  const Driver& driver_;
  CuHandle context_;
  CuHandle matrix_ = nullptr, product_ = nullptr, rows_ = nullptr, fill_ = nullptr, read_ = nullptr;
  std::int32_t size_ = 0;
  std::vector<DeviceMemory> matrices_;  // The latest product is the first.
  std::optional<DeviceMemory> pattern_;
  std::int64_t mib_ = 0;
};

class CudaBoard final : public GpuBoard {
 public:
  Result<std::unique_ptr<GpuDevice>> open(int index) override {
    const std::lock_guard lock(mutex_);
    if (!driver_) SOUK_TRY(load());
    if (index < 0 || index >= std::ssize(devices_))
      return fail(Code::not_found,
                  fmt::format("GPU {} of {} that the driver shows", index, devices_.size()),
                  "CUDA_VISIBLE_DEVICES may hide some: unset it");
    return CudaGpu::open(*driver_, devices_[static_cast<std::size_t>(index)]);
  }

 private:
  Result<> load() {
    SOUK_ASSIGN(const auto d, load_driver());
    int count = 0;
    SOUK_TRY(check(d, d.device_count(&count), "count its GPUs"));
    std::vector<std::pair<std::string, CuDevice>> found;
    for (int i = 0; i < count; ++i) {
      CuDevice device = 0;
      std::array<char, 32> pci{};
      SOUK_TRY(check(d, d.device(&device, i), "name a GPU"));
      SOUK_TRY(check(d, d.pci_address(pci.data(), static_cast<int>(pci.size()) - 1, device),
                     "say where a GPU is"));
      found.emplace_back(pci.data(), device);
    }
    std::ranges::sort(found);
    for (const auto& [pci, device] : found) devices_.push_back(device);
    driver_ = d;
    return {};
  }

  std::mutex mutex_;
  std::optional<Driver> driver_;
  std::vector<CuDevice> devices_;
};

}  // namespace

std::unique_ptr<GpuBoard> cuda_board() { return std::make_unique<CudaBoard>(); }

}  // namespace souk::agent
