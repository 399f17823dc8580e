#pragma once

#include <memory>
#include <vector>

#include "patterns/bases/pairs/pingpong_loop.hpp"

namespace nhalf {

inline constexpr PatternInfo pingpong_diffbuf{
    .name = "pingpong-diffbuf",
    .what = "ping-pong where every send uses the next of 16 buffers, to show buffer management",
    .messages_per_round = 2};

template <Transport T>
class PingPongDiffbuf : public PingPongLoop<T> {
 public:
  static constexpr std::size_t buffers = 16;

  PingPongDiffbuf(T& transport, const Case& point) : PingPongLoop<T>(transport, point) {
    for (std::size_t i = 0; i < buffers; ++i) {
      ring_.push_back(std::make_unique<Buffer>(point.size_bytes));
      ring_.back()->fill(this->seed_of(transport.rank()));
    }
  }

  void run(std::uint64_t rounds) override {
    this->loop(rounds, [this](T& transport, int peer, ConstBytes) {
      transport.send(peer, ring_[next_]->bytes());
      next_ = (next_ + 1) % buffers;
    });
  }

 private:
  std::vector<std::unique_ptr<Buffer>> ring_;
  std::size_t next_ = 0;
};

NHALF_PATTERN(pingpong_diffbuf, PingPongDiffbuf);

}  // namespace nhalf
