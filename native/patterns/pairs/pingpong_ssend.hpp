#pragma once

#include "patterns/bases/pairs/pingpong_loop.hpp"

namespace nhalf {

inline constexpr PatternInfo pingpong_ssend{
    .name = "pingpong-ssend",
    .what = "ping-pong with synchronous sends, which end when the receiver has started",
    .needs = "synchronous-send",
    .messages_per_round = 2};

template <SynchronousSend T>
class PingPongSsend : public PingPongLoop<T> {
 public:
  PingPongSsend(T& transport, const Case& point) : PingPongLoop<T>(transport, point) {}
  void run(std::uint64_t rounds) override {
    this->loop(rounds,
               [](T& transport, int peer, ConstBytes data) { transport.ssend(peer, data); });
  }
};

NHALF_PATTERN(pingpong_ssend, PingPongSsend);

}  // namespace nhalf
