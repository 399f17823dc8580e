// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// All calls of the table by number and by name. Calls with large counts share the name of the
// plain call.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace nhalf::trace {

#define NHALF_CALL(name, lower, parameters, arguments, ...) name,
#define NHALF_COUNT int
#define NHALF_PLACE int
enum class Call : std::uint16_t {
#include "trace/calls/all.inc"
  number_of_calls
};
#undef NHALF_CALL

#define NHALF_CALL(name, lower, parameters, arguments, ...) "MPI_" #name,
inline constexpr std::array<const char*, static_cast<std::size_t>(Call::number_of_calls)>
    call_names{
#include "preloaded/mpi.hpp"
#include "trace/calls/all.inc"
};
#undef NHALF_CALL
#undef NHALF_COUNT
#undef NHALF_PLACE

/// Whether a call may have to wait for another rank.
constexpr bool can_wait(Call call) {
  const auto name = std::string_view(call_names[static_cast<std::size_t>(call)]).substr(4);
  const bool is_begun = name[0] == 'I' && name[1] >= 'a' && name[1] <= 'z';
  if (is_begun) return false;
  for (const std::string_view prefix :
       {"Test", "Win_test", "Request_get_status", "Parrived", "Start", "Put", "Get", "Accumulate",
        "Rput", "Rget", "Raccumulate", "Fetch_and_op", "Compare_and_swap", "Bsend", "Rsend"})
    if (name.starts_with(prefix)) return false;
  return !name.ends_with("_init");
}

}  // namespace nhalf::trace
