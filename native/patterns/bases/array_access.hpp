// SPDX-License-Identifier: Apache-2.0
// The ways in which a program reaches elements of a shared array that lie at its own rank.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "contract/options.hpp"
#include "contract/pattern.hpp"
#include "pgas/shared_array.hpp"

namespace nhalf {

/// Ranks that have arrays together and take time for what they compute.
template <class T>
concept ArraysOf = OneSided<T> && Computing<T>;

/// for-all: by index, whose place is worked out at every access. pointer: by shared pointers that
/// go on from element to element. block: by pointers that stay in a block. cast: by ordinary
/// pointers to what lies at this rank.
enum class Access { for_all, pointer, block, cast };
inline constexpr std::array<std::string_view, 4> access_names{"for-all", "pointer", "block",
                                                              "cast"};

inline constexpr AxisInfo array_axes[] = {
    {"access", "for-all,pointer,block,cast", "",
     "for-all: by index; pointer: shared pointers; block: shared pointers that stay in a block; "
     "cast: ordinary pointers to the rank's own elements"},
    {"block", "even", "even", "elements in a block; even: one block for each rank"}};

/// How an array of a point is dealt to ranks. Throws InputError for no number of elements.
inline pgas::Layout layout_of(const Case& point, std::size_t elements, int ranks) {
  const auto all = static_cast<std::size_t>(ranks);
  if (point.axes.text("block", "even") == "even") return pgas::Layout::even(elements, all);
  return {elements, point.axes.number("block", std::size_t{1}), all};
}

/// The loop of all ways but the first: every pointer goes on by one element.
template <class Make, class To, class... From>
void advance(std::size_t count, Make make, To to, From... from) {
  for (; count > 0; --count) {
    *to = make(*from...);
    ++to;
    (++from, ...);
  }
}

/// Sets every element of `target` at this rank to `make` of those with its index in `sources`,
/// which lie like it.
template <Access access, class Make, class Target, class... Sources>
void each_own(Make make, Target& target, Sources&... sources) {
  const auto& layout = target.layout();
  if constexpr (access == Access::for_all) {
    pgas::for_all(target, [&](std::size_t i) { target[i] = make(sources[i]...); });
  } else if constexpr (access == Access::pointer) {
    pgas::each_block(layout, target.rank(), [&](std::size_t first, std::size_t, std::size_t count) {
      advance(count, make, target.at(first), sources.at(first)...);
    });
  } else if constexpr (access == Access::block) {
    pgas::each_block(layout, target.rank(), [&](std::size_t first, std::size_t, std::size_t count) {
      advance(count, make, target.at(first).in_block(), sources.at(first).in_block()...);
    });
  } else {
    advance(target.local().size(), make, target.local().data(), sources.local().data()...);
  }
}

}  // namespace nhalf
