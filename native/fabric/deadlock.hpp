// SPDX-License-Identifier: Apache-2.0
// Who waits for whom, in words, when no rank has anything to wait for.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "fabric/region.hpp"

namespace nhalf::fabric {

/// Whether only calls of MPI that start and end a program are waiting.
inline bool is_outside_program(const Region& region, int ranks) {
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    if (region.members[rank].presence != Presence::active) continue;
    const std::string_view call = region.slots[rank].doing.call.data();
    if (!call.starts_with("MPI_Init") && !call.empty()) return false;
  }
  return true;
}

/// Returns for how long no rank may have anything to do before they wait for ever.
inline std::uint64_t quiet_ns_max(const Region& region, int ranks) {
  // Libraries start and end by means that are not this network's.
  return is_outside_program(region, ranks) ? 30'000'000'000 : 2'000'000'000;
}

inline std::string number_or_any(int number, const char* kind) {
  return number == Doing::any ? std::string("any ") + kind
                              : std::string(kind) + " " + std::to_string(number);
}

inline std::string in_words(std::size_t rank, const Doing& doing) {
  std::string text = "rank " + std::to_string(rank) + " waits in " + doing.call.data();
  if (doing.peer == Doing::none) return text;
  text += " for " + number_or_any(doing.peer, "rank");
  if (doing.is_world == 0 && doing.peer != Doing::any) text += " of its communicator";
  if (doing.tag != Doing::none) text += ", " + number_or_any(doing.tag, "tag");
  return text;
}

/// Describes the first ranks that wait, and counts the rest.
inline std::string who_waits(const Region& region, int ranks) {
  static constexpr int described_max = 8;
  std::string text;
  int waiting = 0;
  int over = 0;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    if (region.members[rank].presence != Presence::active) {
      ++over;
      continue;
    }
    if (++waiting > described_max) continue;
    if (!text.empty()) text += "; ";
    text += in_words(rank, region.slots[rank].doing);
  }
  if (waiting > described_max) text += "; and " + std::to_string(waiting - described_max) + " more";
  if (over > 0) text += "; ended: " + std::to_string(over) + " of " + std::to_string(ranks);
  return text;
}

}  // namespace nhalf::fabric
