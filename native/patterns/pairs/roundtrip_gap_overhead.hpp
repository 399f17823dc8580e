// What a message costs: its round trip, its sender and its receiver inside the calls, and the gap
// between two.
#pragma once

#include "patterns/bases/pairs/pingpong_loop.hpp"
#include "timing/stopwatch.hpp"

namespace nhalf {
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

inline constexpr PatternInfo gap{
    .name = "gap",
    .what = "time per message where rank 0 sends to rank 1 without a pause (g of LogP)",
    .timing = Timing::inner};

/// The first half of a batch fills whatever buffers there are and is not timed; the second half is
/// timed at both ends, and the slower one counts. A batch is at least as long as it must be for a
/// longer one to give the same time per message.
template <Transport T>
class Gap : public Pair<T> {
 public:
  Gap(T& transport, const Case& point) : Pair<T>(transport, point), watch_(transport) {}

  void prepare() override {
    double before_s = message_s();
    for (bool changed = true; changed && least_ < messages_max;) {
      least_ *= 2;
      const double now_s = message_s();
      const bool long_enough = now_s * static_cast<double>(least_) > preparation_s;
      changed = !long_enough && std::abs(now_s - before_s) > change_max * before_s;
      before_s = now_s;
    }
  }

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    timed_messages_ = (std::max(rounds, least_) + 1) / 2;
    rounds_ = rounds;
    watch_.reset();
    if (transport.rank() == 0) {
      pump([&] { transport.send(1, this->out_.bytes()); });
      transport.recv(1, Bytes{});
    } else if (transport.rank() == 1) {
      pump([&] { transport.recv(0, this->in_.bytes()); });
      transport.send(0, ConstBytes{});
    }
  }

  /// What the rounds asked for take at the rate of those that were timed.
  [[nodiscard]] std::optional<double> timed_s() const override {
    const auto spent_s = watch_.seconds();
    if (!spent_s) return std::nullopt;
    return *spent_s / static_cast<double>(timed_messages_) * static_cast<double>(rounds_);
  }

 protected:
  [[nodiscard]] bool receives() const override { return this->transport_.rank() == 1; }

 private:
  static constexpr std::uint64_t messages_max = 1 << 14;
  static constexpr double preparation_s = 5e-3;
  static constexpr double change_max = 0.01;

  template <class Move>
  void pump(Move move) {
    for (auto i = timed_messages_; i > 0; --i) move();
    watch_.time([&] {
      for (auto i = timed_messages_; i > 0; --i) move();
    });
  }

  /// Seconds per message of a shortest batch at the slower rank, the same at every rank.
  double message_s() {
    this->transport_.barrier();
    run(1);
    return longest_everywhere(this->transport_, timed_s());
  }

  Stopwatch<T> watch_;
  std::uint64_t least_ = 4;
  std::uint64_t timed_messages_ = 1;
  std::uint64_t rounds_ = 1;
};
NHALF_PATTERN(gap, Gap);

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
