// A rank's processor time as a clock.
#pragma once

#include "timing/clock.hpp"

namespace nhalf {
/// Simulated ranks whose machine says how long their processors were busy.
template <class T>
concept BusyCounting = requires(T& transport) {
  { transport.busy_s() } -> std::same_as<double>;
};

/// Ranks that have processor time: simulated ones only where their machine says it.
template <class T>
concept HasProcessorTime = BusyCounting<T> || Computing<T>;

/// Seconds of processor time that a rank has spent: its machine's if that is simulated, else those
/// of the thread that calls. Threads that a library runs beside it are in neither.
template <HasProcessorTime T>
class ProcessorClock {
 public:
  explicit ProcessorClock(T& transport) : transport_(transport) {}

  [[nodiscard]] double now_s() const {
    if constexpr (BusyCounting<T>) {
      return transport_.busy_s();
    } else {
      return thread_processor_s();
    }
  }

 private:
  T& transport_;
};
}  // namespace nhalf
