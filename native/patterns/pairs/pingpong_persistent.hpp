#pragma once

#include "patterns/bases/pairs/prepared_pair.hpp"

namespace nhalf {

inline constexpr PatternInfo pingpong_persistent{
    .name = "pingpong-persistent",
    .what = "ping-pong whose sends and receives are set up once and started again and again",
    .needs = "persistent",
    .messages_per_round = 2};

template <Persistent T>
class PingPongPersistent : public PreparedPair<T> {
 public:
  PingPongPersistent(T& transport, const Case& point) : PreparedPair<T>(transport, point, 1) {}

  void run(std::uint64_t rounds) override {
    for (auto i = this->leads() ? rounds : 0; i > 0; --i) {
      this->send();
      this->recv();
    }
    for (auto i = this->takes_part() && !this->leads() ? rounds : 0; i > 0; --i) {
      this->recv();
      this->send();
    }
  }
};

NHALF_PATTERN(pingpong_persistent, PingPongPersistent);

}  // namespace nhalf
