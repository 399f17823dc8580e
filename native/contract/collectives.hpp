// Collective operations as a transport may have them, and those that go on while the rank works.
#pragma once

#include <concepts>
#include <span>

#include "contract/transport.hpp"

namespace nhalf {

/// Byte counts or offsets, one per rank.
using PerRank = std::span<const int>;

/// Operations of all ranks, which every rank calls in the same order.
///
/// Blocks are of one size for all ranks and lie in the order of ranks. Where a rank gives one block
/// per rank, or gets one, its buffer holds size() of them: `in` of scatter, alltoall and
/// reduce_scatter, `out` of gather, allgather and alltoall. Ranks that are not the root need no
/// `in` in scatter and no `out` in gather and reduce. In place means that `in` lies where its
/// result, or its own block of the result, is going to be in `out`; the first block of `in` is
/// `out` for reduce_scatter in place. Otherwise `in` and `out` do not overlap.
///
/// reduce, allreduce, reduce_scatter and scan add floats. `alltoallv` takes counts and offsets in
/// bytes; an empty block sends nothing where the transport has the choice. `synchronise` is the
/// barrier under test, whereas `barrier` serves control.
template <class T>
concept Collectives = Transport<T> && requires(T& transport, int root, ConstBytes in, Bytes out,
                                               PerRank counts, PerRank offsets) {
#define NHALF_EQUAL(operation, ...) transport.operation(__VA_ARGS__);
#include "contract/operations.inc"
};

/// Collective operations started with one call and finished with another; the buffers, counts and
/// offsets stay as they are until then. `test` gives the operation a chance to go on and says
/// whether it is done; `wait` ends it.
template <class T>
concept NonBlockingCollectives =
    Collectives<T> && requires(T& transport, int root, ConstBytes in, Bytes out, PerRank counts,
                               PerRank offsets, typename T::CollectiveRequest& request) {
#define NHALF_EQUAL(operation, ...)                                    \
  requires std::same_as<decltype(transport.i##operation(__VA_ARGS__)), \
                        typename T::CollectiveRequest>;
#include "contract/operations.inc"
      { transport.test(request) } -> std::same_as<bool>;
      transport.wait(request);
    };

}  // namespace nhalf
