#pragma once

#include <string_view>

#include "contract/communicators.hpp"
#include "patterns/bases/launch_time.hpp"

namespace nhalf {

inline constexpr AxisInfo first_message_axes[] = {
    {"partner", "1:ranks-1:x2", "", "rank to which rank 0 sends; those before it had theirs"},
    {"message", "first,second", "", "the first message to this rank, or the one after it"}};

inline constexpr PatternInfo first_message{
    .name = "first-message",
    .what =
        "a message of rank 0 to a rank until its answer, right after MPI_Init, when neither "
        "was written to before; the same in all samples of a launch",
    .needs = "first-messages",
    .timing = Timing::inner,
    .axes = first_message_axes,
    .sized = false,
    .option = "first=1"};

/// What of it the other ranks know is nothing: they are in no hurry.
template <FirstMessages T>
class FirstMessage : public LaunchTime<T> {
 public:
  FirstMessage(T& transport, const Case& point) : LaunchTime<T>(transport) {
    constexpr std::string_view messages[] = {"first", "second"};
    const auto trips = transport.first_messages(point.axis("partner", 1, transport.size() - 1));
    if (transport.rank() > 0) return;
    this->took_s_ = point.choice("message", messages) == 0 ? trips.first_s : trips.second_s;
    if (this->took_s_ < 0)
      throw InputError(
          "first messages are timed at the start: give --setting 'fresh: mpi.first=1'");
  }
};
NHALF_PATTERN(first_message, FirstMessage);

}  // namespace nhalf
