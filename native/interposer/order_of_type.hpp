// nhalf-needs: MPI
// Determines whether the bytes of a type are sent in memory order, which size and extent do not
// tell: a transposed matrix has the same ones as the matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "preloaded/mpi.hpp"

namespace nhalf::coll {

/// The construction of a type: a named type is in order, a repetition if the repeated type is.
struct Construction {
  bool is_named = false;
  /// Null unless the type repeats one other type without gaps.
  MPI_Datatype repeated = MPI_DATATYPE_NULL;
};

inline Construction construction_of(MPI_Datatype type) {
  Construction construction;
  int integers = 0, addresses = 0, types = 0, combiner = MPI_UNDEFINED;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
    return construction;
  construction.is_named = combiner == MPI_COMBINER_NAMED;
  if (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) return construction;
  // A type with a count of 64 bits does not fit here, and is tried like any other type.
  if (types != 1 || integers > 1 || addresses != 0) return construction;
  int count = 0;
  if (PMPI_Type_get_contents(type, integers, addresses, types, &count, nullptr,
                             &construction.repeated) != MPI_SUCCESS)
    construction.repeated = MPI_DATATYPE_NULL;
  return construction;
}

/// Largest type that is tried; larger ones count as out of order.
inline constexpr std::size_t tried_bytes_max = 1 << 16;

/// Tests the order by packing numbered bytes, twice, since a byte holds half of a number.
inline bool packs_in_order(MPI_Datatype type, std::size_t size_bytes) {
  if (size_bytes > tried_bytes_max) return false;
  std::vector<unsigned char> data(size_bytes), packed(size_bytes);
  for (const unsigned shift : {0U, 8U}) {
    for (std::size_t i = 0; i < size_bytes; ++i) data[i] = static_cast<unsigned char>(i >> shift);
    int at = 0;
    const auto packed_bytes = static_cast<int>(size_bytes);
    if (PMPI_Pack(data.data(), 1, type, packed.data(), packed_bytes, &at, MPI_COMM_SELF) !=
            MPI_SUCCESS ||
        at != packed_bytes || data != packed)
      return false;
  }
  return true;
}

/// Whether the bytes of a type follow each other from the address on without gaps.
inline bool has_no_gaps(MPI_Datatype type, std::size_t size_bytes) {
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
  return lower == 0 && true_lower == 0 && extent == true_extent &&
         std::cmp_equal(extent, size_bytes);
}

/// Whether elements follow each other from the address on, without gaps or overlaps, and in order.
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
