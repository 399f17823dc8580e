// SPDX-License-Identifier: Apache-2.0
// What calls are about, in the order that the reader of traces has them in, too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nhalf::trace {

enum class Kind : std::uint8_t { sent, received, one_sided, collective, waiting };
inline constexpr std::size_t kinds = 5;

/// Partners that are no rank.
inline constexpr std::int32_t no_process = -1;
inline constexpr std::int32_t no_partner = -2;
inline constexpr std::int32_t elsewhere = -3;

/// A communicator that no longer had a number.
inline constexpr std::uint32_t communicators_max = 0xffff;

/// What is counted under one number.
struct Subject {
  std::uint16_t call = 0;
  Kind kind = Kind::waiting;
  std::uint32_t communicator = 0;
  std::int32_t partner = no_partner;
  std::uint64_t size_bytes = 0;
};

}  // namespace nhalf::trace
