// The start and the end of a launch.
#pragma once

#include <cstdint>
#include <string_view>

#include "contract/communicators.hpp"
#include "contract/pattern.hpp"
#include "patterns/bases/launch_time.hpp"

namespace nhalf {

inline constexpr AxisInfo startup_axes[] = {
    {"part", "init,launch", "",
     "init: MPI_Init; launch: from the call of the launcher until MPI is ready, on its own host"}};

inline constexpr PatternInfo startup{
    .name = "startup",
    .what = "how long this launch took to start, at the slowest rank; the same in all samples",
    .needs = "start-up",
    .timing = Timing::inner,
    .axes = startup_axes,
    .sized = false};

template <StartUp T>
class Startup : public LaunchTime<T> {
 public:
  Startup(T& transport, const Case& point) : LaunchTime<T>(transport) {
    constexpr std::string_view parts[] = {"init", "launch"};
    this->took_s_ =
        point.choice("part", parts) == 0 ? transport.initialised_s() : transport.launched_s();
    if (this->took_s_ < 0)
      throw InputError("when the launcher was called is known on its own host only");
  }
};
NHALF_PATTERN(startup, Startup);

inline constexpr PatternInfo finalize{
    .name = "finalize",
    .what = "how long rank 0 is in MPI_Finalize, which all ranks call together; it ends the launch",
    .needs = "start-up",
    .timing = Timing::launch_end,
    .sized = false};

/// What is timed is the end of the program itself, after the last point.
template <StartUp T>
class Finalize : public Pattern {
 public:
  Finalize(T& transport, const Case&) : transport_(transport) {}

  void run(std::uint64_t) override { transport_.barrier(); }
  bool verify() override { return true; }

 private:
  T& transport_;
};
NHALF_PATTERN(finalize, Finalize);

}  // namespace nhalf
