// Conditions under which single operations are timed.
#pragma once

#include <string>
#include <string_view>

#include "contract/operation_axes.hpp"
#include "contract/options.hpp"
#include "contract/pattern.hpp"

namespace nhalf {

/// Conditions of timed operations, from a point's `operation_axes`.
struct Conditions {
  enum class Start { together, barrier, rotating };
  Start start = Start::together;
  bool cold = false;
  bool first_call = false;
  int root = 0;

  /// Throws InputError if the axes ask for what operations of `ranks` ranks lack.
  static Conditions of(const PatternInfo& info, const Case& point, int ranks) {
    constexpr std::string_view starts[] = {"sync", "barrier", "rotating"};
    constexpr std::string_view buffers[] = {"warm", "cold"};
    constexpr std::string_view calls[] = {"steady", "first"};
    const Conditions conditions{.start = static_cast<Start>(point.choice("start", starts)),
                                .cold = point.choice("buffers", buffers) == 1,
                                .first_call = point.choice("call", calls) == 1,
                                .root = point.axes.number("root", 0)};
    if (conditions.first_call && point.axes.text("algorithm", "native") != "native")
      throw InputError("call=first: only the library's own algorithm has anything made anew");
    if (conditions.root < 0 || conditions.root >= ranks)
      throw InputError("axis root is from 0 to " + std::to_string(ranks - 1) + " here");
    const bool rotates = conditions.start == Start::rotating;
    if (!info.rooted && (rotates || conditions.root != 0))
      throw InputError((rotates ? "start=rotating" : "axis root") + std::string(" needs a root, ") +
                       "and pattern " + std::string(info.name) + " has none");
    if (!rotates) return conditions;
    if (conditions.root != 0)
      throw InputError("start=rotating moves the root itself: leave axis root out");
    if (conditions.cold || conditions.first_call)
      throw InputError(
          "start=rotating times operations in a chain: buffers are warm and calls steady there");
    return conditions;
  }
};

}  // namespace nhalf
