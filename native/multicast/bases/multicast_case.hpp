// Which multicast a point asks for, simulated or measured.
#pragma once

#include "algorithms/bases/parts.hpp"
#include "contract/pattern.hpp"
#include "contract/permutation.hpp"
#include "multicast/bases/multicast.hpp"

namespace nhalf {
inline constexpr AxisInfo multicast_group_axis{"group", "1:ranks-1:x2,ranks-1", "", "destinations"};
inline constexpr AxisInfo multicast_piece_axis{
    "piece", "0", "0", "bytes of the pieces into which the message is cut; 0: none is"};
inline constexpr AxisInfo multicast_draw_axis{
    "draw", "1", "1", "which random destinations; a larger group has those of a smaller"};

/// Rank 0 and destinations drawn from the other ranks. Throws InputError for groups that cannot be.
inline Multicast drawn_multicast(const Topology& topology, int ranks, const Case& point) {
  Multicast multicast{.topology = topology, .source = 0, .destinations = {}, .parts = 1};
  const int group = point.axis("group", 1, ranks - 1);
  const auto draw = point.axes.number("draw", std::uint64_t{1});
  for (const int place : permutation(ranks - 1, draw, 0))
    if (static_cast<int>(multicast.destinations.size()) < group)
      multicast.destinations.push_back(place + 1);
  return multicast;
}

/// The sizes of the pieces in which a message travels, as the axis `piece` says.
inline std::vector<std::size_t> pieces_of(const Case& point) {
  constexpr std::int64_t pieces_max = 100000;
  const auto piece_bytes = point.axes.number("piece", std::size_t{0});
  if (piece_bytes == 0) return {point.size_bytes};
  const auto whole = parts_of(point.size_bytes, piece_bytes);
  if (whole > pieces_max)
    throw InputError("axis piece cuts the message into more than " + std::to_string(pieces_max) +
                     " pieces");
  std::vector<std::size_t> sizes(static_cast<std::size_t>(whole), piece_bytes);
  sizes.back() = point.size_bytes - (sizes.size() - 1) * piece_bytes;
  return sizes;
}
}  // namespace nhalf
