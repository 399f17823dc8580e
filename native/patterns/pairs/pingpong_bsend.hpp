#pragma once

#include "patterns/bases/pairs/pingpong_loop.hpp"

namespace nhalf {

inline constexpr PatternInfo pingpong_bsend{
    .name = "pingpong-bsend",
    .what = "ping-pong with buffered sends, which copy the message into an attached buffer",
    .needs = "buffered-send",
    .messages_per_round = 2};

template <BufferedSend T>
class PingPongBsend : public PingPongLoop<T> {
 public:
  /// Room for the messages that the library may still hold while the next one is sent.
  static constexpr int messages_buffered = 4;

  PingPongBsend(T& transport, const Case& point) : PingPongLoop<T>(transport, point) {
    transport.attach_buffer(point.size_bytes, messages_buffered);
  }
  ~PingPongBsend() override { this->transport_.detach_buffer(); }

  void run(std::uint64_t rounds) override {
    this->loop(rounds,
               [](T& transport, int peer, ConstBytes data) { transport.bsend(peer, data); });
  }
};

NHALF_PATTERN(pingpong_bsend, PingPongBsend);

}  // namespace nhalf
