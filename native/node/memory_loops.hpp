// Loops over memory with small pages, or with huge ones if the system has them: chains of dependent
// loads, and independent loads or stores, in linear or random order.
#pragma once

#include <sys/mman.h>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include "contract/pattern.hpp"

namespace nhalf {
/// Zeroed anonymous memory, aligned to a huge page and unmapped by the destructor.
class Region {
 public:
  static constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

  /// Throws std::bad_alloc if there is not enough memory.
  Region(std::size_t size_bytes, bool huge)
      : mapped_bytes_(rounded(size_bytes) + huge_page_bytes), size_bytes_(rounded(size_bytes)) {
    mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped_ == MAP_FAILED) throw std::bad_alloc();
    const auto address = reinterpret_cast<std::uintptr_t>(mapped_);
    data_ = static_cast<std::byte*>(mapped_) + (huge_page_bytes - address % huge_page_bytes);
    // A system without huge pages ignores this; huge_share() returns what it granted.
    madvise(mapped_, mapped_bytes_, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    std::memset(data_, 0, size_bytes_);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() { munmap(mapped_, mapped_bytes_); }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

  /// Returns the fraction that lies in huge pages, as the kernel counts them.
  [[nodiscard]] double huge_share() const {
    std::ifstream maps("/proc/self/smaps");
    bool inside = false;
    for (std::string line; std::getline(maps, line);) {
      std::uintptr_t begin = 0;
      std::uintptr_t end = 0;
      char dash = 0;
      std::istringstream words(line);
      if (words >> std::hex >> begin >> dash >> end && dash == '-') {
        const auto data_address = reinterpret_cast<std::uintptr_t>(data_);
        inside = begin <= data_address && data_address < end;
      } else if (inside && line.starts_with("AnonHugePages:")) {
        const double huge_bytes = 1024.0 * std::stod(line.substr(line.find(':') + 1));
        return std::min(1.0, huge_bytes / static_cast<double>(size_bytes_));
      }
    }
    return 0;
  }

 private:
  static std::size_t rounded(std::size_t size_bytes) {
    return (size_bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  }

  std::size_t mapped_bytes_;
  std::size_t size_bytes_;
  void* mapped_ = nullptr;
  std::byte* data_ = nullptr;
};

/// Places of a chase's nodes: node i lies at i stride + (i mod 2) shift + (i skew mod stride).
struct ChasePlaces {
  std::size_t count = 0;
  std::size_t stride_bytes = 0;
  std::size_t shift_bytes = 0;
  std::size_t skew_bytes = 0;

  [[nodiscard]] std::size_t offset_bytes(std::size_t node) const {
    const auto slot = skew_bytes == 0 ? 0 : node * skew_bytes % stride_bytes;
    return node * stride_bytes + (node % 2) * shift_bytes + slot;
  }
  [[nodiscard]] std::size_t span_bytes() const {
    return count * stride_bytes + shift_bytes + sizeof(void*);
  }
};

/// Returns the places that a point asks for. Throws InputError if they are impossible.
inline ChasePlaces chase_places(const Case& point) {
  const auto stride_bytes = point.axes.number("stride", std::size_t{64});
  const ChasePlaces places{.count = stride_bytes == 0 ? 0 : point.size_bytes / stride_bytes,
                           .stride_bytes = stride_bytes,
                           .shift_bytes = point.axes.number("shift", std::size_t{0}),
                           .skew_bytes = point.axes.number("skew", std::size_t{0})};
  constexpr auto word = sizeof(void*);
  if (places.count == 0 || places.count > std::numeric_limits<std::uint32_t>::max())
    throw InputError("a chase needs one node or more: bytes is a multiple of stride");
  if (stride_bytes % word != 0 || places.shift_bytes % word != 0 || places.skew_bytes % word != 0)
    throw InputError("stride, shift and skew of a chase are multiples of " + std::to_string(word));
  if (places.shift_bytes >= stride_bytes && places.count > 1)
    throw InputError("the shift of a chase is less than its stride");
  return places;
}

/// Links all nodes in random order to one cycle (S. Sattolo, Information Processing Letters 22,
/// 1986), which no prefetcher can follow.
inline void link_nodes(std::byte* base, const ChasePlaces& places, std::uint64_t seed) {
  std::vector<std::uint32_t> next(places.count);
  std::iota(next.begin(), next.end(), std::uint32_t{0});
  std::mt19937_64 random(seed);
  for (std::size_t remaining = places.count; remaining > 1; --remaining) {
    // The high half of the product is even enough and much faster than a distribution.
    const auto partner = (random() >> 32) * (remaining - 1) >> 32;
    std::swap(next[remaining - 1], next[partner]);
  }
  for (std::size_t node = 0; node < places.count; ++node)
    *reinterpret_cast<void**>(base + places.offset_bytes(node)) =
        base + places.offset_bytes(next[node]);
}

inline constexpr AxisInfo chase_axes[] = {
    {"stride", "64", "64", "bytes from node to node"},
    {"shift", "0", "0", "bytes by which every second node lies further on"},
    {"skew", "0", "0", "bytes by which the place in the stride goes on from node to node"},
    {"huge", "yes", "yes", "whether the memory asks for huge pages: yes or no"},
    {"seed", "1", "1", "of the random order"}};

inline constexpr PatternInfo node_chase{
    .name = "node-chase",
    .what = "dependent loads in random order, one of each node: the latency of what holds them",
    .ranks_min = 1,
    .axes = chase_axes};

/// Follows the chain; a round is one load.
class NodeChase : public Pattern {
 public:
  NodeChase(const Case& point, Region& region) : places_(chase_places(point)), region_(region) {
    link_nodes(region.data(), places_, point.axes.number("seed", std::uint64_t{1}));
    line_ = region.data();
  }

  void run(std::uint64_t rounds) override {
    void* line = line_;
    for (; rounds >= 8; rounds -= 8) {
      line = follow(follow(follow(follow(line))));
      line = follow(follow(follow(follow(line))));
    }
    for (; rounds > 0; --rounds) line = follow(line);
    line_ = line;
  }

  /// Walks the cycle once, checks that it has every node, and so warms the caches.
  bool verify() override {
    const void* const start = line_;
    for (std::size_t node = 0; node + 1 < places_.count; ++node) {
      run(1);
      if (line_ == start) return false;
    }
    run(1);
    return line_ == start;
  }

  std::vector<Value> values() override {
    return {{"nodes", static_cast<double>(places_.count)}, {"huge_share", region_.huge_share()}};
  }

 private:
  static void* follow(void* line) { return *static_cast<void* volatile*>(line); }

  ChasePlaces places_;
  Region& region_;
  void* line_ = nullptr;
};

inline constexpr AxisInfo sweep_axes[] = {
    {"stride", "64", "64", "bytes from access to access"},
    {"order", "linear", "linear", "linear, or random: then no prefetcher can follow"},
    {"huge", "yes", "yes", "whether the memory asks for huge pages: yes or no"}};

inline constexpr PatternInfo node_load{
    .name = "node-load",
    .what = "loads of 8 bytes that do not wait for each other, over an array again and again",
    .ranks_min = 1,
    .axes = sweep_axes};
inline constexpr PatternInfo node_store{.name = "node-store",
                                        .what = "stores of 8 bytes over an array again and again",
                                        .ranks_min = 1,
                                        .axes = sweep_axes};

/// Places that a sweep accesses, and their order.
struct SweepPlaces {
  std::uint64_t count = 0;
  std::size_t stride_bytes = 0;
  /// The next place is (place * factor + step) mod count; 1 and 1 give linear order.
  std::uint64_t factor = 1;
  std::uint64_t step = 1;
};

/// Returns the places that a point asks for. Throws InputError if they are impossible.
inline SweepPlaces sweep_places(const Case& point) {
  constexpr std::string_view orders[] = {"linear", "random"};
  SweepPlaces places{.stride_bytes = point.axes.number("stride", std::size_t{64})};
  if (places.stride_bytes == 0 || places.stride_bytes % sizeof(std::uint64_t) != 0)
    throw InputError("the stride of a sweep is a multiple of 8");
  places.count = point.size_bytes / places.stride_bytes;
  if (!std::has_single_bit(places.count))
    throw InputError("bytes over stride of a sweep is a power of two");
  if (point.choice("order", orders) == 1) {
    // The sequence has full period (T. E. Hull, A. R. Dobell, SIAM Review 4, 1962), with long
    // strides.
    places.factor = 0x5851F42D4C957F2DULL;
    places.step = 0x14057B7EF767814FULL;
  }
  return places;
}

/// Loads or stores; a round is one access.
template <bool stores>
class NodeSweep : public Pattern {
 public:
  NodeSweep(const Case& point, Region& region) : places_(sweep_places(point)), region_(region) {}

  void run(std::uint64_t rounds) override {
    auto* const base = region_.data();
    const auto [count, stride_bytes, factor, step] = places_;
    const auto mask = count - 1;
    auto place = place_;
    for (; rounds > 0; --rounds) {
      // The high bits of such a sequence are random, the low ones repeat with short periods.
      const auto column = factor == 1 ? place & mask : (place >> 20) & mask;
      touch(base + column * stride_bytes);
      place = place * factor + step;
    }
    place_ = place;
  }

  /// Accesses every place once, which warms the caches.
  bool verify() override {
    run(places_.count);
    return true;
  }

  std::vector<Value> values() override { return {{"huge_share", region_.huge_share()}}; }

 private:
  static void touch(std::byte* place) {
    auto* const word = reinterpret_cast<volatile std::uint64_t*>(place);
    if constexpr (stores) {
      *word = 1;
    } else {
      const std::uint64_t loaded = *word;
      asm volatile("" ::"r"(loaded));
    }
  }

  SweepPlaces places_;
  Region& region_;
  std::uint64_t place_ = 0;
};
}  // namespace nhalf
