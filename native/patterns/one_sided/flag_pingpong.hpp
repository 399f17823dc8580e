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

}  // namespace nhalf
