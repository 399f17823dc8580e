// The start and the end of a launch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "contract/communicators.hpp"
#include "contract/pattern.hpp"

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

/// Launches are what differs, and what intervals are of.
template <StartUp T>
class Startup : public Pattern {
 public:
  Startup(T& transport, const Case& point) : transport_(transport) {
    constexpr std::string_view parts[] = {"init", "launch"};
    took_s_ = point.choice("part", parts) == 0 ? transport.initialised_s() : transport.launched_s();
    if (took_s_ < 0) throw InputError("when the launcher was called is known on its own host only");
  }

  /// Nothing that counts, but a batch has to last.
  void run(std::uint64_t rounds) override {
    rounds_ = rounds;
    for (auto i = rounds; i > 0; --i) transport_.barrier();
  }
  bool verify() override { return true; }
  [[nodiscard]] std::optional<double> timed_s() const override {
    return static_cast<double>(rounds_) * took_s_;
  }

 private:
  T& transport_;
  double took_s_ = 0;
  std::uint64_t rounds_ = 1;
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
