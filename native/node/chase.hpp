// Pointer chase: each load returns the address of the next, so the loads form a dependency chain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "contract/pattern.hpp"
#include "node/region.hpp"

namespace nhalf {

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

}  // namespace nhalf
