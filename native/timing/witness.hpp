// Looks at the state of the machine before, during and after the sampling of a point.
#pragma once

#include <atomic>
#include <chrono>
#include <new>

#include "contract/transport.hpp"
#include "host/segment.hpp"

namespace nhalf {
/// Pairs of cache lines in several pages that ranks 0 and 1 of one host write in turn.
///
/// Virtual machines migrate their cores and frequencies change, which a slower handoff reveals. How
/// far a line's home is from both cores differs from line to line, so that a single one may be slow
/// in every state of the machine: the median of several places is the reference. A transport with a
/// virtual clock may have a reference of its own.
/// There is no reference at a point where one of both ranks does not get a core in time; after some
/// such misses in a row, or without shared memory, there is none for the rest of the run.
template <class T>
class Flag {
 public:
  /// Collective; `hosts` has the number of each rank's host and is empty for a single host.
  Flag(T& transport, std::span<const int> hosts) : transport_(transport), rank_(transport.rank()) {
    if constexpr (is_timed) {
      // A flag is passed by no network, and one rank of a virtual one runs at a time.
      if (has_virtual_clock(transport)) return;
      if (transport.size() < 2 || (!hosts.empty() && hosts[0] != hosts[1])) return;
      if (rank_ == 0) memory_ = Segment::create(sizeof(Places));
      auto address = memory_.address();
      share(transport, address);
      if (rank_ == 1) memory_ = Segment::open(address, sizeof(Places));
      const bool has_memory =
          rank_ > 1 || (memory_ && (rank_ == 1 || memory_.reserve(0, sizeof(Places))));
      const bool everywhere = transport.all(has_memory);
      memory_.close_file();
      if (everywhere && rank_ < 2)
        places_ = std::launder(reinterpret_cast<Places*>(memory_.data()));
    }
  }

  /// How long one of both ranks waits for the other to arrive, and then for each flag.
  struct Patience {
    double meeting_s = 0.02;
    std::int64_t spins = 1 << 18;
  };

  /// Returns the one-way time of a flag at rank 0: at each place in the fastest of some batches,
  /// the median of all places; NaN at other ranks and without a reference. Ranks 0 and 1 call it
  /// together; others return at once.
  double measure_s() { return measure_s(Patience{}); }
  double measure_s(const Patience& patience) {
    if constexpr (requires { transport_.flag_s(); })
      return rank_ == 0 ? transport_.flag_s() : unknown_s;
    if (places_ == nullptr) return unknown_s;
    // Each turn has its own numbers, so that a flag of a missed turn is not mistaken for one of
    // this turn.
    number_ = ++turn_ * numbers_of_turn;
    lines_ = &places_->front();
    if (!met(patience.meeting_s)) return missed();
    std::array<double, places> flags_s{};
    for (std::size_t place = 0; place < places; ++place) {
      lines_ = &(*places_)[place];
      flags_s[place] = fastest_s(patience.spins);
      if (std::isnan(flags_s[place])) return missed();
    }
    misses_in_a_row_ = 0;
    std::ranges::nth_element(flags_s, flags_s.begin() + places / 2);
    return rank_ == 0 ? flags_s[places / 2] : unknown_s;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr bool is_timed = !Idling<T> && !is_exact<T>;
  static constexpr std::size_t places = 5;
  static constexpr int batches = 2;
  static constexpr int rounds = 10;
  static constexpr std::int64_t numbers_of_turn = 2 * places * batches * rounds;
  static constexpr int misses_in_a_row_max = 10;
  static constexpr double unknown_s = std::numeric_limits<double>::quiet_NaN();
  /// Two lines of 64 bytes, which x86 fetches together; POWER has lines of 128, A64FX of 256.
  static constexpr std::size_t line_bytes = 256;
  static constexpr std::size_t page_bytes = 4096;
  static_assert(std::atomic<std::int64_t>::is_always_lock_free,
                "other processes do not see the lock of an atomic");

  struct alignas(page_bytes) Lines {
    alignas(line_bytes) std::atomic<std::int64_t> to_second;
    alignas(line_bytes) std::atomic<std::int64_t> to_first;
  };

  using Places = std::array<Lines, places>;

  std::atomic<std::int64_t>& own_flag() {
    return rank_ == 0 ? lines_->to_second : lines_->to_first;
  }
  std::atomic<std::int64_t>& peer_flag() {
    return rank_ == 0 ? lines_->to_first : lines_->to_second;
  }

  /// Returns the one-way time of a flag in the fastest batch at the current place; NaN if the peer
  /// does not answer in time.
  double fastest_s(std::int64_t spins) {
    double least_s = std::numeric_limits<double>::infinity();
    for (int batch = 0; batch < batches; ++batch) {
      const auto start = Clock::now();
      for (int round = 0; round < rounds; ++round)
        if (!pass(spins)) return unknown_s;
      const std::chrono::duration<double> elapsed = Clock::now() - start;
      least_s = std::min(least_s, elapsed.count() / (2 * rounds));
    }
    return least_s;
  }

  /// Passes one flag there and back; false if the peer does not answer in time.
  bool pass(std::int64_t spins) {
    ++number_;
    if (rank_ == 0) own_flag().store(number_, std::memory_order_release);
    for (std::int64_t i = 0; peer_flag().load(std::memory_order_acquire) < number_; ++i)
      if (i > spins) return false;
    if (rank_ == 1) own_flag().store(number_, std::memory_order_release);
    return true;
  }

  /// Passes the first flag, for which both ranks have to arrive, and yields the core meanwhile.
  bool met(double meeting_s) {
    ++number_;
    if (rank_ == 0) own_flag().store(number_, std::memory_order_release);
    const auto until = Clock::now() + std::chrono::duration<double>(meeting_s);
    while (peer_flag().load(std::memory_order_acquire) < number_) {
      std::this_thread::yield();
      if (Clock::now() > until) return false;
    }
    if (rank_ == 1) own_flag().store(number_, std::memory_order_release);
    return true;
  }

  double missed() {
    if (++misses_in_a_row_ == misses_in_a_row_max) places_ = nullptr;
    return unknown_s;
  }

  T& transport_;
  int rank_;
  std::int64_t turn_ = 0;
  std::int64_t number_ = 0;
  int misses_in_a_row_ = 0;
  Segment memory_;
  Places* places_ = nullptr;
  /// The place of the current batch.
  Lines* lines_ = nullptr;
};

/// The fastest and the slowest flag between two cores of all looks during one visit to a point.
///
/// Where both agree, the machine was in one state. Looks are spread evenly over the slice, so that
/// they take a few percent of it at most, and lie between samples.
template <class T>
class Witness {
 public:
  static constexpr int looks = 8;

  explicit Witness(Flag<T>& flag) : flag_(flag) {}

  /// Looks at the machine; collective, as `Flag::measure_s`. A look that is missed does not count.
  void look() {
    const double flag_s = flag_.measure_s();
    if (!(flag_s > 0)) return;
    low_s_ = std::min(low_s_, flag_s);
    high_s_ = std::max(high_s_, flag_s);
  }

  /// Whether the next look is due after so many seconds of a slice; for rank 0, which decides.
  bool due(double spent_s, double slice_s) {
    if (spent_s < next_s_) return false;
    next_s_ = spent_s + slice_s / looks;
    return true;
  }

  /// Whether any look was answered; at rank 0 only.
  [[nodiscard]] bool knows() const { return high_s_ > 0; }
  [[nodiscard]] double low_s() const { return low_s_; }
  [[nodiscard]] double high_s() const { return high_s_; }

 private:
  Flag<T>& flag_;
  double low_s_ = std::numeric_limits<double>::infinity();
  double high_s_ = 0;
  double next_s_ = 0;
};
}  // namespace nhalf
