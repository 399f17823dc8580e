#pragma once

#include "patterns/bases/pairs/round_trip_loop.hpp"
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

}  // namespace nhalf
