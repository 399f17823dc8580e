// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/pair.hpp"

namespace nhalf {

inline constexpr PatternInfo ask_twice{
    .name = "ask-twice",
    .what = "two messages from rank 0 to rank 1, one back; time is that of the round"};

template <Transport T>
class AskTwice : public Pair<T> {
 public:
  AskTwice(T& transport, const Case& point) : Pair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    const auto out = this->out_.bytes();
    const auto in = this->in_.bytes();
    if (transport.rank() == 0) {
      for (auto i = rounds; i > 0; --i) {
        transport.send(1, out);
        transport.send(1, out);
        transport.recv(1, in);
      }
    } else if (transport.rank() == 1) {
      for (auto i = rounds; i > 0; --i) {
        transport.recv(0, in);
        transport.recv(0, in);
        transport.send(0, out);
      }
    }
  }
};

NHALF_PATTERN(ask_twice, AskTwice);

}  // namespace nhalf
