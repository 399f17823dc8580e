// SPDX-License-Identifier: Apache-2.0
// What two cores need to pass one flag: a reference beside every point that no library influences.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <thread>

#include "contract/transport.hpp"
#include "host/segment.hpp"

namespace nhalf {

/// Two lines of a cache that ranks 0 and 1 of one host write in turn.
///
/// Virtual machines move their cores about, and clocks change: a flag that takes longer than before
/// says so. Where one of the two does not get a core in time there is no reference for once, and
/// after some such misses in a row, or where they have no memory in common, for good.
template <class T>
class Flag {
 public:
  /// All ranks together; `hosts` has the number of each rank's host, none where there is one only.
  Flag(T& transport, std::span<const int> hosts) : rank_(transport.rank()) {
    if constexpr (is_real) {
      if (transport.size() < 2 || (!hosts.empty() && hosts[0] != hosts[1])) return;
      if (rank_ == 0) memory_ = Segment::create(sizeof(Lines));
      auto address = memory_.address();
      share(transport, address);
      if (rank_ == 1) memory_ = Segment::open(address, sizeof(Lines));
      const bool mine = rank_ > 1 || (memory_ && (rank_ == 1 || memory_.reserve(0, sizeof(Lines))));
      const bool everywhere = transport.all(mine);
      memory_.close_file();
      if (everywhere && rank_ < 2) lines_ = std::launder(reinterpret_cast<Lines*>(memory_.data()));
    }
  }

  /// How long one of two ranks waits for the other: to meet, and for a flag that is under way.
  struct Patience {
    double meeting_s = 0.02;
    std::int64_t spins = 1 << 18;
  };

  /// One way of a flag, seconds: the fastest of some batches, at rank 0; NaN elsewhere, and where
  /// there is none. Ranks 0 and 1 call it together; others return at once.
  double measure_s() { return measure_s(Patience{}); }
  double measure_s(const Patience& patience) {
    double fastest_s = std::numeric_limits<double>::infinity();
    if (lines_ == nullptr) return unknown_s;
    // Each turn has numbers of its own, so that a flag of a turn that was missed is not taken for
    // one of this turn.
    number_ = ++turn_ * numbers_of_turn;
    if (!met(patience.meeting_s)) return missed();
    for (int batch = 0; batch < batches; ++batch) {
      const auto began = Clock::now();
      for (int round = 0; round < rounds; ++round)
        if (!pass(patience.spins)) return missed();
      const std::chrono::duration<double> took = Clock::now() - began;
      fastest_s = std::min(fastest_s, took.count() / (2 * rounds));
    }
    misses_in_a_row_ = 0;
    return rank_ == 0 ? fastest_s : unknown_s;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr bool is_real = !Idling<T> && !is_exact<T>;
  static constexpr int batches = 4;
  static constexpr int rounds = 25;
  static constexpr std::int64_t numbers_of_turn = 2 * batches * rounds;
  static constexpr int misses_in_a_row_max = 4;
  static constexpr double unknown_s = std::numeric_limits<double>::quiet_NaN();
  /// Two lines of 64 bytes, which x86 fetches together; POWER has lines of 128, A64FX of 256.
  static constexpr std::size_t line_bytes = 256;
  static_assert(std::atomic<std::int64_t>::is_always_lock_free,
                "other processes do not see the lock of an atomic");

  struct Lines {
    alignas(line_bytes) std::atomic<std::int64_t> there;
    alignas(line_bytes) std::atomic<std::int64_t> back;
  };

  std::atomic<std::int64_t>& mine() { return rank_ == 0 ? lines_->there : lines_->back; }
  std::atomic<std::int64_t>& other() { return rank_ == 0 ? lines_->back : lines_->there; }

  /// One flag there and back; false where the other does not answer in time.
  bool pass(std::int64_t spins) {
    ++number_;
    if (rank_ == 0) mine().store(number_, std::memory_order_release);
    for (std::int64_t i = 0; other().load(std::memory_order_acquire) < number_; ++i)
      if (i > spins) return false;
    if (rank_ == 1) mine().store(number_, std::memory_order_release);
    return true;
  }

  /// The first flag, for which both have to arrive: with others let run in between.
  bool met(double meeting_s) {
    ++number_;
    if (rank_ == 0) mine().store(number_, std::memory_order_release);
    const auto until = Clock::now() + std::chrono::duration<double>(meeting_s);
    while (other().load(std::memory_order_acquire) < number_) {
      std::this_thread::yield();
      if (Clock::now() > until) return false;
    }
    if (rank_ == 1) mine().store(number_, std::memory_order_release);
    return true;
  }

  double missed() {
    if (++misses_in_a_row_ == misses_in_a_row_max) lines_ = nullptr;
    return unknown_s;
  }

  int rank_;
  std::int64_t turn_ = 0;
  std::int64_t number_ = 0;
  int misses_in_a_row_ = 0;
  Segment memory_;
  Lines* lines_ = nullptr;
};

}  // namespace nhalf
