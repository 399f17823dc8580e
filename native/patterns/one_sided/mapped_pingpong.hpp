#pragma once

#include <cstring>

#include "patterns/bases/one_sided/seen_by_word.hpp"

namespace nhalf {

inline constexpr PatternInfo mapped_pingpong{
    .name = "mapped-pingpong",
    .what = "ranks 0 and 1 write the same memory in turn, by plain stores; half the round trip",
    .needs = "mapped-memory",
    .messages_per_round = 2,
    .size_multiple = 8};

/// Like put-watched, but the answer goes into the memory in which the question came: it is rank
/// 1's, and rank 0 has mapped it. Both count in the same word.
template <MappedMemory T>
class MappedPingPong : public SeenByWord<T> {
 public:
  MappedPingPong(T& transport, const Case& point)
      : SeenByWord<T>(transport, point),
        common_(transport.mapped(this->region_, 1).first(this->out().size())) {}

  void run(std::uint64_t rounds) override {
    this->take_turns(rounds, [this] { serve(); }, [this] { this->await_next(common_); });
  }

  bool verify() override {
    run(1);
    return !this->takes_part() || this->holds_of(1, common_);
  }

 private:
  void serve() {
    if (this->place_ > 0) std::memcpy(common_.data(), this->out().data(), this->place_);
    shared_word(common_, this->place_).store(++this->awaited_, std::memory_order_release);
  }

  Bytes common_;
};

NHALF_PATTERN(mapped_pingpong, MappedPingPong);

}  // namespace nhalf
