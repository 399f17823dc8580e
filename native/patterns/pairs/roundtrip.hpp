#pragma once

#include "patterns/bases/pairs/round_trip_loop.hpp"

namespace nhalf {

inline constexpr PatternInfo roundtrip{
    .name = "roundtrip",
    .what = "one message from rank 0 to 1, an empty one back; time is the whole round trip"};

template <Transport T>
class RoundTrip : public RoundTripLoop<T> {
 public:
  RoundTrip(T& transport, const Case& point) : RoundTripLoop<T>(transport, point) {}
  void run(std::uint64_t rounds) override {
    this->loop(rounds, [](T& transport, int peer, ConstBytes data) { transport.send(peer, data); });
  }
};
NHALF_PATTERN(roundtrip, RoundTrip);

}  // namespace nhalf
