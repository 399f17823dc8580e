// Layout of the two segments of a rank.
#pragma once

#include <cstddef>

#include "transports/am/line.hpp"

namespace nhalf::am {

/// The command segment begins with the control region: the flag that something came, and for every
/// source a count of messages that were taken. Then, for every source, its slots, each a line with
/// room for the payload of a request behind it; then room for the payloads of replies. The payload
/// segment is the region for long messages, behind the buffers through which the long ones of
/// `send` pass.
struct Layout {
  std::size_t ranks = 2;
  std::size_t slots = 16;
  std::size_t medium_bytes = 4096;
  std::size_t chunks = 4;
  std::size_t chunk_bytes = 32768;
  std::size_t region_bytes = std::size_t{64} << 20;

  static constexpr std::size_t line_bytes = sizeof(Line);
  static constexpr std::size_t came_at = 0;

  [[nodiscard]] std::size_t slot_bytes() const { return line_bytes + medium_bytes; }
  [[nodiscard]] std::size_t taken_at(std::size_t source) const { return (1 + source) * line_bytes; }
  [[nodiscard]] std::size_t slots_at(std::size_t source) const {
    return (1 + ranks) * line_bytes + source * slots * slot_bytes();
  }
  [[nodiscard]] std::size_t replies_at(std::size_t source) const {
    return slots_at(ranks) + source * slots * medium_bytes;
  }
  [[nodiscard]] std::size_t command_bytes() const { return replies_at(ranks); }

  [[nodiscard]] std::size_t chunks_at(std::size_t source) const {
    return source * chunks * chunk_bytes;
  }
  [[nodiscard]] std::size_t region_at() const { return chunks_at(ranks); }
  [[nodiscard]] std::size_t payload_bytes() const { return region_at() + region_bytes; }
};

}  // namespace nhalf::am
