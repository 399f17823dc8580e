#pragma once

#include "patterns/bases/one_sided/region_pair.hpp"

namespace nhalf {

/// `carries_signal`: one operation for data and signal.
template <OneSided T, bool carries_signal>
class SignalledPuts : public RegionPair<T> {
 public:
  SignalledPuts(T& transport, const Case& point) : RegionPair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->take_turns(rounds, [this] { serve(); }, [this] { await(); });
  }

  bool verify() override { return this->puts_cross(); }

 private:
  static constexpr int slot = 0;

  void serve() {
    if constexpr (carries_signal) {
      this->transport_.put_and_signal(this->region_, this->peer(), 0, this->out(), slot);
    } else {
      this->transport_.put(this->region_, this->peer(), 0, this->out());
      this->transport_.signal(this->region_, this->peer(), slot);
    }
  }
  void await() {
    this->transport_.await_signal(this->region_, slot);
    this->read_here();
  }
};

inline constexpr PatternInfo put_pingpong{
    .name = "put-pingpong",
    .what = "ranks 0 and 1 put in turn, signal it, and read what came; time is half the round trip",
    .needs = "one-sided",
    .messages_per_round = 2};
template <OneSided T>
using PutPingPong = SignalledPuts<T, false>;
NHALF_PATTERN(put_pingpong, PutPingPong);

inline constexpr PatternInfo put_signal{
    .name = "put-signal",
    .what =
        "ranks 0 and 1 put in turn by puts that carry their signal, and read; half the round trip",
    .needs = "signalling-puts",
    .messages_per_round = 2};
template <SignallingPuts T>
using PutSignal = SignalledPuts<T, true>;
NHALF_PATTERN(put_signal, PutSignal);

}  // namespace nhalf
