// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/bases/region_pair.hpp"

namespace nhalf {

inline constexpr PatternInfo put_pingpong{
    .name = "put-pingpong",
    .what = "ranks 0 and 1 put in turn and signal it; time is half the round trip",
    .needs = "one-sided",
    .messages_per_round = 2};

template <OneSided T>
class PutPingPong : public RegionPair<T> {
 public:
  PutPingPong(T& transport, const Case& point) : RegionPair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    if (this->leads()) {
      for (auto i = rounds; i > 0; --i) {
        serve();
        await();
      }
    } else if (this->takes_part()) {
      for (auto i = rounds; i > 0; --i) {
        await();
        serve();
      }
    }
  }

  bool verify() override {
    this->blank(this->seed_of(-1));
    run(1);
    return !this->takes_part() || nhalf::holds(this->here(), this->seed_of(this->peer()));
  }

 private:
  static constexpr int slot = 0;

  void serve() {
    this->transport_.put(this->region_, this->peer(), 0, this->out());
    this->transport_.signal(this->region_, this->peer(), slot);
  }
  void await() { this->transport_.await_signal(this->region_, slot); }
};

NHALF_PATTERN(put_pingpong, PutPingPong);

}  // namespace nhalf
