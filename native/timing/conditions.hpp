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

  static Conditions of(const PatternInfo& info, const Case& point) {
    constexpr std::string_view starts[] = {"sync", "barrier", "rotating"};
    constexpr std::string_view buffers[] = {"warm", "cold"};
    constexpr std::string_view calls[] = {"steady", "first"};
    const Conditions conditions{.start = static_cast<Start>(point.choice("start", starts)),
                                .cold = point.choice("buffers", buffers) == 1,
                                .first_call = point.choice("call", calls) == 1};
    if (conditions.first_call && point.axes.text("algorithm", "native") != "native")
      throw InputError("call=first: only the library's own algorithm has anything made anew");
    if (conditions.start != Start::rotating) return conditions;
    if (!info.rooted)
      throw InputError("start=rotating needs a root, and pattern " + std::string(info.name) +
                       " has none");
    if (conditions.cold || conditions.first_call)
      throw InputError(
          "start=rotating times operations in a chain: buffers are warm and calls steady there");
    return conditions;
  }
};

}  // namespace nhalf
