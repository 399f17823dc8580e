#pragma once

#include "patterns/bases/one_sided/region_pair.hpp"

namespace nhalf {

inline constexpr PatternInfo put_pingpong{
    .name = "put-pingpong",
    .what = "ranks 0 and 1 put in turn, signal it, and read what came; time is half the round trip",
    .needs = "one-sided",
    .messages_per_round = 2};

template <OneSided T>
class PutPingPong : public RegionPair<T> {
 public:
  PutPingPong(T& transport, const Case& point) : RegionPair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->take_turns(rounds, [this] { serve(); }, [this] { await(); });
  }

  bool verify() override { return this->puts_cross(); }

 private:
  static constexpr int slot = 0;

  void serve() {
    this->transport_.put(this->region_, this->peer(), 0, this->out());
    this->transport_.signal(this->region_, this->peer(), slot);
  }
  void await() {
    this->transport_.await_signal(this->region_, slot);
    this->read_here();
  }
};

NHALF_PATTERN(put_pingpong, PutPingPong);

}  // namespace nhalf
