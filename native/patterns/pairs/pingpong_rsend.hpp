#pragma once

#include <utility>

#include "patterns/bases/pair.hpp"

namespace nhalf {

inline constexpr PatternInfo pingpong_rsend{
    .name = "pingpong-rsend",
    .what = "ping-pong with ready sends: each receive is posted before its message leaves",
    .needs = "ready-send",
    .messages_per_round = 2};

/// Each side posts the receive for the next message before it sends its own, which is what tells
/// the other side that it may send. Rank 1's receive stays posted between batches; the first is
/// posted when all ranks have made the pattern, the last is met when it ends.
template <class T>
  requires ReadySend<T> && NonBlocking<T>
class PingPongRsend : public Pair<T> {
 public:
  using Pair<T>::Pair;

  /// Where another rank could not make the pattern there is nobody to talk to.
  ~PingPongRsend() override {
    if (!opened_) return;
    if (this->transport_.rank() == 0) this->transport_.send(1, this->out_.bytes());
    if (this->transport_.rank() == 1) this->transport_.wait(posted_);
  }

  /// Rank 1 blanks its buffer before it posts the first receive: afterwards the message may be in
  /// it already.
  bool verify() override {
    open();
    if (this->transport_.rank() != 1) return Pair<T>::verify();
    run(1);
    return this->in_.holds(this->seed_of(this->peer()));
  }

  void prepare() override { open(); }

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    const int rank = transport.rank();
    for (auto i = rounds; i > 0 && rank == 0; --i) {
      posted_ = transport.irecv(1, this->in_.bytes());
      transport.rsend(1, this->out_.bytes());
      transport.wait(posted_);
    }
    for (auto i = rounds; i > 0 && rank == 1; --i) {
      transport.wait(posted_);
      posted_ = transport.irecv(0, this->in_.bytes());
      transport.rsend(0, this->out_.bytes());
    }
  }

 private:
  /// Posts the first receive; all ranks together.
  void open() {
    if (std::exchange(opened_, true)) return;
    if (this->transport_.rank() == 1) {
      this->in_.fill(this->seed_of(-1));
      posted_ = this->transport_.irecv(0, this->in_.bytes());
    }
    this->transport_.barrier();
  }

  bool opened_ = false;
  typename T::Request posted_{};
};
NHALF_PATTERN(pingpong_rsend, PingPongRsend);

}  // namespace nhalf
