#pragma once

#include "patterns/bases/pair.hpp"

namespace nhalf {

inline constexpr PatternInfo pingping{
    .name = "pingping",
    .what = "ranks 0 and 1 send to each other at once: non-blocking send, receive, wait",
    .needs = "non-blocking"};

template <NonBlocking T>
class PingPing : public Pair<T> {
 public:
  PingPing(T& transport, const Case& point) : Pair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    if (transport.rank() > 1) return;
    const int peer = this->peer();
    for (auto i = rounds; i > 0; --i) {
      auto sent = transport.isend(peer, this->out_.bytes());
      transport.recv(peer, this->in_.bytes());
      transport.wait(sent);
    }
  }
};

NHALF_PATTERN(pingping, PingPing);

}  // namespace nhalf
