// nhalf-needs: MPI
// The default decision table: shared memory where it was faster than the library's own algorithms,
// in benchmarks that repeat an operation and in benchmarks that synchronise in between, on 2 ranks
// with a core each and on 8 ranks that share 2 cores.
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
/// Rule of alltoall with oversubscription, where context switches dominate: in shared memory a rank
/// completes its part in one time slice, messages in rounds take several.
inline constexpr std::string_view alltoall_oversubscribed = "alltoall 2 8 1 512 shared-memory\n";

inline std::string default_table(bool is_oversubscribed) {
  std::string text(rules_of_all);
  if (!is_oversubscribed && preloaded::library_is("Intel(R) MPI")) return text += rules_of_intel;
  text += rules_of_others;
  return text += is_oversubscribed ? alltoall_oversubscribed : alltoall_of_others;
}

}  // namespace nhalf::coll
