// Operations among neighbours: allgather and alltoall, with counts, with types.
#pragma once

#include <climits>

#include "patterns/bases/collectives/forms.hpp"

namespace nhalf {
inline constexpr std::array topology_axes{
    AxisInfo{"topology", "cartesian", "cartesian",
             "cartesian: neighbours on a closed grid; graph: by a list, those on either side"},
    AxisInfo{"extent", "2", "2", "dimensions of the grid, or how far neighbours are away"}};
inline constexpr auto neighbour_axes = joined(lasting_axes, topology_axes);

/// Blocks that every rank gives to each of its neighbours and gets from them.
template <Neighbourhoods T>
class NeighbourOperation : public Pattern {
 public:
  ~NeighbourOperation() override { transport_.leave(among_); }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override {
    return among_.sources().size() * size_bytes_;
  }

  bool verify() override {
    for (std::size_t i = 0; i < in_.size() && size_bytes_ > 0; i += size_bytes_)
      fill(in_.subspan(i, size_bytes_), given_seed(i / size_bytes_));
    fill(out_, 1);
    this->run(1);
    const auto sources = among_.sources();
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (!holds(out_.subspan(i * size_bytes_, size_bytes_), got_seed(sources[i]))) return false;
    return true;
  }

 protected:
  /// `personal`: a block for each neighbour instead of one for all.
  NeighbourOperation(T& transport, const Case& point, bool personal)
      : transport_(transport),
        size_bytes_(checked(point)),
        among_(transport.neighbourhood(topology_of(point), point.axes.number("extent", 2))),
        in_buffer_(size_bytes_ * (personal ? among_.destinations().size() : 1)),
        out_buffer_(size_bytes_ * among_.sources().size()),
        in_(in_buffer_.bytes()),
        out_(out_buffer_.bytes()) {
    for (std::size_t i = 0; i < among_.sources().size(); ++i) {
      counts_.push_back(static_cast<int>(size_bytes_));
      wide_offsets_.push_back(static_cast<std::ptrdiff_t>(i * size_bytes_));
      offsets_.push_back(static_cast<int>(wide_offsets_.back()));
    }
  }

  /// What the block of this number in what is given, and that from this rank, is filled with.
  [[nodiscard]] virtual std::uint32_t given_seed(std::size_t block) const = 0;
  [[nodiscard]] virtual std::uint32_t got_seed(int from) const = 0;
  [[nodiscard]] std::uint32_t seed(int from, int to) const {
    return static_cast<std::uint32_t>(from * transport_.size() + to + 2);
  }

  [[nodiscard]] NeighbourOperands<typename T::Neighbourhood> operands() const {
    return {among_, in_, out_, counts_, offsets_, wide_offsets_};
  }

  using Pattern::run;
  T& transport_;
  std::size_t size_bytes_;
  typename T::Neighbourhood among_;

 private:
  static NeighbourTopology topology_of(const Case& point) {
    constexpr std::string_view words[] = {"cartesian", "graph"};
    return static_cast<NeighbourTopology>(point.choice("topology", words));
  }
  /// A size whose offsets can be named, and an extent that can be.
  static std::size_t checked(const Case& point) {
    constexpr int extent_max = 8;
    const int extent = point.axes.number("extent", 2);
    if (extent < 1 || extent > extent_max) throw InputError("axis extent is from 1 to 8 here");
    if (point.size_bytes > INT_MAX / (2 * static_cast<std::size_t>(extent)))
      throw InputError("offsets above 2147483647 bytes do not fit operations with counts");
    return point.size_bytes;
  }

  Buffer in_buffer_;
  Buffer out_buffer_;
  Bytes in_;
  Bytes out_;
  std::vector<int> counts_;
  std::vector<int> offsets_;
  std::vector<std::ptrdiff_t> wide_offsets_;
};

/// Gives all neighbours one block.
template <Neighbourhoods T>
class NeighbourAllgather : public NeighbourOperation<T> {
 public:
  NeighbourAllgather(T& transport, const Case& point)
      : NeighbourOperation<T>(transport, point, false) {}

 protected:
  [[nodiscard]] std::uint32_t given_seed(std::size_t) const override {
    return this->seed(this->transport_.rank(), 0);
  }
  [[nodiscard]] std::uint32_t got_seed(int from) const override { return this->seed(from, 0); }
};

/// A block for each neighbour. Blocks for the same rank are alike: which of them is which on a grid
/// of two ranks a side, libraries see differently.
template <Neighbourhoods T>
class NeighbourAlltoall : public NeighbourOperation<T> {
 public:
  NeighbourAlltoall(T& transport, const Case& point)
      : NeighbourOperation<T>(transport, point, true) {}

 protected:
  [[nodiscard]] std::uint32_t given_seed(std::size_t block) const override {
    return this->seed(this->transport_.rank(), this->among_.destinations()[block]);
  }
  [[nodiscard]] std::uint32_t got_seed(int from) const override {
    return this->seed(from, this->transport_.rank());
  }
};

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
