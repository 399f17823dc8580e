#pragma once

#include <string_view>

#include "contract/communicators.hpp"
#include "patterns/bases/collectives/operation.hpp"

namespace nhalf {

inline constexpr std::array communicator_axis{
    AxisInfo{"by", "duplicate,split", "", "of the same ranks, or of every other rank"}};
inline constexpr auto communicator_axes = joined(lasting_axes, communicator_axis);

inline constexpr PatternInfo communicator_info{
    .name = "communicator",
    .what = "a communicator is made and freed by all ranks",
    .needs = "communicators",
    .timing = Timing::operation,
    .axes = communicator_axes,
    .sized = false};
template <Communicators T>
class Communicator : public Operation<T> {
 public:
  Communicator(T& transport, const Case& point)
      : Operation<T>(transport, point, 0, 0), splits_(point.choice("by", ways) == 1) {}

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds) {
      if (splits_) {
        this->transport_.split();
      } else {
        this->transport_.duplicate();
      }
    }
  }
  [[nodiscard]] bool checks_messages() const override { return false; }

  /// There is no data; a library that cannot make one ends the program.
  bool verify() override {
    run(1);
    return true;
  }

 private:
  static constexpr std::string_view ways[] = {"duplicate", "split"};

  bool splits_;
};
NHALF_PATTERN(communicator_info, Communicator);

}  // namespace nhalf
