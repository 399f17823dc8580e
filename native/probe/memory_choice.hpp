// The axis `memory` of patterns: in which memory the buffers of a point lie.
#pragma once

#include <ranges>
#include <set>

#include "contract/pattern.hpp"
#include "host/gpu_condition.hpp"
#include "host/gpu_memory.hpp"
#include "probe/json.hpp"

namespace nhalf {
/// Transports whose library may know other memory than the host's.
template <class T>
concept OffersGpuMemory = requires(const PatternInfo& info) {
  { T::offers_gpu_memory(info) } -> std::same_as<bool>;
};

inline constexpr AxisInfo memory_axis{
    "memory", "host", "host",
    "where buffers lie: host, or by the driver of a GPU pinned, managed or device; as a pair such "
    "as device-host, those of the first half of the ranks and those of the others"};

/// Whether a pattern of a transport has the axis.
template <class T>
bool has_memory_axis(const PatternInfo& info) {
  if constexpr (OffersGpuMemory<T>) return !info.on_host && T::offers_gpu_memory(info);
  return false;
}

/// Whether two ranks of a host have the same GPU; `gpus` and `hosts` are by rank, no hosts are one.
inline bool is_shared(std::span<const std::string> gpus, std::span<const int> hosts) {
  std::set<std::pair<int, std::string>> taken;
  for (std::size_t rank = 0; rank < gpus.size(); ++rank)
    if (!gpus[rank].empty() && !taken.emplace(hosts.empty() ? 0 : hosts[rank], gpus[rank]).second)
      return true;
  return false;
}

/// The advice on GPUs by rank: ranks in turns on one, held down, or with others than ranks on it.
inline std::vector<std::string> advice_on(std::span<const std::string> gpus,
                                          std::span<const int> hosts,
                                          std::span<const std::string> held_back,
                                          std::span<const std::string> processes) {
  std::vector<std::string> advice;
  if (is_shared(gpus, hosts)) advice.emplace_back("shared-gpu");
  const auto host = [&](std::size_t rank) { return hosts.empty() ? 0 : hosts[rank]; };
  const auto has_others = [&](std::size_t rank) {
    std::size_t ranks = 0;
    for (std::size_t other = 0; other < gpus.size(); ++other)
      ranks += gpus[other] == gpus[rank] && host(other) == host(rank) ? 1 : 0;
    return !processes[rank].empty() && std::stoull(processes[rank]) > ranks;
  };
  if (std::ranges::any_of(held_back, [](const auto& words) { return !words.empty(); }))
    advice.emplace_back("slow-gpu");
  if (std::ranges::any_of(std::views::iota(std::size_t{0}, gpus.size()), has_others))
    advice.emplace_back("busy-gpu");
  return advice;
}

/// The memory of this rank's buffers while a point is measured.
class MemoryChoice {
 public:
  /// `words` are a value of the axis. Throws InputError for words that are no memory, and for a GPU
  /// that cannot be used.
  MemoryChoice(const PatternInfo& info, const Case& point, const std::string& words, int rank,
               int ranks)
      : before_(memory_source) {
    const auto cut = words.find('-');
    const auto first = kind_of(words.substr(0, cut));
    const auto second = cut == std::string::npos ? first : kind_of(words.substr(cut + 1));
    using enum gpu::MemoryKind;
    if (std::max(first, second) >= managed && by_own_algorithm(info, point))
      throw InputError("algorithms of nhalf's own are for memory of the host: leave out memory=" +
                       words);
    kind_ = rank < (ranks + 1) / 2 ? first : second;
    if (kind_ == host) return;
    try {
      const auto local_rank = ranks_before(point.hosts, rank);
      memory_source = gpu::memory_of(kind_, local_rank);
      device_ = &gpu::Gpu::of(local_rank);
      device_->device().require_current();
      gpu_ = device_->device().pci_address();
    } catch (const gpu::DriverError& error) {
      throw InputError(error.what());
    }
  }
  MemoryChoice(const MemoryChoice&) = delete;
  MemoryChoice& operator=(const MemoryChoice&) = delete;
  ~MemoryChoice() { memory_source = before_; }

  /// The clock of this rank's GPU in this moment; 0 where it has none or it does not tell.
  [[nodiscard]] double clock_hz() const {
    try {
      return device_ == nullptr ? 0 : device_->clock_hz();
    } catch (const gpu::DriverError&) {
      return 0;
    }
  }

  /// Medians at this rank, in seconds of `clock`: what a wait for its GPU takes just after `work`,
  /// and what it takes when nothing is left to wait for; none without a GPU, or if its driver
  /// cannot wait for what a library began.
  template <class Clock, class Work>
  [[nodiscard]] std::vector<Value> waits(Clock& clock, Work work) const {
    constexpr int times = 11;
    const bool can_wait = device_ != nullptr && gpu::driver().has_kernels();
    std::vector<double> left_s, idle_s;
    for (int i = 0; i < times; ++i) {
      work();
      if (!can_wait) continue;
      for (auto* waits_s : {&left_s, &idle_s}) {
        const double start_s = clock.now_s();
        gpu::Gpu::synchronise_all();
        waits_s->push_back(clock.now_s() - start_s);
      }
    }
    if (!can_wait) return {};
    std::ranges::sort(left_s);
    std::ranges::sort(idle_s);
    return {{"gpu_left_s", left_s[times / 2]}, {"gpu_synchronise_s", idle_s[times / 2]}};
  }

  /// The condition of this rank's GPU in this moment; unknown where it has none.
  [[nodiscard]] gpu::Condition condition() const {
    return gpu_.empty() ? gpu::Condition{} : gpu::ConditionWitness(gpu_).look();
  }

  /// The GPU of this rank by its PCI address; empty where it has none.
  [[nodiscard]] const std::string& gpu() const { return gpu_; }

 private:
  static gpu::MemoryKind kind_of(const std::string& word) {
    const auto place = std::ranges::find(gpu::memory_kinds, word);
    if (place == gpu::memory_kinds.end())
      throw InputError(
          "axis memory is host, pinned, managed or device, or a pair of them such as "
          "device-host; '" +
          word + "' is none");
    return static_cast<gpu::MemoryKind>(place - gpu::memory_kinds.begin());
  }

  static bool by_own_algorithm(const PatternInfo& info, const Case& point) {
    const auto axis = std::ranges::find(info.axes, "algorithm", &AxisInfo::name);
    return axis != info.axes.end() && axis->fallback == "native" &&
           point.axes.text("algorithm", "native") != "native";
  }

  /// Ranks on the host of this one that have lower numbers.
  static std::size_t ranks_before(std::span<const int> hosts, int rank) {
    const auto place = static_cast<std::size_t>(rank);
    if (hosts.empty()) return place;
    return static_cast<std::size_t>(std::ranges::count(hosts.first(place), hosts[place]));
  }

  MemorySource before_;
  gpu::MemoryKind kind_ = gpu::MemoryKind::host;
  const gpu::Gpu* device_ = nullptr;
  std::string gpu_;
};
}  // namespace nhalf
