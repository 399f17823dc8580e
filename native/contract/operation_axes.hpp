// The conditions under which an operation is timed: axes of every pattern with Timing::operation.
#pragma once

#include <array>

#include "contract/pattern.hpp"

namespace nhalf {

/// Patterns put these first in their own axes.
inline constexpr std::array operation_axes{
    AxisInfo{"start", "sync", "sync",
             "sync: at an agreed time on synchronised clocks; barrier: as a barrier lets ranks go; "
             "rotating: chains, each operation rooted at the rank that finished the last one"},
    AxisInfo{"buffers", "warm", "warm",
             "cold: before each operation the caches are filled with something else"},
    AxisInfo{"call", "steady", "steady",
             "first: before each operation what the library prepared for them is made anew"},
    AxisInfo{"root", "0", "0", "the rank that is the root, of operations that have one"}};

/// Axes of operations that belong to something made before, whose first call is like any other.
inline constexpr std::array lasting_axes{operation_axes[0], operation_axes[1]};

}  // namespace nhalf
