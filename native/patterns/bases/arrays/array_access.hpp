// The ways in which a program reaches elements of a shared array that lie at its own rank.
#pragma once

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

/// Goes from element to element by index: the place is worked out at every access.
template <class Array>
class index_pointer {
 public:
  index_pointer(Array& array, std::size_t index) : array_(&array), index_(index) {}

  decltype(auto) operator*() const { return (*array_)[index_]; }
  decltype(auto) operator[](std::ptrdiff_t step) const { return *(*this + step); }
  index_pointer& operator++() {
    ++index_;
    return *this;
  }
  index_pointer& operator+=(std::ptrdiff_t step) {
    index_ += static_cast<std::size_t>(step);
    return *this;
  }
  friend index_pointer operator+(index_pointer pointer, std::ptrdiff_t step) {
    return pointer += step;
  }

 private:
  Array* array_;
  std::size_t index_;
};

/// The pointer of an access to element `first` of an array, which lies at `local` of this rank.
template <Access access, class Array>
auto pointer_by(Array& array, std::size_t first, std::size_t local) {
  if constexpr (access == Access::for_all) {
    return index_pointer<Array>(array, first);
  } else if constexpr (access == Access::pointer) {
    return array.at(first);
  } else if constexpr (access == Access::block) {
    return array.at(first).in_block();
  } else {
    return array.local().data() + local;
  }
}

/// Calls `body` with an access that the compiler knows.
template <class Body>
void with_access(Access access, Body body) {
  switch (access) {
    case Access::for_all:
      return body(std::integral_constant<Access, Access::for_all>());
    case Access::pointer:
      return body(std::integral_constant<Access, Access::pointer>());
    case Access::block:
      return body(std::integral_constant<Access, Access::block>());
    case Access::cast:
      return body(std::integral_constant<Access, Access::cast>());
  }
}

/// How an array of a point is dealt to ranks. Throws InputError for no number of elements.
inline pgas::Layout layout_of(const Case& point, std::size_t elements, int ranks) {
  const auto all = static_cast<std::size_t>(ranks);
  if (point.axes.text("block", "even") == "even") return pgas::Layout::even(elements, all);
  return {elements, point.axes.number("block", std::size_t{1}), all};
}

/// Elements that a loop takes at once: a line of doubles.
inline constexpr std::size_t at_once = 8;

/// Elements of one block whose number the compiler knows, so that no loop is left. All are made
/// before one is stored: else the compiler would have to find out whether arrays overlap.
template <std::size_t length, class Make, class To, class... From>
void short_block(Make make, To to, From... from) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    const auto made_of = [&](auto at) { return make(from[at]...); };
    const std::array values{made_of(static_cast<std::ptrdiff_t>(i))...};
    ((to[static_cast<std::ptrdiff_t>(i)] = values[i]), ...);
  }(std::make_index_sequence<length>());
}

/// The loop of all ways but the first, for elements of one block.
template <class Make, class To, class... From>
void advance(std::size_t count, Make make, To to, From... from) {
  constexpr auto step = static_cast<std::ptrdiff_t>(at_once);
  for (; count >= at_once; count -= at_once, to += step, ((from += step), ...))
    short_block<at_once>(make, to, from...);
  for (; count > 0; --count, ++to, (++from, ...)) *to = make(*from...);
}

/// Passes all blocks of a rank, which has `count` elements: by shared pointers from block to block,
/// by whole rounds over all ranks, and in each by pointers that have no phase to compare.
template <class Make, class To, class... From>
void by_rounds(std::size_t block, std::size_t count, Make make, To to, From... from) {
  while (count > 0) {
    const auto length = std::min(block, count);
    advance(length, make, to.in_block(), from.in_block()...);
    count -= length;
    if (count == 0) return;
    to.to_next_round();
    (from.to_next_round(), ...);
  }
}

/// Passes blocks of a length that the compiler knows; the last may have fewer elements.
template <std::size_t block, class Make, class To, class... From>
void by_short_blocks(std::size_t count, Make make, To to, From... from) {
  for (; count >= block; count -= block) {
    short_block<block>(make, to.in_block(), from.in_block()...);
    to.to_next_round();
    (from.to_next_round(), ...);
  }
  advance(count, make, to.in_block(), from.in_block()...);
}

/// Passes all blocks; short ones unrolled, since a loop over them would take longer than they do.
template <class Make, class To, class... From>
void through_blocks(const pgas::Layout& layout, std::size_t count, Make make, To to, From... from) {
  switch (layout.block()) {
    case 1:
      return by_short_blocks<1>(count, make, to, from...);
    case 2:
      return by_short_blocks<2>(count, make, to, from...);
    case 4:
      return by_short_blocks<4>(count, make, to, from...);
    case 8:
      return by_short_blocks<8>(count, make, to, from...);
    case 16:
      return by_short_blocks<16>(count, make, to, from...);
    case 32:
      return by_short_blocks<32>(count, make, to, from...);
    default:
      return by_rounds(layout.block(), count, make, to, from...);
  }
}

/// Passes all blocks, each with a separate pointer.
template <class Make, class Target, class... Sources>
void block_by_block(Make make, Target& target, Sources&... sources) {
  const auto of_block = [&](std::size_t first, std::size_t, std::size_t count) {
    const auto run = [&](auto to, auto... from) { advance(count, make, to, from...); };
    run(target.at(first).in_block(), sources.at(first).in_block()...);
  };
  pgas::each_block(target.layout(), target.rank(), of_block);
}

/// Sets every element of `target` at this rank to `make` of those with its index in `sources`,
/// which lie like it; but for casts, which have loops of their own.
template <Access access, class Make, class Target, class... Sources>
void each_own(Make make, Target& target, Sources&... sources) {
  const auto& layout = target.layout();
  if constexpr (access == Access::for_all) {
    pgas::for_all(target, [&](std::size_t i) { target[i] = make(sources[i]...); });
  } else if constexpr (access == Access::pointer) {
    const auto first = target.rank() * layout.block();
    through_blocks(layout, layout.count(target.rank()), make, target.at(first),
                   sources.at(first)...);
  } else {
    static_assert(access == Access::block);
    block_by_block(make, target, sources...);
  }
}
}  // namespace nhalf
