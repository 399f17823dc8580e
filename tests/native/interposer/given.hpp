// What ranks give to operations in tests, and what comes of it.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "contract/buffer.hpp"

namespace nhalf::coll::given {

/// Pairs (a, b) of bytes for x -> a x + b, whose composition does not commute.
struct Compose {
  static std::size_t element_bytes() { return 2; }
  void operator()(ConstBytes from, Bytes to) const {
    for (std::size_t i = 0; i + 1 < from.size(); i += 2) {
      const auto a = std::to_integer<unsigned>(from[i]);
      const auto b = std::to_integer<unsigned>(from[i + 1]);
      const auto c = std::to_integer<unsigned>(to[i]);
      const auto d = std::to_integer<unsigned>(to[i + 1]);
      to[i] = static_cast<std::byte>(a * c);
      to[i + 1] = static_cast<std::byte>(a * d + b);
    }
  }
};

/// What rank `rank` gives in round `round`.
inline std::vector<std::byte> term(int rank, int round, std::size_t size_bytes) {
  std::mt19937 random(static_cast<unsigned>(rank * 1000 + round));
  std::vector<std::byte> data(size_bytes);
  for (auto& byte : data) byte = static_cast<std::byte>(random());
  return data;
}

inline std::vector<std::byte> combined(int first, int last, int round, std::size_t size_bytes) {
  auto all = term(last, round, size_bytes);
  for (int rank = last - 1; rank >= first; --rank) Compose{}(term(rank, round, size_bytes), all);
  return all;
}

inline bool equal(ConstBytes a, ConstBytes b) {
  return std::ranges::equal(a, b);
}

}  // namespace nhalf::coll::given
