// What a message costs its sender and its receiver, inside the calls.
#pragma once

#include <array>

#include "patterns/bases/pair.hpp"
#include "patterns/bases/pairs/round_trip_loop.hpp"
#include "timing/statistics.hpp"
#include "timing/stopwatch.hpp"

namespace nhalf {

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

inline constexpr PatternInfo overhead_recv{
    .name = "overhead-recv",
    .what = "time that rank 0 spends inside a receive whose message is there (o_r of LogP)",
    .timing = Timing::inner};

/// Rank 0 asks, waits until the message must have arrived, and then times its receive. Where the
/// message waits at the sender (rendezvous), this is the handshake and the transfer.
template <Transport T>
class OverheadRecv : public Pair<T> {
 public:
  OverheadRecv(T& transport, const Case& point) : Pair<T>(transport, point), watch_(transport) {}

  /// Learns how long the message takes.
  void prepare() override {
    std::array<double, trials> round_trips_s;
    for (double& round_trip_s : round_trips_s) {
      run(1);
      round_trip_s = watch_.seconds().value_or(0) + asked_s_;
    }
    wait_s_ = patience * median(round_trips_s);
  }

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    watch_.reset();
    for (auto i = rounds; i > 0 && transport.rank() == 0; --i) {
      const double began_s = transport.now_s();
      transport.send(1, ConstBytes{});
      asked_s_ = idle_until(transport, began_s + wait_s_) - began_s;
      watch_.time([&] { transport.recv(1, this->in_.bytes()); });
    }
    for (auto i = rounds; i > 0 && transport.rank() == 1; --i) {
      transport.recv(0, Bytes{});
      transport.send(0, this->out_.bytes());
    }
  }

  [[nodiscard]] std::optional<double> timed_s() const override { return watch_.seconds(); }
  std::vector<Value> values() override { return watch_.values(); }

 protected:
  [[nodiscard]] bool receives() const override { return this->transport_.rank() == 0; }

 private:
  static constexpr int trials = 15;
  /// A message that takes longer than this many round trips is timed as late as it is.
  static constexpr double patience = 1.5;

  Stopwatch<T> watch_;
  double asked_s_ = 0;
  double wait_s_ = 0;
};
NHALF_PATTERN(overhead_recv, OverheadRecv);

}  // namespace nhalf
