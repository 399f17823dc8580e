// The mailboxes in the memory of each rank, in which messages from other ranks arrive.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "transports/shmq/layout.hpp"

namespace nhalf::shmq {

/// The memory of one rank: first the boxes that it shares with ranks of higher numbers, then a lane
/// from each rank.
class Mailboxes {
 public:
  Mailboxes(const Settings& settings, int ranks)
      : settings_(settings),
        lane_bytes_(Layout(settings).size_bytes),
        ranks_(static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] std::size_t size_bytes() const { return lanes_at() + ranks_ * lane_bytes_; }

  /// Returns the direction from `from` to `to`; `memory` has the base address of each rank.
  [[nodiscard]] Lane lane(std::span<std::byte* const> memory, int from, int to) const {
    const auto lower = static_cast<std::size_t>(std::min(from, to));
    const auto higher = static_cast<std::size_t>(std::max(from, to));
    auto* turn = from == to ? nullptr : memory[lower] + higher * box_bytes;
    auto* lane = memory[static_cast<std::size_t>(to)] + lanes_at() +
                 static_cast<std::size_t>(from) * lane_bytes_;
    return {lane, settings_, reinterpret_cast<Postbox*>(turn), from > to};
  }

 private:
  /// Lines that processors fetch in pairs are kept apart.
  static constexpr std::size_t box_bytes = 256;

  [[nodiscard]] std::size_t lanes_at() const {
    return (ranks_ * box_bytes + page_bytes - 1) / page_bytes * page_bytes;
  }

  Settings settings_;
  std::size_t lane_bytes_, ranks_;
};

}  // namespace nhalf::shmq
