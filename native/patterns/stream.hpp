// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/pair.hpp"

namespace nhalf {

inline constexpr PatternInfo stream{
    .name = "stream",
    .what = "rank 0 pumps messages to rank 1, which acknowledges once at the end of a batch",
    .rounds_min = 16};

template <Transport T>
class Stream : public Pair<T> {
 public:
  Stream(T& transport, const Case& point) : Pair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    if (transport.rank() == 0) {
      for (auto i = rounds; i > 0; --i) transport.send(1, this->out_.bytes());
      transport.recv(1, Bytes{});
    } else if (transport.rank() == 1) {
      for (auto i = rounds; i > 0; --i) transport.recv(0, this->in_.bytes());
      transport.send(0, ConstBytes{});
    }
  }

 protected:
  [[nodiscard]] bool receives() const override { return this->transport_.rank() == 1; }
};

NHALF_PATTERN(stream, Stream);

}  // namespace nhalf
