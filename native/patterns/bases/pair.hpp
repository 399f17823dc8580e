// What patterns between two ranks have in common: two buffers and how they are checked.
#pragma once

#include <cstdint>

#include "contract/buffer.hpp"
#include "contract/pattern.hpp"

namespace nhalf {

/// Two ranks that talk to each other; below 0: nobody.
struct Partners {
  int first = 0;
  int second = 1;
};

/// Two ranks are each other's peer, 0 and 1 if nothing else is said; further ranks take no part.
template <Transport T>
class Pair : public Pattern {
 public:
  Pair(T& transport, const Case& point, Partners partners = {})
      : transport_(transport),
        out_(checked(point.size_bytes)),
        in_(point.size_bytes),
        leads_(transport.rank() == partners.first),
        peer_(leads_                                ? partners.second
              : transport.rank() == partners.second ? partners.first
                                                    : -1) {
    out_.fill(seed_of(transport.rank()));
  }

  bool verify() override {
    in_.fill(seed_of(-1));
    run(1);
    return !receives() || in_.holds(seed_of(peer()));
  }

 protected:
  /// Whether this rank gets messages in this pattern.
  [[nodiscard]] virtual bool receives() const { return takes_part(); }
  [[nodiscard]] bool takes_part() const { return peer_ >= 0; }
  /// Whether this is the first of the two.
  [[nodiscard]] bool leads() const { return leads_; }
  [[nodiscard]] int peer() const { return peer_; }
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

  bool leads_;
  int peer_;
};

}  // namespace nhalf
