#pragma once

#include <cstdint>

#include "patterns/bases/pair.hpp"

namespace nhalf {

/// The first of two ranks sends without waiting; the second acknowledges once, after the last.
template <Transport T>
class Stream : public Pair<T> {
 public:
  using Pair<T>::Pair;

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    const int peer = this->peer();
    if (this->leads()) {
      for (auto i = rounds; i > 0; --i) transport.send(peer, this->out_.bytes());
      transport.recv(peer, Bytes{});
    } else if (this->takes_part()) {
      for (auto i = rounds; i > 0; --i) transport.recv(peer, this->in_.bytes());
      transport.send(peer, ConstBytes{});
    }
  }

 protected:
  [[nodiscard]] bool receives() const override { return this->takes_part() && !this->leads(); }
};

inline constexpr PatternInfo stream{
    .name = "stream",
    .what = "rank 0 pumps messages to rank 1, which acknowledges once at the end of a batch",
    .rounds_min = 16,
    .acknowledged = true};
NHALF_PATTERN(stream, Stream);

}  // namespace nhalf
