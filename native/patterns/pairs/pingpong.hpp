// There and back between two ranks, by each way to send and to receive.
#pragma once

#include "contract/messages.hpp"
#include "patterns/bases/pairs/pingpong_loop.hpp"

namespace nhalf {
/// What is said of every one of these patterns.
constexpr PatternInfo pingpong_pattern(std::string_view name, std::string_view description,
                                       std::string_view needs = "") {
  return {.name = name, .what = description, .needs = needs, .messages_per_round = 2};
}

/// By which calls messages go.
struct StandardCalls {
  static void send(auto& transport, int peer, ConstBytes data) { transport.send(peer, data); }
  static void recv(auto& transport, int peer, Bytes data) { transport.recv(peer, data); }
};
struct SynchronousCalls : StandardCalls {
  static void send(auto& transport, int peer, ConstBytes data) { transport.ssend(peer, data); }
};
struct BufferedCalls : StandardCalls {
  static void send(auto& transport, int peer, ConstBytes data) { transport.bsend(peer, data); }
};
struct AnySourceCalls : StandardCalls {
  static void recv(auto& transport, int, Bytes data) { transport.recv_any(data); }
};

template <Transport T, class Calls>
class PingPongBy : public PingPongLoop<T> {
 public:
  using PingPongLoop<T>::PingPongLoop;

  void run(std::uint64_t rounds) override {
    this->loop(
        rounds, [](T& transport, int peer, ConstBytes data) { Calls::send(transport, peer, data); },
        [](T& transport, int peer, Bytes data) { Calls::recv(transport, peer, data); });
  }
};

inline constexpr auto pingpong = pingpong_pattern(
    "pingpong", "one message there and back between ranks 0 and 1; time is half the round trip");
template <Transport T>
using PingPong = PingPongBy<T, StandardCalls>;
NHALF_PATTERN(pingpong, PingPong);

inline constexpr auto pingpong_ssend = pingpong_pattern(
    "pingpong-ssend", "ping-pong with synchronous sends, which end when the receiver has started",
    "synchronous-send");
template <SynchronousSend T>
using PingPongSsend = PingPongBy<T, SynchronousCalls>;
NHALF_PATTERN(pingpong_ssend, PingPongSsend);

inline constexpr auto pingpong_anysource = pingpong_pattern(
    "pingpong-anysource", "ping-pong whose receives take a message from any rank", "any-source");
template <AnySource T>
using PingPongAnySource = PingPongBy<T, AnySourceCalls>;
NHALF_PATTERN(pingpong_anysource, PingPongAnySource);

inline constexpr auto pingpong_bsend = pingpong_pattern(
    "pingpong-bsend",
    "ping-pong with buffered sends, which copy the message into an attached buffer",
    "buffered-send");
template <BufferedSend T>
class PingPongBsend : public PingPongBy<T, BufferedCalls> {
 public:
  /// Room for the messages that the library may still hold while the next one is sent.
  static constexpr int messages_buffered = 4;

  PingPongBsend(T& transport, const Case& point) : PingPongBy<T, BufferedCalls>(transport, point) {
    transport.attach_buffer(point.size_bytes, messages_buffered);
  }
  ~PingPongBsend() override { this->transport_.detach_buffer(); }
};
NHALF_PATTERN(pingpong_bsend, PingPongBsend);

inline constexpr auto pingpong_diffbuf = pingpong_pattern(
    "pingpong-diffbuf",
    "ping-pong where every send uses the next of 16 buffers, to show buffer management");
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
