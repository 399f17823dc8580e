// SPDX-License-Identifier: Apache-2.0
// How many messages and bytes of an operation of several ranks follow each other, by which its end
// is delayed: as src/nhalf/decide/program/operation_paths.py has them (Thakur et al., 2005).
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "trace/kinds.hpp"
#include "trace/names.hpp"

namespace nhalf::trace {

struct OperationPath {
  double messages = 0.0;
  double bytes = 0.0;
};

/// Returns the path of a blocking operation for a rank that waits in it; nothing for others.
inline OperationPath path_of(const Subject& subject, int members, int rank) {
  const std::string_view name = call_names[subject.call];
  const auto is = [&](std::string_view one) { return name == one; };
  if (members < 2 || name.starts_with("MPI_I") || name.find("eighbor") != name.npos) return {};
  const double rounds = std::bit_width(static_cast<unsigned>(members - 1));
  const double partners = members - 1;
  const auto input_bytes = static_cast<double>(subject.size_bytes);
  const bool is_root = subject.partner == rank;
  if (is("MPI_Barrier") || is("MPI_Scan") || is("MPI_Exscan"))
    return {rounds, rounds * input_bytes};
  if (is("MPI_Bcast")) {
    if (is_root) return {};
    if (subject.size_bytes >= 12 << 10 && members >= 8)
      return {2 * rounds, 2 * partners / members * input_bytes};
    return {rounds, rounds * input_bytes};
  }
  if (is("MPI_Reduce") || is("MPI_Allreduce")) {
    if (is("MPI_Reduce") && !is_root) return {};
    if (subject.size_bytes > 2 << 10) return {2 * rounds, 2 * partners / members * input_bytes};
    return {rounds, rounds * input_bytes};
  }
  if (is("MPI_Gather"))
    return is_root ? OperationPath{rounds, partners * input_bytes} : OperationPath{};
  if (is("MPI_Gatherv"))
    return is_root ? OperationPath{1, partners * input_bytes} : OperationPath{};
  if (is("MPI_Scatter"))
    return is_root ? OperationPath{} : OperationPath{rounds, partners * input_bytes};
  if (is("MPI_Scatterv"))
    return is_root ? OperationPath{} : OperationPath{1, partners * input_bytes};
  if (is("MPI_Allgather") || is("MPI_Allgatherv"))
    return {members * input_bytes >= 512 << 10 ? partners : rounds, partners * input_bytes};
  if (is("MPI_Alltoall") || is("MPI_Alltoallv") || is("MPI_Alltoallw")) {
    const double block_bytes = input_bytes / members;
    if (block_bytes <= 256) return {rounds, rounds * members / 2 * block_bytes};
    return {block_bytes < 32 << 10 ? 1.0 : partners, partners * block_bytes};
  }
  if (name.starts_with("MPI_Reduce_scatter"))
    return {input_bytes >= 512 << 10 ? partners : rounds, partners / members * input_bytes};
  return {rounds, 0.0};
}

/// Whether all messages of a call are those of an operation that ends with it.
inline bool is_operation(std::uint16_t call) {
  const std::string_view name = call_names[call];
  const auto begins = [&](std::string_view text) { return name.starts_with(text); };
  return begins("MPI_Barrier") || begins("MPI_Bcast") || begins("MPI_Reduce") ||
         begins("MPI_Allreduce") || begins("MPI_Gather") || begins("MPI_Scatter") ||
         begins("MPI_Allgather") || begins("MPI_Alltoall") || begins("MPI_Scan") ||
         begins("MPI_Exscan") || begins("MPI_Comm_");
}

}  // namespace nhalf::trace
