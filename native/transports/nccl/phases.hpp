// When an operation of NCCL is over, by three definitions; benchmarks differ in which they take.
#pragma once

#include <chrono>

#include "contract/pattern.hpp"
#include "host/gpu_driver.hpp"
#include "timing/statistics.hpp"

namespace nhalf::nccl {
/// Looks at single operations that are no samples: events on the stream take time of their own.
class Phases {
 public:
  void begin(gpu::Stream stream) {
    record(before_, stream);
    start_ = Clock::now();
  }
  void returned(gpu::Stream stream) {
    returns_s_.push_back(since_start_s());
    record(after_, stream);
  }
  void known() {
    knows_s_.push_back(since_start_s());
    float done_ms = 0;
    gpu::driver().check(gpu::driver().event_elapsed(&done_ms, before_.get(), after_.get()),
                        "time between events");
    done_s_.push_back(1e-3 * static_cast<double>(done_ms));
  }

  /// Medians in seconds at this rank: until NCCL's call returns, until the GPU is done by its own
  /// clock, and until the host knows that.
  [[nodiscard]] std::vector<Value> medians() {
    return {{"host_returns_s", median(returns_s_)},
            {"device_done_s", median(done_s_)},
            {"host_knows_s", median(knows_s_)}};
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] double since_start_s() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  static void record(const gpu::OwnedEvent& event, gpu::Stream stream) {
    gpu::driver().check(gpu::driver().event_record(event.get(), stream), "event");
  }

  gpu::OwnedEvent before_ = gpu::event(), after_ = gpu::event();
  Clock::time_point start_;
  std::vector<double> returns_s_, done_s_, knows_s_;
};
}  // namespace nhalf::nccl
