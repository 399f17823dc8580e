// A message there, an empty one back: its whole time, and how long the send takes.
#pragma once

#include <cstdint>

#include "patterns/bases/pair.hpp"
#include "timing/stopwatch.hpp"

namespace nhalf {

/// Rank 0 sends the message and waits for rank 1's empty answer before the next one: there is never
/// more than one message under way. `send` is compiled into the loop.
template <Transport T>
class RoundTripLoop : public Pair<T> {
 public:
  using Pair<T>::Pair;

 protected:
  template <class Send>
  void loop(std::uint64_t rounds, Send send) {
    T& transport = this->transport_;
    const ConstBytes out = this->out_.bytes();
    const Bytes in = this->in_.bytes();
    if (transport.rank() == 0) {
      for (auto i = rounds; i > 0; --i) {
        send(transport, 1, out);
        transport.recv(1, Bytes{});
      }
    } else if (transport.rank() == 1) {
      for (auto i = rounds; i > 0; --i) {
        transport.recv(0, in);
        transport.send(0, ConstBytes{});
      }
    }
  }

  [[nodiscard]] bool receives() const override { return this->transport_.rank() == 1; }
};

inline constexpr PatternInfo roundtrip{
    .name = "roundtrip",
    .what = "one message from rank 0 to 1, an empty one back; time is the whole round trip"};

template <Transport T>
class RoundTrip : public RoundTripLoop<T> {
 public:
  RoundTrip(T& transport, const Case& point) : RoundTripLoop<T>(transport, point) {}
  void run(std::uint64_t rounds) override {
    this->loop(rounds, [](T& transport, int peer, ConstBytes data) { transport.send(peer, data); });
  }
};
NHALF_PATTERN(roundtrip, RoundTrip);

inline constexpr PatternInfo overhead_send{
    .name = "overhead-send",
    .what = "time that rank 0 spends inside a send with nothing else under way (o_s of LogP)",
    .timing = Timing::inner};

/// Where a send waits for its receiver (rendezvous), this is the handshake and the transfer.
template <Transport T>
class OverheadSend : public RoundTripLoop<T> {
 public:
  OverheadSend(T& transport, const Case& point)
      : RoundTripLoop<T>(transport, point), watch_(transport) {}

  void run(std::uint64_t rounds) override {
    watch_.reset();
    this->loop(rounds, [this](T& transport, int peer, ConstBytes data) {
      watch_.time([&] { transport.send(peer, data); });
    });
  }

  [[nodiscard]] std::optional<double> timed_s() const override { return watch_.seconds(); }
  std::vector<Value> values() override { return watch_.values(); }

 private:
  Stopwatch<T> watch_;
};
NHALF_PATTERN(overhead_send, OverheadSend);

}  // namespace nhalf
