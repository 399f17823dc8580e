#pragma once

#include "patterns/bases/one_sided/region_pair.hpp"

namespace nhalf {

inline constexpr PatternInfo put_signal{
    .name = "put-signal",
    .what =
        "ranks 0 and 1 put in turn by puts that carry their signal, and read; half the round trip",
    .needs = "signalling-puts",
    .messages_per_round = 2};

/// The put-pingpong with one operation for data and signal.
template <SignallingPuts T>
class PutSignal : public RegionPair<T> {
 public:
  PutSignal(T& transport, const Case& point) : RegionPair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->take_turns(
        rounds,
        [this] {
          this->transport_.put_and_signal(this->region_, this->peer(), 0, this->out(), slot);
        },
        [this] {
          this->transport_.await_signal(this->region_, slot);
          this->read_here();
        });
  }

  bool verify() override { return this->puts_cross(); }

 private:
  static constexpr int slot = 0;
};

NHALF_PATTERN(put_signal, PutSignal);

}  // namespace nhalf
