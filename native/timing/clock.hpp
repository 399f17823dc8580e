// The clock that measures, its calibration, and a clock that is wrong on purpose.
#pragma once

#include <sys/utsname.h>
#include <cstdio>
#include <ctime>
#include <random>

#include "contract/options.hpp"
#include "contract/transport.hpp"

namespace nhalf {
/// Returns the raw monotonic clock, which no daemon slews, if reading it takes no system call
/// (since Linux 5.3), and the monotonic clock of older kernels.
inline clockid_t clock_of(const std::string& kernel_release) {
  int major = 0;
  int minor = 0;
  const int numbers = std::sscanf(kernel_release.c_str(), "%d.%d", &major, &minor);
  const bool quick = numbers == 2 && (major > 5 || (major == 5 && minor >= 3));
  return quick ? CLOCK_MONOTONIC_RAW : CLOCK_MONOTONIC;
}

/// The steady clock of this host, in seconds since `epoch_ns`, which is the program's start unless
/// ranks agree on one: ranks of one host with one epoch read the same time.
class SteadyClock {
 public:
  static constexpr std::string_view name = "steady_clock";

  [[nodiscard]] double now_s() const {
    return static_cast<double>(read_ns(clock_) - epoch_ns_) * 1e-9;
  }
  [[nodiscard]] std::int64_t epoch_ns() const { return epoch_ns_; }
  void set_epoch_ns(std::int64_t epoch_ns) { epoch_ns_ = epoch_ns; }

 private:
  static std::int64_t read_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }
  static clockid_t of_this_kernel() {
    utsname system{};
    return uname(&system) == 0 ? clock_of(system.release) : CLOCK_MONOTONIC;
  }

  clockid_t clock_ = of_this_kernel();
  std::int64_t epoch_ns_ = read_ns(clock_);
};

/// The time of day, which daemons correct, as seconds since 1970.
inline double calendar_s() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds that the calling thread had a processor: waiting counts where it spins, and not where it
/// sleeps.
inline double thread_processor_s() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

/// A clock that is wrong on purpose, to test synchronisation. Each rank draws its offset and its
/// drift uniformly from the range of the options.
class ClockError {
 public:
  static constexpr OptionInfo described[] = {
      {"clock_offset_s", "0", "s", "each rank's clock is shifted on purpose by up to this"},
      {"clock_drift_ppm", "0", "1e-6", "each rank's clock drifts on purpose by up to this"}};

  /// Whether any of these options is set; without them all clocks are right.
  static bool asked_for(const Options& options) {
    return std::ranges::any_of(described, [&](const OptionInfo& option) {
      return options.number(std::string(option.name), 0.0) != 0;
    });
  }

  ClockError() = default;
  ClockError(const Options& options, int rank) {
    std::mt19937_64 random(options.number("seed", std::uint64_t{1}) * 65537 +
                           static_cast<std::uint64_t>(rank));
    std::uniform_real_distribution<double> share(-1, 1);
    offset_s_ = share(random) * options.number("clock_offset_s", 0.0);
    drift_ = share(random) * options.number("clock_drift_ppm", 0.0) * 1e-6;
  }

  [[nodiscard]] double shown_s(double true_s) const { return offset_s_ + (1 + drift_) * true_s; }
  [[nodiscard]] double true_s(double shown_s) const { return (shown_s - offset_s_) / (1 + drift_); }
  [[nodiscard]] bool any() const { return offset_s_ != 0 || drift_ != 0; }

 private:
  double offset_s_ = 0;
  double drift_ = 0;
};

/// The smallest step of a clock and the time that one reading takes, as measured.
struct ClockQuality {
  double resolution_s = 0;
  double overhead_s = 0;
  /// Readings are exact, and each takes as long as the others.
  bool is_virtual = false;

  /// Returns the time that a batch has to exceed by a factor to be trusted.
  [[nodiscard]] double floor_s() const {
    return is_virtual ? 0 : std::max(resolution_s, overhead_s);
  }
  /// Returns the time between two readings, of which the first one's end and the second one's lie
  /// `apart_s` from each other.
  [[nodiscard]] double between_s(double apart_s) const {
    return is_virtual ? whole_picoseconds(apart_s - overhead_s) : apart_s - overhead_s;
  }
};

/// Measures the clock of `source` by many readings. Both figures are 0 for a virtual clock, which
/// stands still, unless the source states its resolution.
template <class Source>
ClockQuality calibrate(Source& source) {
  if constexpr (requires { source.clock_resolution_s(); }) {
    return {source.clock_resolution_s(), 0};
  } else if (has_virtual_clock(source)) {
    const double before_s = source.now_s();
    return {1e-12, whole_picoseconds(source.now_s() - before_s), true};
  } else {
    // The least of some means: an interruption of one would be taken off every sample.
    constexpr int parts = 10;
    constexpr int readings = 200;
    constexpr double never_s = std::numeric_limits<double>::infinity();
    double step_s = never_s;
    double overhead_s = never_s;
    double previous_s = source.now_s();
    for (int part = 0; part < parts; ++part) {
      const double first_s = previous_s;
      for (int i = 0; i < readings; ++i) {
        const double now_s = source.now_s();
        if (now_s > previous_s) step_s = std::min(step_s, now_s - previous_s);
        previous_s = now_s;
      }
      overhead_s = std::min(overhead_s, (previous_s - first_s) / readings);
    }
    return {step_s < never_s ? step_s : 0, overhead_s};
  }
}
}  // namespace nhalf
