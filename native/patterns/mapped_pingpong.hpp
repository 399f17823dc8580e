// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>

#include "patterns/bases/region_pair.hpp"

namespace nhalf {

inline constexpr PatternInfo mapped_pingpong{
    .name = "mapped-pingpong",
    .what = "ranks 0 and 1 write the same memory in turn, by plain stores; half the round trip",
    .needs = "mapped-memory",
    .messages_per_round = 2,
    .size_multiple = 8};

/// As put-watched, but the answer goes into the memory in which the question came: it is rank 1's,
/// and rank 0 has mapped it.
template <MappedMemory T>
class MappedPingPong : public RegionPair<T> {
 public:
  MappedPingPong(T& transport, const Case& point)
      : RegionPair<T>(transport, {.size_bytes = std::max(point.size_bytes, word_bytes)}),
        place_(this->out().size() - word_bytes),
        common_(transport.mapped(this->region_, 1).first(this->out().size())) {}

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
    run(1);
    FillSequence sent(this->seed_of(1), place_);
    const auto checked = std::min(place_, FillSequence::period);
    return !this->takes_part() || std::memcmp(common_.data(), sent.data(), checked) == 0;
  }

 private:
  static constexpr std::size_t word_bytes = sizeof(std::uint64_t);

  void serve() {
    if (place_ > 0) std::memcpy(common_.data(), this->out().data(), place_);
    shared_word(common_, place_).store(++number_, std::memory_order_release);
  }
  void await() {
    const auto word = shared_word(common_, place_);
    ++number_;
    this->transport_.until([&] { return word.load(std::memory_order_acquire) == number_; });
  }

  std::size_t place_;
  Bytes common_;
  std::uint64_t number_ = 0;
};

NHALF_PATTERN(mapped_pingpong, MappedPingPong);

}  // namespace nhalf
