// SPDX-License-Identifier: Apache-2.0
// What patterns between ranks 0 and 1 have in common: two buffers and how they are checked.
#pragma once

#include <cstdint>

#include "core/buffer.hpp"
#include "core/pattern.hpp"

namespace nhalf {

/// Ranks 0 and 1 are each other's peer; further ranks take no part.
template <Transport T>
class Pair : public Pattern {
 public:
  Pair(T& transport, const Case& point)
      : transport_(transport), out_(checked(point.size_bytes)), in_(point.size_bytes) {
    out_.fill(seed_of(transport.rank()));
  }

  bool verify() override {
    in_.fill(seed_of(-1));
    run(1);
    return !receives() || in_.holds(seed_of(peer()));
  }

 protected:
  /// Whether this rank gets messages in this pattern.
  [[nodiscard]] virtual bool receives() const { return transport_.rank() < 2; }
  [[nodiscard]] int peer() const { return 1 - transport_.rank(); }
  static std::uint32_t seed_of(int rank) { return static_cast<std::uint32_t>(rank + 2); }

  using Pattern::run;
  T& transport_;
  Buffer out_;
  Buffer in_;

 private:
  static std::size_t checked(std::size_t size_bytes) {
    if constexpr (requires { T::check_size(size_bytes); }) T::check_size(size_bytes);
    return size_bytes;
  }
};

}  // namespace nhalf
