// Collective operations in which every rank talks to its neighbours only.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "contract/collectives.hpp"

namespace nhalf {

/// Who is whose neighbour: on a grid that is closed in all directions, of this many dimensions, or
/// by a list, those up to this far away on either side.
enum class NeighbourTopology { cartesian, graph };

/// Offsets of alltoallw among neighbours, in bytes.
using WideOffsets = std::span<const std::ptrdiff_t>;

/// `neighbourhood` and `leave` are called by all ranks. Blocks lie in the order of `destinations()`
/// in what is given and of `sources()` in what is got; a rank may be there more than once, and be
/// its own neighbour. Counts and offsets are in bytes.
template <class T>
concept Neighbourhoods =
    NonBlockingCollectives<T> &&
    requires(T& transport, typename T::Neighbourhood& among, ConstBytes in, Bytes out,
             PerRank counts, PerRank offsets, WideOffsets wide_offsets) {
      {
        transport.neighbourhood(NeighbourTopology{}, int{})
      } -> std::same_as<typename T::Neighbourhood>;
      { among.sources() } -> std::same_as<std::span<const int>>;
      { among.destinations() } -> std::same_as<std::span<const int>>;
#define NHALF_NEIGHBOUR(operation, ...)                                \
  transport.operation(__VA_ARGS__);                                    \
  requires std::same_as<decltype(transport.i##operation(__VA_ARGS__)), \
                        typename T::CollectiveRequest>;
#include "contract/operations.inc"
      transport.leave(among);
    };

}  // namespace nhalf
