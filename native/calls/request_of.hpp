// nhalf-needs: MPI
// The request that a call makes, found by the types of its arguments.
#pragma once

#include <tuple>
#include <type_traits>

#include "preloaded/mpi.hpp"

namespace nhalf::calls {

/// Returns where a call puts the request that it makes, if that is its last argument.
template <class Arguments>
const MPI_Request* request_of(const Arguments& arguments) {
  constexpr auto number = std::tuple_size_v<Arguments>;
  if constexpr (number > 0) {
    using Last = std::remove_cvref_t<std::tuple_element_t<number - 1, Arguments>>;
    if constexpr (std::is_same_v<Last, MPI_Request*>) return std::get<number - 1>(arguments);
  }
  return nullptr;
}

}  // namespace nhalf::calls
