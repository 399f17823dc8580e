// SPDX-License-Identifier: Apache-2.0
// A message on its way, in the region that all ranks share.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "fabric/picoseconds.hpp"
#include "fabric/region.hpp"

namespace nhalf::fabric {

/// A rank's endpoint: what libraries exchange as their addresses.
struct Address {
  std::uint32_t rank = 0;
  std::uint32_t endpoint = 0;

  bool operator==(const Address&) const = default;
};

/// What a message says beside its bytes.
struct Envelope {
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  bool is_tagged = false;
  bool has_data = false;
};

/// When a message has left a rank that waits for it.
struct Departure {
  Picoseconds at;
};

/// Sums of shares of picoseconds.
using Work = unsigned __int128;

/// A message between two ranks on its way (fabric/flows.hpp).
struct Flow {
  /// When it may begin, and when it did.
  Picoseconds ready = 0;
  Picoseconds began = 0;
  /// What its bytes take alone, and what it takes besides.
  Picoseconds work = 0;
  Picoseconds latency = 0;
  /// Bytes per second that it moves alone where it shares something, its share of them since when,
  /// and what was left of its work then: both in parts of 2^-32.
  std::uint64_t demand_Bps = 0;
  std::uint64_t share = 0;
  Picoseconds updated = 0;
  Work work_left = 0;
  /// A departure that its sender waits for; 0 if none.
  Offset departure = 0;
  bool has_begun = false;
};

struct Message {
  Offset following = 0;
  /// When it would be there if nothing else came in.
  Picoseconds arrival = 0;
  /// How long it keeps the ways out and in alone, and what taking it costs its receiver.
  Picoseconds busy = 0;
  Picoseconds cost = 0;
  std::uint64_t size_bytes = 0;
  Envelope envelope;
  Address source;
  std::uint32_t target = 0;
  std::uint32_t endpoint = 0;
  bool is_claimed = false;
  /// Whether it reaches into memory: it is not received.
  bool is_access = false;
  /// Bytes before its own ones that are no part of what wires carry.
  std::uint32_t head_bytes = 0;
  Flow flow;

  [[nodiscard]] std::byte* body() { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] std::size_t room() const { return sizeof(Message) + head_bytes + size_bytes; }
};

inline std::size_t bytes_in(std::span<const iovec> parts) {
  std::size_t bytes = 0;
  for (const auto& part : parts) bytes += part.iov_len;
  return bytes;
}

inline void gather(std::span<const iovec> parts, std::byte* to) {
  for (const auto& part : parts) {
    if (part.iov_len > 0) std::memcpy(to, part.iov_base, part.iov_len);
    to += part.iov_len;
  }
}

/// Writes bytes into parts, beginning `skipped` bytes after their start.
inline void scatter(std::span<const iovec> parts, std::size_t skipped, const std::byte* from,
                    std::size_t bytes) {
  for (const auto& part : parts) {
    const auto jumped = std::min(skipped, part.iov_len);
    skipped -= jumped;
    const auto copied = std::min(bytes, part.iov_len - jumped);
    if (copied > 0) std::memcpy(static_cast<std::byte*>(part.iov_base) + jumped, from, copied);
    from += copied;
    bytes -= copied;
  }
}

}  // namespace nhalf::fabric
