// Message buffers in memory that belongs to a GPU's driver. Where the host should not touch it, it
// is filled and checked by kernels, or by copies where the driver takes none.
#pragma once

#include <map>

#include "contract/buffer.hpp"
#include "contract/options.hpp"
#include "host/cores.hpp"
#include "host/gpu_kernels.hpp"
#include "host/kernel_files.hpp"

namespace nhalf::gpu {
/// Memory of the host; of the host, but fixed in its place; of whoever used it last; of the GPU.
enum class MemoryKind : unsigned char { host, pinned, managed, device };
inline constexpr std::array<std::string_view, 4> memory_kinds{"host", "pinned", "managed",
                                                              "device"};

/// Whether a core is in a list of the kernel's, such as 0-3,8.
inline bool lists_cpu(std::string_view list, int cpu) {
  while (!list.empty()) {
    const auto part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(part.size() + 1, list.size()));
    int first = -1;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), first);
    int last = first;
    if (error == std::errc{} && stop < part.data() + part.size() && *stop == '-')
      std::from_chars(stop + 1, part.data() + part.size(), last);
    if (error == std::errc{} && first <= cpu && cpu <= last) return true;
  }
  return false;
}

/// The GPU for one of the ranks of a host: those near its cores in turns, else all in turns.
/// `near_cpus` are the cores next to each GPU, as the kernel lists them.
inline std::size_t nearest(std::span<const std::string> near_cpus, std::span<const int> cpus,
                           std::size_t local_rank) {
  std::vector<std::size_t> near;
  for (std::size_t device = 0; device < near_cpus.size(); ++device)
    if (std::ranges::any_of(cpus, [&](int cpu) { return lists_cpu(near_cpus[device], cpu); }))
      near.push_back(device);
  return near.empty() ? local_rank % near_cpus.size() : near[local_rank % near.size()];
}

/// The kernels of a GPU, with what they need.
class GpuKernels {
 public:
  void fill(Address data, std::uint64_t size_bytes, std::uint32_t seed) const {
    launch(fill_, blocks, threads, stream_.get(), data, size_bytes, seed);
    synchronise(stream_.get());
  }

  [[nodiscard]] bool holds(Address data, std::uint64_t size_bytes, std::uint32_t seed) const {
    std::uint64_t wrong = 0;
    const auto& calls = driver();
    calls.check(calls.copy_in(wrong_.get(), &wrong, sizeof wrong), "copy to the GPU");
    launch(verify_, blocks, threads, stream_.get(), data, size_bytes, seed, wrong_.get());
    synchronise(stream_.get());
    calls.check(calls.copy_out(&wrong, wrong_.get(), sizeof wrong), "copy from the GPU");
    return wrong == 0;
  }

  /// See Gpu::clock_hz. A million cycles are about half a millisecond, which is long for steps of
  /// that timer: they are up to 1 us.
  [[nodiscard]] double clock_hz(std::uint64_t cycles = 1'000'000) const {
    launch(clock_, 1, 1, stream_.get(), times_.get(), cycles);
    synchronise(stream_.get());
    std::array<std::uint64_t, 4> times{};
    driver().check(driver().copy_out(times.data(), times_.get(), sizeof times),
                   "copy from the GPU");
    const auto [first_cycle, first_ns, last_cycle, last_ns] = times;
    if (last_ns <= first_ns) return 0;
    return static_cast<double>(last_cycle - first_cycle) * 1e9 /
           static_cast<double>(last_ns - first_ns);
  }

 private:
  static constexpr unsigned blocks = 64;
  static constexpr unsigned threads = 256;

  OwnedStream stream_ = stream();
  OwnedModule module_ = module(kernels().c_str(), hip_kernels);
  Function fill_ = function(module_, "nhalf_fill");
  Function verify_ = function(module_, "nhalf_verify");
  Function clock_ = function(module_, "nhalf_clock");
  DeviceMemory wrong_ = device_memory(sizeof(std::uint64_t));
  DeviceMemory times_ = device_memory(4 * sizeof(std::uint64_t));
};

/// The GPU of this process, with its kernels where its driver has any.
class Gpu {
 public:
  /// The nearest GPU of a rank, the same as long as the process lives: libraries use it until they
  /// end. Throws DriverError.
  static Gpu& of(std::size_t local_rank) {
    static Gpu& gpu = *new Gpu(number_for(local_rank));
    gpu.device_.make_current();
    return gpu;
  }

  [[nodiscard]] const Device& device() const { return device_; }

  void fill(Bytes data, std::uint32_t seed) const {
    if (data.empty()) return;
    if (kernels_) return kernels_->fill(address_of(data), data.size(), seed);
    std::vector<std::byte> content(data.size());
    nhalf::fill(content, seed);
    write(content.data(), data);
  }

  [[nodiscard]] bool holds(ConstBytes data, std::uint32_t seed) const {
    if (data.empty()) return true;
    if (kernels_) return kernels_->holds(address_of(data), data.size(), seed);
    std::vector<std::byte> content(data.size());
    read(data, content.data());
    return nhalf::holds(content, seed);
  }

  static void read(ConstBytes from, std::byte* to) {
    driver().check(driver().copy_out(to, address_of(from), from.size()), "copy from the GPU");
  }
  static void write(const std::byte* from, Bytes to) {
    driver().check(driver().copy_in(address_of(to), from, to.size()), "copy to the GPU");
  }

  /// The clock of the GPU in this moment, by a kernel that counts it against the GPU's own timer; 0
  /// where that does not tell.
  [[nodiscard]] double clock_hz() const { return kernels_ ? kernels_->clock_hz() : 0; }

  /// Waits until all work of this process's context is done.
  static void synchronise_all() {
    driver().check(driver().context_synchronise(), "synchronisation");
  }

 private:
  explicit Gpu(int number) : device_(number) {
    if (driver().has_kernels()) kernels_.emplace();
  }

  static Address address_of(ConstBytes data) { return reinterpret_cast<Address>(data.data()); }

  static int number_for(std::size_t local_rank) {
    const int count = device_count();
    if (count == 0) throw DriverError(Fault::no_device, "the driver finds no GPU");
    std::vector<std::string> near_cpus;
    for (int number = 0; number < count; ++number) {
      const auto folder = "/sys/bus/pci/devices/" + pci_address(number);
      near_cpus.push_back(text_of((folder + "/local_cpulist").c_str()));
    }
    return static_cast<int>(nearest(near_cpus, allowed_cpus(), local_rank));
  }

  Device device_;
  std::optional<GpuKernels> kernels_;
};

/// What was taken from the driver and is not given back.
struct Allocation {
  std::size_t size_bytes = 0;
  DeviceMemory device{};
  PinnedMemory pinned{};
};
inline std::map<const std::byte*, Allocation>& allocations() {
  static auto& taken = *new std::map<const std::byte*, Allocation>;
  return taken;
}

/// Takes memory, with zeros in it. Throws InputError.
template <MemoryKind kind>
std::byte* take(std::size_t size_bytes) {
  try {
    Allocation allocation{.size_bytes = size_bytes};
    std::byte* memory = nullptr;
    if constexpr (kind == MemoryKind::pinned) {
      allocation.pinned = pinned_memory(size_bytes);
      memory = static_cast<std::byte*>(allocation.pinned.get());
      std::memset(memory, 0, size_bytes);
    } else {
      allocation.device =
          kind == MemoryKind::managed ? managed_memory(size_bytes) : device_memory(size_bytes);
      memory = reinterpret_cast<std::byte*>(allocation.device.get());
      driver().check(driver().set_bytes(allocation.device.get(), 0, size_bytes), "zeros");
      driver().check(driver().context_synchronise(), "zeros");
    }
    allocations()[memory] = std::move(allocation);
    return memory;
  } catch (const DriverError& error) {
    throw InputError(error.what());
  }
}

inline void give_back(std::byte* memory) {
  allocations().erase(memory);
}

/// Whether bytes lie where kernels fill and check them.
inline bool owns(const std::byte* memory) {
  const auto next = allocations().upper_bound(memory);
  if (next == allocations().begin()) return false;
  const auto& [start, allocation] = *std::prev(next);
  return memory < start + allocation.size_bytes && allocation.device.get() != 0;
}

/// Where buffers of a kind come from, for the rank of this number on its host. Throws DriverError.
inline MemorySource memory_of(MemoryKind kind, std::size_t local_rank) {
  if (kind == MemoryKind::host) return host_memory;
  static const Gpu* gpu = nullptr;
  gpu = &Gpu::of(local_rank);
  static constexpr DeviceAccess access{
      .enter = [] { gpu->device().make_current(); },
      .owns = owns,
      .fill = [](Bytes data, std::uint32_t seed) { gpu->fill(data, seed); },
      .holds = [](ConstBytes data, std::uint32_t seed) { return gpu->holds(data, seed); },
      .read = Gpu::read,
      .write = Gpu::write};
  MemorySource source{.take = take<MemoryKind::device>, .give_back = give_back};
  if (kind == MemoryKind::pinned) source.take = take<MemoryKind::pinned>;
  if (kind == MemoryKind::managed) source.take = take<MemoryKind::managed>;
  source.device = &access;
  return source;
}
}  // namespace nhalf::gpu
