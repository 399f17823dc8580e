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
    Collectives<T> &&
    requires(T& transport, int root, ConstBytes in, Bytes out, PerRank counts, PerRank offsets) {
#define NHALF_VARYING(operation, ...) transport.operation(__VA_ARGS__);
#include "contract/operations.inc"
    };

/// Operations with varying counts, started with one call and finished with another.
template <class T>
concept NonBlockingVaryingCollectives =
    VaryingCollectives<T> && NonBlockingCollectives<T> &&
    requires(T& transport, int root, ConstBytes in, Bytes out, PerRank counts, PerRank offsets) {
#define NHALF_VARYING(operation, ...)                                  \
  requires std::same_as<decltype(transport.i##operation(__VA_ARGS__)), \
                        typename T::CollectiveRequest>;
#include "contract/operations.inc"
    };

}  // namespace nhalf
