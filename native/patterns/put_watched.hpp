// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "patterns/bases/region_pair.hpp"

namespace nhalf {

inline constexpr PatternInfo put_watched{
    .name = "put-watched",
    .what = "ranks 0 and 1 put in turn, each seen by its last word; time is half the round trip",
    .needs = "mapped-memory",
    .messages_per_round = 2,
    .size_multiple = 8};

/// No signal: the receiver looks at the memory into which the other rank puts, as users of remote
/// memory do where the end of a put is known to come last. There is one word at least.
template <MappedMemory T>
class PutWatched : public RegionPair<T> {
 public:
  PutWatched(T& transport, const Case& point)
      : RegionPair<T>(transport, {.size_bytes = std::max(point.size_bytes, word_bytes)}),
        place_(this->out().size() - word_bytes),
        data_(this->out().begin(), this->out().end()) {}

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
    FillSequence sent(this->seed_of(this->peer()), place_);
    const auto checked = std::min(place_, FillSequence::period);
    return !this->takes_part() || std::memcmp(this->here().data(), sent.data(), checked) == 0;
  }

 private:
  static constexpr std::size_t word_bytes = sizeof(std::uint64_t);

  void serve() {
    ++sent_;
    std::memcpy(data_.data() + place_, &sent_, word_bytes);
    this->transport_.put(this->region_, this->peer(), 0, data_);
  }
  void await() {
    const auto word = shared_word(this->here(), place_);
    ++awaited_;
    this->transport_.until([&] { return word.load(std::memory_order_acquire) == awaited_; });
  }

  std::size_t place_;
  std::vector<std::byte> data_;
  std::uint64_t sent_ = 0, awaited_ = 0;
};

NHALF_PATTERN(put_watched, PutWatched);

}  // namespace nhalf
