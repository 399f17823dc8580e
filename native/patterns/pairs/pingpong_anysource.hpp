#pragma once

#include "contract/any_source.hpp"
#include "patterns/bases/pairs/pingpong_loop.hpp"

namespace nhalf {

inline constexpr PatternInfo pingpong_anysource{
    .name = "pingpong-anysource",
    .what = "ping-pong whose receives take a message from any rank",
    .needs = "any-source",
    .messages_per_round = 2};

template <AnySource T>
class PingPongAnySource : public PingPongLoop<T> {
 public:
  PingPongAnySource(T& transport, const Case& point) : PingPongLoop<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->loop(
        rounds, [](T& transport, int peer, ConstBytes data) { transport.send(peer, data); },
        [](T& transport, int, Bytes data) { transport.recv_any(data); });
  }
};

NHALF_PATTERN(pingpong_anysource, PingPongAnySource);

}  // namespace nhalf
