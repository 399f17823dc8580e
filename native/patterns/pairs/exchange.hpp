#pragma once

#include "patterns/bases/pair.hpp"

namespace nhalf {

inline constexpr PatternInfo exchange{
    .name = "exchange",
    .what = "ranks 0 and 1 each send one message and receive one in a single call",
    .needs = "duplex",
    .bytes_factor = 2};
template <Duplex T>
class Exchange : public Pair<T> {
 public:
  Exchange(T& transport, const Case& point) : Pair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    if (transport.rank() > 1) return;
    const int peer = this->peer();
    for (auto i = rounds; i > 0; --i)
      transport.exchange(peer, this->out_.bytes(), peer, this->in_.bytes());
  }
};
NHALF_PATTERN(exchange, Exchange);

}  // namespace nhalf
