// The life of memory that one rank exposes and another one uses, step by step.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>

#include "contract/transport.hpp"

namespace nhalf {

/// What is done in the life of exposed memory, in this order; a transport has some of these steps.
/// The first five set it up, the last three tear it down.
enum class Step : unsigned char {
  create,
  enlist,
  publish,
  connect,
  map,
  put,
  get,
  fence,
  signal,
  disconnect,
  unmap,
  destroy
};

inline constexpr std::array<std::string_view, 12> step_names{
    "create", "register", "publish", "connect",    "map",   "put",
    "get",    "fence",    "signal",  "disconnect", "unmap", "destroy"};

/// All of them, as the values of an axis.
inline constexpr std::string_view all_steps =
    "create,register,publish,connect,map,put,get,fence,signal,disconnect,unmap,destroy";

/// Goes once through the life of a new segment of rank 0, as large as what is put and got, in which
/// rank 1 puts `out` and from which it gets `in`. All ranks call it. `timed(step, call)` is given
/// what this rank does of each step, and calls it; what ranks wait for each other is left out.
/// `steps` are those that there are, as the values of an axis.
template <class T>
concept SegmentLife = Transport<T> && requires(T& transport, ConstBytes out, Bytes in) {
  { T::steps } -> std::convertible_to<std::string_view>;
  transport.segment_life(out, in, [](Step, auto call) { call(); });
};

}  // namespace nhalf
