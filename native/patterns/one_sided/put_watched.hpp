#pragma once

#include <cstring>
#include <vector>

#include "patterns/bases/one_sided/seen_by_word.hpp"

namespace nhalf {

inline constexpr PatternInfo put_watched{
    .name = "put-watched",
    .what = "ranks 0 and 1 put in turn, each seen by its last word; time is half the round trip",
    .needs = "mapped-memory",
    .messages_per_round = 2,
    .size_multiple = 8};

/// No signal: the receiver looks at the memory into which the other rank puts, as users of remote
/// memory do where the end of a put is known to come last.
template <MappedMemory T>
class PutWatched : public SeenByWord<T> {
 public:
  PutWatched(T& transport, const Case& point)
      : SeenByWord<T>(transport, point), data_(this->out().begin(), this->out().end()) {}

  void run(std::uint64_t rounds) override {
    this->take_turns(rounds, [this] { serve(); }, [this] { this->await_next(this->here()); });
  }

  bool verify() override {
    run(1);
    return !this->takes_part() || this->holds_of(this->peer(), this->here());
  }

 private:
  void serve() {
    ++sent_;
    std::memcpy(data_.data() + this->place_, &sent_, sizeof sent_);
    this->transport_.put(this->region_, this->peer(), 0, data_);
  }

  std::vector<std::byte> data_;
  std::uint64_t sent_ = 0;
};

NHALF_PATTERN(put_watched, PutWatched);

}  // namespace nhalf
