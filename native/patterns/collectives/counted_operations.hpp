// Operations with a count and an offset per rank.
#pragma once

#include <climits>

#include "patterns/collectives/block_operations.hpp"
#include "patterns/collectives/reduction_operations.hpp"

namespace nhalf {
inline constexpr auto counted_axes = joined(in_place_axes, shares_axis);

/// The operation Equal, with its buffers, blocks and checks, told the size of each rank's block:
/// the same for all, as in the suites, so that what naming them costs can be seen, or by shares.
template <Collectives T, class Equal>
class Counted : public Equal {
 public:
  Counted(T& transport, const Case& point) : Equal(transport, addressable(transport, point)) {
    for (int rank = 0; rank < transport.size(); ++rank) {
      counts_.push_back(static_cast<int>(this->block_bytes(rank)));
      offsets_.push_back(static_cast<int>(this->before(rank)));
    }
  }

 protected:
  [[nodiscard]] Operands operands() const {
    return {this->root_, this->in_, this->out_, counts_, offsets_};
  }

 private:
  /// A case whose offsets can be named, before there is memory for it.
  static const Case& addressable(const T& transport, const Case& point) {
    const auto longest = Shares(point, transport.size()).longest(point.size_bytes);
    if (longest > INT_MAX / static_cast<std::size_t>(transport.size()))
      throw InputError("offsets above 2147483647 bytes do not fit operations with counts");
    return point;
  }

  std::vector<int> counts_;
  std::vector<int> offsets_;
};

/// What is said of every one of these patterns.
constexpr PatternInfo counted_pattern(std::string_view name, std::string_view description,
                                      bool rooted = false,
                                      std::string_view needs = "varying-collectives") {
  return {.name = name,
          .what = description,
          .needs = needs,
          .timing = Timing::operation,
          .axes = counted_axes,
          .rooted = rooted};
}

inline constexpr auto gatherv_info = counted_pattern(
    "gatherv",
    "gather with counts and offsets, equal ones as in the suites; the size is that of a block",
    true);
template <VaryingCollectives T>
using Gatherv = Called<Counted<T, Gather<T>>, operations::gatherv>;
NHALF_FORMS(gatherv_info, Gatherv, gatherv);

inline constexpr auto scatterv_info = counted_pattern(
    "scatterv",
    "scatter with counts and offsets, equal ones as in the suites; the size is that of a block",
    true);
template <VaryingCollectives T>
using Scatterv = Called<Counted<T, Scatter<T>>, operations::scatterv>;
NHALF_FORMS(scatterv_info, Scatterv, scatterv);

inline constexpr auto allgatherv_info = counted_pattern(
    "allgatherv",
    "allgather with counts and offsets, equal ones as in the suites; the size is that of a block");
template <VaryingCollectives T>
using Allgatherv = Called<Counted<T, Allgather<T>>, operations::allgatherv>;
NHALF_FORMS(allgatherv_info, Allgatherv, allgatherv);

inline constexpr auto alltoallv_info = counted_pattern(
    "alltoallv",
    "alltoall with counts and offsets, equal ones as in IMB; the size is that of a block", false,
    "collectives");
template <Collectives T>
using Alltoallv = Called<Counted<T, Alltoall<T>>, operations::alltoallv>;
NHALF_FORMS(alltoallv_info, Alltoallv, alltoallv);

inline constexpr auto alltoallw_info = counted_pattern(
    "alltoallw",
    "alltoallv with a type per rank besides, all of them bytes; the size is that of a block");
template <VaryingCollectives T>
using Alltoallw = Called<Counted<T, Alltoall<T>>, operations::alltoallw>;
NHALF_FORMS(alltoallw_info, Alltoallw, alltoallw);

inline constexpr auto counted_reduction_axes = joined(counted_axes, reduction_axes);

inline constexpr PatternInfo reduce_scatterv_info{
    .name = "reduce-scatterv",
    .what =
        "reduce-scatter with counts (MPI_Reduce_scatter), equal ones as in the suites; the size is "
        "that of a vector, rounded up to one element per rank",
    .needs = "varying-collectives",
    .timing = Timing::operation,
    .axes = counted_reduction_axes,
    .size_multiple = 4};

/// reduce-scatter, told how many elements each rank gets.
template <VaryingCollectives T>
class CountedReduceScatter : public ReduceScatter<T> {
 public:
  CountedReduceScatter(T& transport, const Case& point) : ReduceScatter<T>(transport, point) {
    for (int rank = 0; rank < transport.size(); ++rank)
      counts_.push_back(static_cast<int>(this->elements(transport, point, rank)));
  }

 protected:
  [[nodiscard]] Operands operands() const {
    return {.root = 0, .in = this->in_, .out = this->out_, .counts = counts_, .offsets = {}};
  }

 private:
  std::vector<int> counts_;
};

template <VaryingCollectives T>
using ReduceScatterv = Called<CountedReduceScatter<T>, operations::reduce_scatterv>;
NHALF_FORMS(reduce_scatterv_info, ReduceScatterv, reduce_scatterv);
}  // namespace nhalf
