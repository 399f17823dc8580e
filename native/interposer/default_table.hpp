// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// What is done where no table says otherwise: shared memory where it was shown to be ahead of the
// library's own, by benchmarks that call an operation again and again as well as by those that
// synchronise in between; on 2 ranks with a core each, and on 8 that share 2 cores.
#pragma once

#include <string>
#include <string_view>

#include "preloaded/library.hpp"

namespace nhalf::coll {

inline constexpr std::string_view rules_of_all =
    "# nhalf decision table 1\n"
    "barrier 2 inf 0 0 shared-memory\n";
inline constexpr std::string_view rules_of_intel =
    "bcast 2 64 1 4096 shared-memory\n"
    "allreduce 2 16 1 2048 shared-memory\n"
    "allgather 2 8 1 2048 shared-memory\n"
    "alltoall 2 8 1 2048 shared-memory\n"
    "gather 2 4 1 8192 shared-memory\n"
    "reduce 2 16 1 4096 shared-memory\n"
    "scatter 2 4 1 1024 shared-memory\n";
inline constexpr std::string_view rules_of_others =
    "bcast 2 16 1 8192 shared-memory\n"
    "bcast 17 64 1 4096 shared-memory\n"
    "allreduce 2 16 1 8192 shared-memory\n"
    "allgather 2 8 1 4096 shared-memory\n"
    "gather 2 4 512 8192 shared-memory\n"
    "reduce 2 16 1 8192 shared-memory\n"
    "scatter 2 4 512 2048 shared-memory\n";
inline constexpr std::string_view alltoall_of_others =
    "alltoall 2 2 1 2048 shared-memory\n"
    "alltoall 3 8 1 256 shared-memory\n";
/// Where ranks outnumber cores time goes into changing from rank to rank. In shared memory a rank
/// is done with its part of an operation in one turn; messages in rounds take several.
inline constexpr std::string_view alltoall_of_crowds = "alltoall 2 8 1 512 shared-memory\n";

inline std::string default_table(bool is_crowded) {
  std::string text(rules_of_all);
  if (!is_crowded && preloaded::library_is("Intel(R) MPI")) return text += rules_of_intel;
  text += rules_of_others;
  return text += is_crowded ? alltoall_of_crowds : alltoall_of_others;
}

}  // namespace nhalf::coll
