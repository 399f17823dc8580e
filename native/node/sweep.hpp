// Independent loads or stores over an array, in linear or random order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "contract/pattern.hpp"
#include "node/region.hpp"

namespace nhalf {

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
