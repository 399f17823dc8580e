// SPDX-License-Identifier: Apache-2.0
// Collective operations whose blocks may differ from rank to rank.
#pragma once

#include <concepts>

#include "contract/collectives.hpp"

namespace nhalf {

/// The operations with a count, and an offset, per rank: in bytes, but for `reduce_scatterv`, whose
/// counts are in floats. `alltoallw` has a type per rank besides, all of them bytes here. What is
/// said of Collectives holds otherwise.
template <class T>
concept VaryingCollectives =
    Collectives<T> && requires(T& transport, int root, ConstBytes in, Bytes out, PerRank each) {
      transport.gatherv(root, in, out, each, each);
      transport.scatterv(root, in, each, each, out);
      transport.allgatherv(in, out, each, each);
      transport.alltoallw(in, each, each, out, each, each);
      transport.reduce_scatterv(in, out, each);
    };

/// The same, started with one call and finished with another.
template <class T>
concept NonBlockingVaryingCollectives =
    VaryingCollectives<T> && NonBlockingCollectives<T> &&
    requires(T& transport, int root, ConstBytes in, Bytes out, PerRank each) {
      {
        transport.igatherv(root, in, out, each, each)
      } -> std::same_as<typename T::CollectiveRequest>;
      {
        transport.iscatterv(root, in, each, each, out)
      } -> std::same_as<typename T::CollectiveRequest>;
      { transport.iallgatherv(in, out, each, each) } -> std::same_as<typename T::CollectiveRequest>;
      {
        transport.ialltoallw(in, each, each, out, each, each)
      } -> std::same_as<typename T::CollectiveRequest>;
      { transport.ireduce_scatterv(in, out, each) } -> std::same_as<typename T::CollectiveRequest>;
    };

}  // namespace nhalf
