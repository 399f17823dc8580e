#pragma once

#include <cstdint>

#include "contract/communicators.hpp"
#include "contract/pattern.hpp"

namespace nhalf {

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
