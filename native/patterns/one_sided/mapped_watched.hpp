// Memory of another rank that is written by plain stores, or watched while a put arrives.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "patterns/bases/one_sided/region_pair.hpp"

namespace nhalf {

/// The last word is a number that grows, and there is one word at least.
template <MappedMemory T>
class SeenByWord : public RegionPair<T> {
 protected:
  static constexpr std::size_t word_bytes = sizeof(std::uint64_t);

  SeenByWord(T& transport, const Case& point)
      : RegionPair<T>(transport, {.size_bytes = std::max(point.size_bytes, word_bytes)}),
        place_(this->out().size() - word_bytes) {}

  /// Waits until the next number is in `memory`, and reads what came before it.
  void await_next(Bytes memory) {
    const auto word = shared_word(memory, place_);
    ++awaited_;
    this->transport_.until([&] { return word.load(std::memory_order_acquire) == awaited_; });
    read_lines(memory);
  }
  /// Whether all before the last word is what a rank sends.
  [[nodiscard]] bool holds_of(int rank, ConstBytes memory) const {
    const FillSequence sent(this->seed_of(rank), place_);
    return std::memcmp(memory.data(), sent.data(), std::min(place_, FillSequence::period)) == 0;
  }

  std::size_t place_;
  std::uint64_t awaited_ = 0;
};

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
