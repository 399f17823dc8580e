// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Whether the bytes of a type are sent in the order in which they lie in memory. Size and extent do
// not tell: a transposed matrix has those of a matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "preloaded/mpi.hpp"

namespace nhalf::coll {

/// A type of MPI's own is in order; one that repeats another one is if that is.
struct Construction {
  bool is_named = false;
  /// Null unless the type repeats one other type without gaps.
  MPI_Datatype repeated = MPI_DATATYPE_NULL;
};

inline Construction construction_of(MPI_Datatype type) {
  Construction made;
  int integers = 0, addresses = 0, types = 0, combiner = MPI_UNDEFINED;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
    return made;
  made.is_named = combiner == MPI_COMBINER_NAMED;
  if (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) return made;
  // With a count of 64 bits it has none that fits here, and is tried like any other type.
  if (types != 1 || integers > 1 || addresses != 0) return made;
  int count = 0;
  if (PMPI_Type_get_contents(type, integers, addresses, types, &count, nullptr, &made.repeated) !=
      MPI_SUCCESS)
    made.repeated = MPI_DATATYPE_NULL;
  return made;
}

/// Types of up to so many bytes are tried, larger ones are taken to be in any order.
inline constexpr std::size_t tried_bytes_max = 1 << 16;

/// Packs numbered bytes: twice, for a byte holds half of its number.
inline bool packs_in_order(MPI_Datatype type, std::size_t size_bytes) {
  if (size_bytes > tried_bytes_max) return false;
  std::vector<unsigned char> data(size_bytes), packed(size_bytes);
  for (const unsigned shift : {0U, 8U}) {
    for (std::size_t i = 0; i < size_bytes; ++i) data[i] = static_cast<unsigned char>(i >> shift);
    int at = 0;
    const auto room_bytes = static_cast<int>(size_bytes);
    if (PMPI_Pack(data.data(), 1, type, packed.data(), room_bytes, &at, MPI_COMM_SELF) !=
            MPI_SUCCESS ||
        at != room_bytes || data != packed)
      return false;
  }
  return true;
}

/// From the address on, its bytes follow each other without gaps: the size is the extent.
inline bool has_no_gaps(MPI_Datatype type, std::size_t size_bytes) {
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
  return lower == 0 && true_lower == 0 && extent == true_extent &&
         std::cmp_equal(extent, size_bytes);
}

/// Elements follow each other from the address on, without gaps or overlaps, and in order.
inline bool is_in_order(MPI_Datatype type) {
  MPI_Count size = 0;
  if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return false;
  const auto size_bytes = static_cast<std::size_t>(size);
  if (!has_no_gaps(type, size_bytes)) return false;
  auto [is_named, repeated] = construction_of(type);
  if (is_named) return true;
  if (repeated == MPI_DATATYPE_NULL) return packs_in_order(type, size_bytes);
  const bool is_repeated_in_order = is_in_order(repeated);
  if (!construction_of(repeated).is_named) PMPI_Type_free(&repeated);
  return is_repeated_in_order;
}

}  // namespace nhalf::coll
