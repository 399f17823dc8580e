#pragma once

#include "patterns/bases/pairs/pingpong_loop.hpp"

namespace nhalf {

inline constexpr PatternInfo pingpong{
    .name = "pingpong",
    .what = "one message there and back between ranks 0 and 1; time is half the round trip",
    .messages_per_round = 2};

template <Transport T>
class PingPong : public PingPongLoop<T> {
 public:
  PingPong(T& transport, const Case& point) : PingPongLoop<T>(transport, point) {}
  void run(std::uint64_t rounds) override { this->loop(rounds); }
};

NHALF_PATTERN(pingpong, PingPong);

}  // namespace nhalf
