// Operations among neighbours: allgather and alltoall, with counts, with types.
#pragma once

#include "patterns/bases/collectives/forms.hpp"
#include "patterns/bases/collectives/neighbour_operation.hpp"

namespace nhalf {

/// What is said of every one of these patterns.
constexpr PatternInfo neighbor_pattern(std::string_view name, std::string_view description) {
  return {.name = name,
          .what = description,
          .needs = "neighbourhoods",
          .timing = Timing::operation,
          .axes = neighbour_axes};
}

inline constexpr auto neighbor_allgather_info = neighbor_pattern(
    "neighbor-allgather",
    "every rank gives its neighbours a block, the same to all; the size is that of a block");
template <Neighbourhoods T>
using NeighborAllgather = Called<NeighbourAllgather<T>, operations::neighbor_allgather>;
NHALF_PATTERN(neighbor_allgather_info, NeighborAllgather);
NHALF_BEGUN_FORM(neighbor_allgather_info, NeighborAllgather, neighbor_allgather);

inline constexpr auto neighbor_allgatherv_info = neighbor_pattern(
    "neighbor-allgatherv",
    "neighbor-allgather with counts and offsets, equal ones; the size is that of a block");
template <Neighbourhoods T>
using NeighborAllgatherv = Called<NeighbourAllgather<T>, operations::neighbor_allgatherv>;
NHALF_PATTERN(neighbor_allgatherv_info, NeighborAllgatherv);
NHALF_BEGUN_FORM(neighbor_allgatherv_info, NeighborAllgatherv, neighbor_allgatherv);

inline constexpr auto neighbor_alltoall_info = neighbor_pattern(
    "neighbor-alltoall",
    "every rank gives each neighbour a block of its own; the size is that of a block");
template <Neighbourhoods T>
using NeighborAlltoall = Called<NeighbourAlltoall<T>, operations::neighbor_alltoall>;
NHALF_PATTERN(neighbor_alltoall_info, NeighborAlltoall);
NHALF_BEGUN_FORM(neighbor_alltoall_info, NeighborAlltoall, neighbor_alltoall);

inline constexpr auto neighbor_alltoallv_info = neighbor_pattern(
    "neighbor-alltoallv",
    "neighbor-alltoall with counts and offsets, equal ones; the size is that of a block");
template <Neighbourhoods T>
using NeighborAlltoallv = Called<NeighbourAlltoall<T>, operations::neighbor_alltoallv>;
NHALF_PATTERN(neighbor_alltoallv_info, NeighborAlltoallv);
NHALF_BEGUN_FORM(neighbor_alltoallv_info, NeighborAlltoallv, neighbor_alltoallv);

inline constexpr auto neighbor_alltoallw_info = neighbor_pattern(
    "neighbor-alltoallw",
    "neighbor-alltoallv with a type per neighbour besides, all of them bytes; the size is "
    "that of a block");
template <Neighbourhoods T>
using NeighborAlltoallw = Called<NeighbourAlltoall<T>, operations::neighbor_alltoallw>;
NHALF_PATTERN(neighbor_alltoallw_info, NeighborAlltoallw);
NHALF_BEGUN_FORM(neighbor_alltoallw_info, NeighborAlltoallw, neighbor_alltoallw);

}  // namespace nhalf
