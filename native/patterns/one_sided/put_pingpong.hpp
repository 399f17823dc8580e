// There and back by stores and puts: to memory that is mapped, watched, or has a flag.
#pragma once

#include "patterns/bases/one_sided/region_pair.hpp"

namespace nhalf {
inline constexpr AxisInfo flag_pingpong_axes[] = {
    {"lines", "1,2", "", "cache lines: one that both write in turn, or one for each direction"}};

inline constexpr PatternInfo flag_pingpong{
    .name = "flag-pingpong",
    .what = "ranks 0 and 1 pass a flag in mapped memory: the floor under every message",
    .needs = "mapped-memory",
    .messages_per_round = 2,
    .axes = flag_pingpong_axes,
    .sized = false};
template <MappedMemory T>
class FlagPingPong : public RegionPair<T> {
 public:
  FlagPingPong(T& transport, const Case& point)
      : RegionPair<T>(transport, {}, region_bytes), lines_(point.axis("lines", 1, 2)) {}

  void run(std::uint64_t rounds) override {
    if (!this->takes_part()) return;
    const auto common = this->transport_.mapped(this->region_, 0);
    const auto second_place = lines_ == 1 ? std::size_t{0} : apart_bytes;
    const auto peer_word = shared_word(common, this->leads() ? 0 : second_place);
    const auto own_word = shared_word(common, this->leads() ? second_place : 0);
    this->take_turns(
        rounds, [&] { peer_word.store(++number_, std::memory_order_release); },
        [&] { await(own_word); });
  }

  /// Whoever got here has seen the other's flag.
  bool verify() override {
    run(1);
    return true;
  }

 private:
  /// Some processors fetch lines in pairs, some have longer ones.
  static constexpr std::size_t apart_bytes = 256;
  static constexpr std::size_t region_bytes = 2 * apart_bytes;

  void await(const std::atomic_ref<std::uint64_t>& flag) {
    ++number_;
    this->transport_.until([&] { return flag.load(std::memory_order_acquire) == number_; });
  }

  int lines_;
  std::uint64_t number_ = 0;
};
NHALF_PATTERN(flag_pingpong, FlagPingPong);

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
