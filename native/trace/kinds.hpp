// Kinds of calls, in the same order as the reader of traces has them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nhalf::trace {

/// Kinds of calls; then the calls of a site together, and time that a thread was off its processor.
enum class Kind : std::uint8_t {
  sent,
  received,
  one_sided,
  collective,
  waiting,
  at_site,
  off_processor
};
inline constexpr std::size_t kinds = 5;

/// Partners that are not ranks.
inline constexpr std::int32_t no_process = -1;
inline constexpr std::int32_t no_partner = -2;
inline constexpr std::int32_t elsewhere = -3;

/// Number of all communicators beyond the limit.
inline constexpr std::uint32_t communicators_max = 0xffff;

/// The key by which calls are counted, and the number of the call site, which is counted apart.
struct Subject {
  std::uint16_t call = 0;
  Kind kind = Kind::waiting;
  std::uint32_t communicator = 0;
  std::int32_t partner = no_partner;
  std::uint64_t size_bytes = 0;
  std::uint16_t site = 0;
};

}  // namespace nhalf::trace
